"""From values to places on a drawing, linear or logarithmic, and the round values to label."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LOG_FROM = 8.0
_MARGIN = 0.04
_SAME = 1e-9


@dataclass(frozen=True)
class Axis:
    """The values between ``low`` and ``high``, spread over 0 … 1."""

    low: float
    high: float
    log: bool = False

    def at(self, values: ArrayLike) -> NDArray[np.float64]:
        """Where values lie, as shares of the length; what lies outside is drawn at the edge."""
        low, high, inner = (_logarithm(v) if self.log else np.asarray(v, float) for v in (self.low, self.high, values))
        placed: NDArray[np.float64] = np.clip((inner - low) / (high - low), 0, 1)
        return placed

    def place(self, value: float) -> float:
        """Where one value lies."""
        low, high, inner = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return min(1.0, max(0.0, (inner - low) / (high - low)))

    def values(self, places: ArrayLike) -> NDArray[np.float64]:
        """Which values lie at shares of the length."""
        shares = np.asarray(places, np.float64)
        low, high = np.float64(self.low), np.float64(self.high)
        found: NDArray[np.float64] = low * (high / low) ** shares if self.log else low + (high - low) * shares
        return found

    def ticks(self, most: int = 5) -> list[float]:
        """At most ``most`` round values within the axis."""
        found = _decades(self.low, self.high, most) if self.log else []
        return found if len(found) > 2 else _even(self.low, self.high, most)


def spanning(*series: ArrayLike) -> Axis:
    """An axis over all values (one at least), logarithmic where the largest is eight times the smallest or more."""
    flat = np.concatenate([np.ravel(np.asarray(values, float)) for values in series])
    exact = between(float(flat.min()), float(flat.max()))
    low, high = exact.values([-_MARGIN, 1 + _MARGIN]).tolist()
    return Axis(low, high, exact.log)


def between(low: float, high: float) -> Axis:
    """An axis from one value to another, or around them where they are (all but) the same."""
    if high - low <= _SAME * abs(high):
        room = 0.02 * abs(low) or 1.0
        return Axis(low - room, high + room)
    return Axis(low, high, log=low > 0 and high >= _LOG_FROM * low)


def from_zero(*values: float) -> Axis:
    """A linear axis from zero to a little beyond the largest value."""
    return Axis(0.0, max([*values, 1e-12]) * 1.04)


def around_one(*ratios: float) -> Axis:
    """A logarithmic axis with 1 in its middle that holds all (positive) ratios."""
    reach = max([1.1, *(max(ratio, 1 / ratio) for ratio in ratios)]) * 1.06
    return Axis(1 / reach, reach, log=True)


def _logarithm(values: ArrayLike) -> NDArray[np.float64]:
    logarithms: NDArray[np.float64] = np.log(np.maximum(np.asarray(values, np.float64), 1e-300))
    return logarithms


def _even(low: float, high: float, most: int) -> list[float]:
    raw = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = 2 - math.floor(math.log10(step))
    return [round(number * step, digits) for number in range(first, last + 1)]


def _decades(low: float, high: float, most: int) -> list[float]:
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [factor * power for power in powers for factor in factors if low <= factor * power <= high]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]
