"""Percentiles that were measured, intervals that cover, ratios with their uncertainty.

A percentile is the nearest rank (the ⌈p·n⌉-th smallest sample), so it is a value that occurred. Its interval comes from
order statistics and assumes nothing about the distribution. Neighbouring samples that resemble each other count as
fewer: every interval uses the effective number of samples. Units are those of the samples that come in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npueval.statistics.autocorrelation import autocorrelation_time, effective_samples, stretches

METHOD = "nearest-rank"
CONFIDENCE = 0.95
PERCENTILES: Mapping[str, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
RESAMPLES = 10_000
OUTLIER_Z = 10.0
Statistic = Literal["p50", "p95", "p99", "mean", "throughput"]
Verdict = Literal["better", "worse", "same", "undecided"]

_SEED = 20_240_601
_MOST_BLOCKS = 200


@dataclass(frozen=True)
class Interval:
    """A two-sided 95 % confidence interval, in the unit of the samples."""

    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """What the samples of one segment say.

    A percentile is ``None`` below the number of samples from which its interval can exist (see :func:`least_samples`).
    ``intervals`` holds those of ``p50``, ``p95``, ``p99`` and ``mean`` that exist; ``effective`` how many independent
    samples each of them is worth. ``outliers`` counts samples whose modified z-score exceeds 10: none is removed.
    """

    n: int
    mean: float
    std: float
    min: float
    max: float
    p50: float | None
    p95: float | None
    p99: float | None
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    effective: Mapping[str, float] = field(default_factory=dict)
    outliers: int = 0


@dataclass(frozen=True)
class Ratio:
    """``statistic`` of one series over that of another, with the bootstrap's 95 % interval."""

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


def least_samples(p: float, confidence: float = CONFIDENCE) -> int:
    """The smallest n from which the interval of percentile ``p`` (0 < p < 1) exists: 6, 72, 368 for p50, p95, p99."""
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(max(p, 1 - p)))


def percentile(samples: ArrayLike, p: float) -> float:
    """The ⌈p·n⌉-th smallest of ``samples`` (0 < p ≤ 1); an empty series is a ``ValueError``."""
    values: NDArray[Any] = np.asarray(samples)
    rank = _rank(values.size, p)
    return float(np.partition(values, rank - 1)[rank - 1])


def interval(samples: ArrayLike, p: float) -> Interval | None:
    """Where the true percentile ``p`` lies with 95 % confidence; ``None`` where the samples are too few to say."""
    values = np.asarray(samples)
    return _interval(values, np.sort(values), p)[0]


def mean_interval(samples: ArrayLike) -> Interval | None:
    """Where the true mean lies with 95 % confidence (from n = 6)."""
    values = np.asarray(samples, dtype=np.float64)
    return _mean_interval(values, float(values.mean()), float(values.std(ddof=1))) if values.size > 1 else None


def summarise(samples: ArrayLike) -> Summary:
    """Every statistic of a series that its length permits; an empty series is a ``ValueError``."""
    values = np.asarray(samples)
    if values.size == 0:
        raise ValueError("no samples to summarise")
    ordered = np.sort(values)
    intervals: dict[str, Interval] = {}
    effective: dict[str, float] = {}
    found: dict[str, float | None] = {}
    for name, p in PERCENTILES.items():
        known = values.size >= least_samples(p)
        found[name] = float(ordered[_rank(values.size, p) - 1]) if known else None
        if known:
            bounds, effective[name] = _interval(values, ordered, p)
            intervals.update({name: bounds} if bounds else {})
    mean, std = float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else 0.0
    of_mean = _mean_interval(values, mean, std)
    intervals.update({"mean": of_mean} if of_mean else {})
    return Summary(
        n=values.size,
        mean=mean,
        std=std,
        min=float(ordered[0]),
        max=float(ordered[-1]),
        **found,
        intervals=intervals,
        effective=effective,
        outliers=_outliers_beyond(ordered),
    )


def drift(samples: ArrayLike) -> float:
    """Median of the last third over the median of the first third (1.0: steady; needs 3 samples)."""
    values = np.asarray(samples)
    third = values.size // 3
    return percentile(values[-third:], 0.5) / percentile(values[:third], 0.5)


