"""Percentiles that were measured, intervals that cover, ratios with their uncertainty.

A percentile is the nearest rank (the ⌈p·n⌉-th smallest sample), so it is a value that occurred. Its interval comes from
order statistics and assumes nothing about the distribution. Neighbouring samples that resemble each other count as
fewer: every interval uses the effective number of samples. Units are those of the samples that come in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npueval.statistics.autocorrelation import effective_samples
from npueval.statistics.percentiles import (
    CONFIDENCE,
    METHOD,
    PERCENTILES,
    Interval,
    apart,
    interval,
    interval_of_sorted,
    least_samples,
    percentile,
    rank,
)
from npueval.statistics.ratios import RESAMPLES, Ratio, Statistic, Verdict, ratio, verdict

__all__ = [
    "CONFIDENCE",
    "METHOD",
    "PERCENTILES",
    "RESAMPLES",
    "Interval",
    "Ratio",
    "Statistic",
    "Summary",
    "Verdict",
    "apart",
    "drift",
    "interval",
    "least_samples",
    "percentile",
    "ratio",
    "summarise",
    "verdict",
]

OUTLIER_Z = 10.0


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
        found[name] = float(ordered[rank(values.size, p) - 1]) if known else None
        if known:
            bounds, effective[name] = interval_of_sorted(values, ordered, p)
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


def _mean_interval(values: NDArray[Any], mean: float, std: float) -> Interval | None:
    if values.size < least_samples(0.5):
        return None
    half = 1.96 * std / math.sqrt(effective_samples(values))
    return Interval(mean - half, mean + half)


def _outliers_beyond(ordered: NDArray[Any]) -> int:
    """How many of the sorted samples have a modified z-score beyond 10."""
    distance = np.abs(ordered - float(ordered[(ordered.size - 1) // 2]))
    middle = distance.size // 2
    spread = float(np.partition(distance, middle)[middle])
    return 0 if spread == 0 else int(np.count_nonzero(0.6745 * distance > OUTLIER_Z * spread))
