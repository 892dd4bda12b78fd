"""One series over another, with what chance alone could have done to it: a bootstrap of both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npueval.statistics.autocorrelation import autocorrelation_time
from npueval.statistics.percentiles import CONFIDENCE, PERCENTILES, least_samples, percentile, rank

RESAMPLES = 10_000
Statistic = Literal["p50", "p95", "p99", "mean", "throughput"]
Verdict = Literal["better", "worse", "same", "undecided"]

_SEED = 20_240_601
_MOST_BLOCKS = 100

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ratio:
    """``statistic`` of one series over that of another, with the bootstrap's 95 % interval.

    ``low == high`` where every resample gave the same: samples without spread, of which no interval can speak.
    """

    value: float
    low: float
    high: float
    statistic: str

    def inverse(self) -> Ratio:
        """The same comparison read the other way round."""
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low, self.statistic)

    def scaled(self, factor: float) -> Ratio:
        """The ratio after one side's unit was changed by ``factor`` (> 0), as for samples of unequal batches."""
        return Ratio(self.value * factor, self.low * factor, self.high * factor, self.statistic)


def ratio(a: ArrayLike, b: ArrayLike, statistic: Statistic = "p50", *, resamples: int = RESAMPLES) -> Ratio | None:
    """``statistic`` of ``a`` over that of ``b``, both series of positive durations, with a 95 % bootstrap interval.

    ``throughput`` is the rate at which the durations finish: the mean of ``b`` over that of ``a``. The same input gives
    the same interval (fixed seed). ``None`` where one side has too few samples for the statistic.
    """
    sides = np.asarray(a), np.asarray(b)
    if min(side.size for side in sides) < least_samples(PERCENTILES.get(statistic, 0.5)):
        return None
    above, below = (_bootstrap(side, statistic, resamples, number) for number, side in enumerate(sides))
    draws = np.log(above / below)
    value = _of(sides[0], statistic) / _of(sides[1], statistic)
    low, high = (float(bound) for bound in np.exp(np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])))
    found = Ratio(value, low, high, statistic)
    return found.inverse() if statistic == "throughput" else found


def verdict(found: Ratio, direction: Literal["lower", "higher"], margin: float = 0.02) -> Verdict:
    """What a ratio says of its numerator: the whole interval must lie beyond the margin, or within it."""
    good = found if direction == "higher" else found.inverse()
    if good.low > 1 + margin:
        return "better"
    if good.high < 1 / (1 + margin):
        return "worse"
    return "same" if good.low >= 1 / (1 + margin) and good.high <= 1 + margin else "undecided"


def _of(values: NDArray[Any], statistic: Statistic) -> float:
    p = PERCENTILES.get(statistic)
    return float(values.mean()) if p is None else percentile(values, p)


def _bootstrap(values: NDArray[Any], statistic: Statistic, resamples: int, side: int) -> Floats:
    """The statistic (the mean, for a throughput) of ``resamples`` resampled series."""
    p = PERCENTILES.get(statistic)
    if p is None:
        blocks = _block_means(values)
        means: Floats = blocks[_drawn_blocks(blocks.size, resamples, side)].mean(axis=1)
        return means
    ordered = np.sort(values)
    # Autocorrelated samples draw in blocks, of which there are m < n.
    m = max(2, math.floor(values.size / autocorrelation_time(values <= ordered[rank(values.size, p) - 1])))
    places = np.ceil(_drawn_places(rank(m, p), m, resamples, side) * values.size).astype(np.int64)
    drawn: Floats = ordered[np.maximum(places, 1) - 1].astype(np.float64)
    return drawn


def _block_means(values: NDArray[Any]) -> Floats:
    """The series in blocks longer than its memory, at most a hundred; single samples when it has none."""
    tau = autocorrelation_time(values)
    length = max(1 if tau == 1 else math.ceil(2 * tau), math.ceil(values.size / _MOST_BLOCKS))
    length = min(length, max(1, values.size // 5))
    whole = values.size // length * length
    means: Floats = values[:whole].astype(np.float64).reshape(-1, length).mean(axis=1)
    return means


# What is drawn depends on the counts alone, never on the samples: series of one length share it, and a report of many
# cases draws once. The two sides draw apart, else what chance does to one it would do to the other.


@lru_cache(maxsize=8)
def _drawn_blocks(blocks: int, resamples: int, side: int) -> NDArray[np.int64]:
    return np.random.default_rng((_SEED, side)).integers(0, blocks, (resamples, blocks))


@lru_cache(maxsize=256)
def _drawn_places(place: int, n: int, resamples: int, side: int) -> Floats:
    """Where the ``place``-th smallest of ``n`` draws with replacement stands among the samples, as a share of them.

    That is a Beta(place, n - place + 1) variable: the bootstrap of an order statistic without drawing the resamples.
    """
    return np.random.default_rng((_SEED, side)).beta(place, n - place + 1, resamples)
