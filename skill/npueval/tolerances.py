"""How far an output may lie from its reference, by precision: the one place where these numbers stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from npueval.errors import NpuevalError


class ToleranceError(NpuevalError):
    """Tolerances that the precision cannot meet, or that nobody has set."""

    code = "TOLERANCE_INVALID"


@dataclass(frozen=True)
class Tolerance:
    """An element is within when ``|hyp - ref| <= atol + rtol * |ref|``."""

    rtol: float
    atol: float
    precision: str

    def for_integers(self) -> Tolerance:
        """Class indices and counts are equal or wrong; only quantised values may be a step apart."""
        return self if self.precision == "int8" else Tolerance(0.0, 0.0, self.precision)

    def __str__(self) -> str:
        return f"rtol {self.rtol:g}, atol {self.atol:g} ({self.precision.upper()})"


DEFAULTS: Mapping[str, Tolerance] = {
    "fp16": Tolerance(1e-2, 1e-3, "fp16"),
    "bf16": Tolerance(1e-2, 1e-2, "bf16"),
    "fp32": Tolerance(1e-4, 1e-5, "fp32"),
}
HALF_PRECISIONS = ("fp16", "bf16")
_DIGITS = {"fp16": "3", "bf16": "2"}


def tolerance(precision: str, rtol: float | None = None, atol: float | None = None) -> Tolerance:
    """The tolerance of a precision (``fp32``, ``fp16``, ``bf16``, ``int8``), each part overridable.

    Raises :class:`ToleranceError` for INT8 without both parts, for negative or infinite ones, and for FP32-grade
    tolerances on a half-precision run.
    """
    default = DEFAULTS.get(precision)
    rtol = default.rtol if rtol is None and default else rtol
    atol = default.atol if atol is None and default else atol
    if rtol is None or atol is None:
        raise ToleranceError(
            f"{precision} has no default tolerance: it depends on the quantisation",
            hint="set tolerances.rtol and tolerances.atol in the plan, or pass --rtol and --atol",
        )
    chosen = Tolerance(rtol, atol, precision)
    if not (0 <= chosen.rtol < float("inf") and 0 <= chosen.atol < float("inf")):
        raise ToleranceError(f"rtol {chosen.rtol:g} and atol {chosen.atol:g} must be finite and not negative")
    reason = too_strict(chosen)
    if reason:
        half = DEFAULTS[precision]
        raise ToleranceError(reason, hint=f"{precision.upper()} is held to rtol {half.rtol:g}, atol {half.atol:g}")
    return chosen


def too_strict(chosen: Tolerance) -> str | None:
    """Why a half-precision run cannot be held to these tolerances; ``None`` where it can."""
    if chosen.precision not in HALF_PRECISIONS:
        return None
    single = DEFAULTS["fp32"]
    pairs = (("rtol", chosen.rtol, single.rtol), ("atol", chosen.atol, single.atol))
    parts = [f"{name} {value:g}" for name, value, limit in pairs if value <= limit]
    if not parts:
        return None
    name = chosen.precision.upper()
    return f"{' and '.join(parts)} is FP32-grade: {name} carries about {_DIGITS[chosen.precision]} decimal digits"
