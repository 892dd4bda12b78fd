"""Samples made ready for drawing: fewer points, never fewer extremes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval.reporting.page.axes import Axis
from npueval.runs.cases import Case

Floats = NDArray[np.float64]
_FENCE = 6.0
_FEWEST_BINS, _MOST_BINS = 8, 32


@dataclass(frozen=True)
class Strokes:
    """A series in at most so many strokes: stroke i spans the samples from ``at[i]`` on, from ``low`` to ``high``."""

    at: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Histogram:
    """Counts between ``edges``; ``beyond`` samples lie above the last edge, the farthest at ``farthest``."""

    edges: Floats
    counts: NDArray[np.int64]
    beyond: int
    farthest: float


def strokes(series: Floats, most: int) -> Strokes:
    """One stroke a sample; for a longer series that of several neighbours, from their smallest to their largest."""
    starts = np.unique(np.linspace(0, series.size, min(most, series.size), endpoint=False).astype(np.int64))
    return Strokes(starts.astype(np.float64), np.minimum.reduceat(series, starts), np.maximum.reduceat(series, starts))


def steps(series: Floats, most: int) -> tuple[Floats, Floats]:
    """The cumulative distribution at no more than ``most`` order statistics: values, and the share at or below them."""
    ordered = np.sort(series)
    ranks = np.unique(np.linspace(0, ordered.size - 1, min(most, ordered.size)).round().astype(np.int64))
    return ordered[ranks], (ranks + 1) / ordered.size


def core(series: Floats) -> tuple[float, float]:
    """Smallest value, and the largest that is not far out: within six times the quartiles' distance above the third."""
    first, third = np.quantile(series, (0.25, 0.75))
    inside = series[series <= third + _FENCE * max(third - first, 1e-3 * third)]
    return float(series.min()), float(inside.max())


def histogram(series: Floats, axis: Axis) -> Histogram:
    """Bins that look equally wide on ``axis``, as wide as Freedman and Diaconis advise."""
    inside = axis.at(series[series <= axis.high])
    first, third = np.quantile(inside, (0.25, 0.75))
    width = 2 * (third - first) / inside.size ** (1 / 3)
    bins = int(min(_MOST_BINS, max(_FEWEST_BINS, np.ceil(1 / width if width > 0 else 0))))
    counts, places = np.histogram(inside, bins, (0, 1))
    return Histogram(axis.values(places), counts, int(series.size - inside.size), float(series.max()))


def warm_up(case: Case) -> Floats:
    """Durations of the warm-up iterations in ms, the measured segments summed."""
    series: list[NDArray[Any]] = list(case.warmup.values())
    return np.sum(series, axis=0) / 1e6 if series else np.empty(0)
