"""Does a noisy series move, how far, how sure is that: medians of windows, slopes between pairs; no outlier is felt.

Values are finite and in order; units are theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npueval.statistics import Interval
from npueval.statistics.autocorrelation import autocorrelation_time

LEAST_POINTS = 20
"""Below this many points nothing is said of a series."""

_LEAST_WINDOW, _MOST_WINDOW = 3, 50
_BLOCKS = 10
_MOST_SLOPE_POINTS = 200
_Z = 1.96
# The median of n normal values is this much less certain than their mean.
_MEDIAN_ERROR = 1.2533
_LEAST_TEETH = 3
_SMALL_ERROR, _MOVED = 0.03, 2.5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """From the median of the first window to that of the last one; ``relative`` is (end - start) / |start|
    (over |end| where it starts at zero).

    ``interval`` is where the true relative change lies with 95 % confidence; ``window`` counts the points of the longer
    window.
    """

    start: float
    end: float
    window: int
    relative: float
    interval: Interval


@dataclass(frozen=True)
class Steadiness:
    """Whether a series moves one way. ``tau`` (-1 falls all the way … 1 rises all the way) is Kendall's, over blocks.

    ``rebound`` is how much of the way down to its lowest block the series has gone up again at its end, beyond what the
    noise alone would show: 0 … 1 and more.
    """

    tau: float
    rebound: float


def change(values: ArrayLike, period: int | None = None, *, exact: bool = True) -> Change:
    """How far a series of at least :data:`LEAST_POINTS` moved.

    A window is a tenth of the series; an ``exact`` one ends sooner where the series visibly moves within it, since what
    is taken in of the way makes it look shorter. A series that does not move is better judged by long windows.

    A series with a ``period`` (see :func:`teeth`) is judged by its first and its last whole period.
    """
    series = np.asarray(values, dtype=np.float64)
    whole = series[: series.size // period * period] if period else series
    start, end = _level(series, period, exact=exact), _level(whole[::-1], period, exact=exact)
    scale = abs(start.value) or abs(end.value) or 1.0
    relative = (end.value - start.value) / scale
    half = _Z * math.hypot(end.error / scale, start.error * end.value / scale**2)
    return Change(
        start.value, end.value, max(start.window, end.window), relative, Interval(relative - half, relative + half)
    )


@dataclass(frozen=True)
class _Level:
    value: float
    error: float
    window: int


def _level(series: Floats, period: int | None, *, exact: bool) -> _Level:
    """Where a series begins, by the median of its first window, and the standard error of that."""
    noise = _noise(series[: series.size // 3]) * _MEDIAN_ERROR
    most = period or min(max(series.size // 10, _LEAST_WINDOW), _MOST_WINDOW)
    window = _still(series, noise, most) if exact and not period else most
    return _Level(float(np.median(series[:window])), noise / math.sqrt(window), window)


def _still(series: Floats, noise: float, most: int) -> int:
    """The longest window, at most ``most``, beyond which the series has not yet moved further than its noise."""
    window = _LEAST_WINDOW
    while window < most:
        value, next_value = (float(np.median(part)) for part in (series[:window], series[window : 2 * window]))
        doubt = noise / math.sqrt(window)
        if doubt <= _SMALL_ERROR * abs(value) or abs(next_value - value) > _MOVED * math.sqrt(2) * doubt:
            break
        window = min(2 * window, most)
    return window


def _noise(series: Floats) -> float:
    """The standard deviation around the curve, from the steps between neighbours, which the curve hardly moves."""
    steps = np.diff(series)
    return float(np.median(np.abs(steps - np.median(steps)))) * 1.4826 / math.sqrt(2)


def steadiness(values: ArrayLike, period: int | None = None) -> Steadiness:
    """Whether a series of at least :data:`LEAST_POINTS` falls (or rises) all along."""
    series = np.asarray(values, dtype=np.float64)
    whole = series[: series.size // period * period] if period else series
    blocks = np.array_split(whole, whole.size // period if period else _BLOCKS)
    levels = np.array([np.median(block) for block in blocks])
    rows, columns = np.triu_indices(levels.size, 1)
    tau = float(np.sign(levels[columns] - levels[rows]).mean()) if rows.size else 0.0
    way, back = levels[0] - levels.min(), levels[-1] - levels.min()
    noise = _Z * math.sqrt(2) * _MEDIAN_ERROR * _noise(series) / math.sqrt(min(block.size for block in blocks))
    return Steadiness(tau, max(0.0, float(back - noise)) / float(way) if way > 0 else 0.0)


def slope(values: ArrayLike) -> tuple[float, Interval]:
    """The median of the slopes between all pairs (Theil and Sen), a point, with its distribution-free 95 % interval."""
    series = np.asarray(values, dtype=np.float64)
    places = np.arange(series.size, dtype=np.float64)
    if series.size > _MOST_SLOPE_POINTS:
        cuts = np.array_split(np.arange(series.size), _MOST_SLOPE_POINTS)
        series, places = (np.array([np.median(side[cut]) for cut in cuts]) for side in (series, places))
    n = series.size
    rows, columns = np.triu_indices(n, 1)
    slopes = np.sort((series[columns] - series[rows]) / (places[columns] - places[rows]))
    found = float(np.median(slopes))
    # Kendall's variance of the number of rising pairs, enlarged where the points beside the line remember each other.
    memory = autocorrelation_time(series - found * places)
    spread = _Z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18 * memory)
    low = max(0, math.floor((slopes.size - spread) / 2))
    high = min(slopes.size - 1, math.ceil((slopes.size + spread) / 2))
    return found, Interval(float(slopes[low]), float(slopes[high]))


def teeth(values: ArrayLike) -> tuple[int, int] | None:
    """Where the first whole tooth of a sawtooth begins, and its period; ``None`` where the series is none.

    A sawtooth jumps up at least three times, at equal distances, each time far beyond the noise.
    """
    series = np.asarray(values, dtype=np.float64)
    if series.size < LEAST_POINTS:
        return None
    threshold = max(6 * _noise(series), 0.2 * float(np.ptp(series)))
    jumps = np.flatnonzero(np.diff(series) > threshold) + 1
    gaps = np.diff(jumps)
    if jumps.size < _LEAST_TEETH or gaps.min() < 3 or np.ptp(gaps) > 0.1 * np.median(gaps):
        return None
    period = int(np.median(gaps))
    return int(jumps[0]) % period, period
