"""Mean and variance of a stream of numbers, whatever its length and its offset from zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One array alone: mean and (population) variance over its finite elements, ``None`` where it has none."""

    nan: int
    inf: int
    mean: float | None
    variance: float | None


class Moments:
    """Merged block by block around each block's own mean, so that a large mean costs no digits."""

    def __init__(self) -> None:
        self.n, self.mean, self.squares, self.nan, self.inf = 0, 0.0, 0.0, 0, 0

    def add(self, values: Floats, scratch: Floats) -> None:
        """Take in finite values; ``scratch`` is at least as long and is overwritten."""
        if values.size == 0:
            return
        mean = float(values.mean())
        centred = np.subtract(values, mean, out=scratch[: values.size])
        step, n = mean - self.mean, self.n + values.size
        # Not centred @ centred: BLAS would wake threads for every block, which wait for each other on a busy machine.
        np.multiply(centred, centred, out=centred)
        self.squares += float(centred.sum()) + step * step * self.n * values.size / n
        self.mean += step * values.size / n
        self.n = n

    def add_mixed(self, values: Floats, scratch: Floats) -> None:
        """Take in values of which some may not be finite: those are counted."""
        self.nan += int(np.count_nonzero(np.isnan(values)))
        self.inf += int(np.count_nonzero(np.isinf(values)))
        self.add(values[np.isfinite(values)], scratch)

    @property
    def energy(self) -> float:
        """The sum of the squares."""
        return self.squares + self.n * self.mean * self.mean

    def side(self) -> Side:
        """What has been seen so far."""
        variance = self.squares / self.n if self.n else None
        # Numbers beyond 1e154 have squares that float64 cannot hold.
        if variance is not None and not math.isfinite(variance):
            variance = None
        return Side(self.nan, self.inf, self.mean if self.n else None, variance)
