"""Everything of a plan that bears on the figures, frozen: what travels in the kit and is measured on another host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from npueval.plaindata import from_plain, to_plain

if TYPE_CHECKING:
    from npueval.plan import Plan


@dataclass(frozen=True)
class FrozenPlan:
    """What a measurement reads of a :class:`~npueval.plan.Plan` of one precision, under the same names."""

    sha256: str
    workload: str
    device: str
    precision: str
    precision_mode: str
    batches: tuple[int, ...]
    target_batch: int
    concurrency: tuple[int, ...]
    arrival_rates: tuple[float, ...]
    warmup: int
    iterations: int
    case_timeout_s: float
    seed: int
    unit: str
    segments: tuple[str, ...]
    rtol: float | None
    atol: float | None

    @classmethod
    def of(cls, plan: Plan) -> FrozenPlan:
        """What a plan says."""
        told = {"rtol": plan.tolerances.rtol, "atol": plan.tolerances.atol}
        named = (field.name for field in fields(cls) if field.name not in told)
        return cls(**{**told, **{name: getattr(plan, name) for name in named}})

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> FrozenPlan:
        """The frozen plan of its JSON form; :class:`~npueval.errors.FormatError` where it is none."""
        return from_plain(cls, data)

    def to_data(self) -> dict[str, Any]:
        """The JSON form."""
        return cast("dict[str, Any]", to_plain(self))

    def at(self, root: Path) -> Plan:
        """The plan as measuring takes it, its paths below ``root``."""
        rooted = _Rooted(**{field.name: getattr(self, field.name) for field in fields(self)}, root=root)
        return cast("Plan", rooted)


@dataclass(frozen=True)
class _Rooted(FrozenPlan):
    root: Path

    @property
    def runs(self) -> Path:
        return self.root / "runs"