def ratio(a: ArrayLike, b: ArrayLike, statistic: Statistic = "p50", *, resamples: int = RESAMPLES) -> Ratio | None:
    """``statistic`` of ``a`` over that of ``b``, both series of positive durations, with a 95 % bootstrap interval.

    ``throughput`` is the rate at which the durations finish: the mean of ``b`` over that of ``a``. The same input gives
    the same interval (fixed seed). ``None`` where one side has too few samples for the statistic.
    """
    left, right = np.asarray(a), np.asarray(b)
    if min(left.size, right.size) < least_samples(PERCENTILES.get(statistic, 0.5)):
        return None
    generator = np.random.default_rng(_SEED)
    above, below = (_bootstrap(side, statistic, generator, resamples) for side in (left, right))
    draws = np.log(above / below)
    value = _of(left, statistic) / _of(right, statistic)
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


def _bootstrap(
    values: NDArray[Any], statistic: Statistic, generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """The statistic (the mean, for a throughput) of ``resamples`` resampled series."""
    p = PERCENTILES.get(statistic)
    if p is None:
        blocks = _block_means(values)
        means: NDArray[np.float64] = blocks[generator.integers(0, blocks.size, (resamples, blocks.size))].mean(axis=1)
        return means
    # The r-th smallest of m draws with replacement stands where a Beta(r, m - r + 1) variable says: the bootstrap of an
    # order statistic without drawing the resamples. Autocorrelated samples draw in blocks, of which there are m < n.
    ordered = np.sort(values)
    m = max(2, math.floor(values.size / autocorrelation_time(values <= ordered[_rank(values.size, p) - 1])))
    rank = _rank(m, p)
    places = np.ceil(generator.beta(rank, m - rank + 1, resamples) * values.size).astype(np.int64)
    drawn: NDArray[np.float64] = ordered[np.maximum(places, 1) - 1].astype(np.float64)
    return drawn


def _block_means(values: NDArray[Any]) -> NDArray[np.float64]:
    """The series in blocks longer than its memory, at most two hundred; single samples when it has none."""
    tau = autocorrelation_time(values)
    length = max(1 if tau == 1 else math.ceil(2 * tau), math.ceil(values.size / _MOST_BLOCKS))
    length = min(length, max(1, values.size // 5))
    whole = values.size // length * length
    means: NDArray[np.float64] = values[:whole].astype(np.float64).reshape(-1, length).mean(axis=1)
    return means


def _rank(n: int, p: float) -> int:
    if n == 0:
        raise ValueError("no samples to take a percentile of")
    # Rounding first: 0.95 * 100 is 95.0, but 0.07 * 100 is 7.000000000000001, whose ceiling would be 8.
    return max(1, math.ceil(round(p * n, 9)))


def _mean_interval(values: NDArray[Any], mean: float, std: float) -> Interval | None:
    if values.size < least_samples(0.5):
        return None
    half = 1.96 * std / math.sqrt(effective_samples(values))
    return Interval(mean - half, mean + half)


def _interval(values: NDArray[Any], ordered: NDArray[Any], p: float) -> tuple[Interval | None, float]:
    """The interval of percentile ``p``, and how many independent samples it rests on."""
    n = values.size
    pieces_below = stretches(values) <= ordered[_rank(n, p) - 1]
    effective = n / autocorrelation_time(pieces_below) if n >= least_samples(p) else float(n)
    m = math.floor(effective)
    ranks = _interval_ranks(m, p)
    if ranks is None:
        return None, effective
    low = max(1, math.floor(ranks[0] * (n + 1) / (m + 1)))
    high = min(n, math.ceil(ranks[1] * (n + 1) / (m + 1)))
    return Interval(float(ordered[low - 1]), float(ordered[high - 1])), effective


def _interval_ranks(n: int, p: float) -> tuple[int, int] | None:
    """1-based ranks of the order statistics that enclose percentile ``p`` with at most 2.5 % outside on either side."""
    if n < least_samples(p):
        return None
    tail = (1 - CONFIDENCE) / 2
    reach = 10 * math.sqrt(n * p * (1 - p)) + 10
    first, last = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    # Binomial weights relative to the first, by the ratio of neighbours: what lies further out weighs nothing.
    k = np.arange(first, last)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k) / (k + 1) * (p / (1 - p))))])
    weights = np.exp(logs - logs.max())
    cumulative = np.cumsum(weights / weights.sum())
    low = first + int(np.searchsorted(cumulative, tail, side="right"))
    high = first + int(np.searchsorted(cumulative, 1 - tail, side="left")) + 1
    return (low, high) if low >= 1 and high <= n else None


def _outliers_beyond(ordered: NDArray[Any]) -> int:
    """How many of the sorted samples have a modified z-score beyond 10."""
    distance = np.abs(ordered - float(ordered[(ordered.size - 1) // 2]))
    middle = distance.size // 2
    spread = float(np.partition(distance, middle)[middle])
    return 0 if spread == 0 else int(np.count_nonzero(0.6745 * distance > OUTLIER_Z * spread))
