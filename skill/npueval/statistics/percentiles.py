"""Percentiles that were measured, and where the true ones lie: order statistics, which assume no distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npueval.statistics.autocorrelation import autocorrelation_time, stretches

METHOD = "nearest-rank"
CONFIDENCE = 0.95
PERCENTILES: Mapping[str, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Interval:
    """A two-sided 95 % confidence interval, in the unit of the samples."""

    low: float
    high: float


def apart(low: float, high: float, form: str = "g", digits: int = 3) -> tuple[str, str]:
    """Both ends of an interval with ``digits`` digits of a format (``g``, ``%``), more where they would look alike."""
    for more in range(digits, digits + 9):
        ends = f"{low:.{more}{form}}", f"{high:.{more}{form}}"
        if ends[0] != ends[1]:
            break
    return ends


def least_samples(p: float, confidence: float = CONFIDENCE) -> int:
    """The smallest n from which the interval of percentile ``p`` (0 < p < 1) exists: 6, 72, 368 for p50, p95, p99."""
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(max(p, 1 - p)))


def rank(n: int, p: float) -> int:
    """⌈p·n⌉: which of n sorted samples is percentile ``p`` (from 1); ``ValueError`` for none."""
    if n == 0:
        raise ValueError("no samples to take a percentile of")
    # Rounding first: 0.95 * 100 is 95.0, but 0.07 * 100 is 7.000000000000001, whose ceiling would be 8.
    return max(1, math.ceil(round(p * n, 9)))


def percentile(samples: ArrayLike, p: float) -> float:
    """The ⌈p·n⌉-th smallest of ``samples`` (0 < p ≤ 1); an empty series is a ``ValueError``."""
    values: NDArray[Any] = np.asarray(samples)
    place = rank(values.size, p)
    return float(np.partition(values, place - 1)[place - 1])


def interval(samples: ArrayLike, p: float) -> Interval | None:
    """Where the true percentile ``p`` lies with 95 % confidence; ``None`` where the samples are too few to say."""
    values = np.asarray(samples)
    return interval_of_sorted(values, np.sort(values), p)[0]


def interval_of_sorted(values: NDArray[Any], ordered: NDArray[Any], p: float) -> tuple[Interval | None, float]:
    """The interval of percentile ``p``, and of how many independent samples; ``ordered`` are the ``values``, sorted."""
    n = values.size
    pieces_below = stretches(values) <= ordered[rank(n, p) - 1]
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
