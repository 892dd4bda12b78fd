"""How much of a series is news: samples that resemble their neighbours count as fewer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_WHOLE_SERIES = 1 << 16
_PIECES, _PIECE = 16, 1 << 13
_GATE_LAGS = 10
_WINDOW = 5.0


def effective_samples(samples: ArrayLike) -> float:
    """How many independent samples the series is worth."""
    values: NDArray[Any] = np.asarray(samples)
    return values.size / autocorrelation_time(values)


def autocorrelation_time(samples: ArrayLike) -> float:
    """The integrated autocorrelation time: 1 for independent samples, τ when τ neighbours carry the news of one.

    A long series is judged by sixteen stretches of it. Correlations that noise alone would show are taken for none, so
    that a hundred independent samples count as a hundred.
    """
    pieces = stretches(np.asarray(samples)).astype(np.float64)
    length = pieces.shape[1]
    correlation = _autocorrelation(pieces)
    if correlation is None or not _significant(correlation, pieces.size):
        return 1.0
    lags = np.arange(1, length // 2)
    # Taking the mean out of the series lowers every correlation a little; the factor gives it back on average.
    times = (1 + 2 * np.cumsum(correlation[1 : length // 2])) * (1 + (2 * lags + 1) / pieces.size)
    enough = np.flatnonzero(lags >= _WINDOW * times)
    tau = float(times[enough[0]] if enough.size else times.max())
    return float(min(max(1.0, tau), length / 2))


def stretches(values: NDArray[Any]) -> NDArray[Any]:
    """The series as rows: one row, or sixteen evenly spread stretches of a long one."""
    if values.ndim == 2:
        return values
    if values.size <= _WHOLE_SERIES:
        return values.reshape(1, -1)
    starts = np.linspace(0, values.size - _PIECE, _PIECES).astype(np.int64)
    return np.stack([values[start : start + _PIECE] for start in starts])


def _autocorrelation(pieces: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Autocorrelation by lag, averaged over the rows; ``None`` for a series without spread or too short to tell."""
    length = pieces.shape[1]
    if length < 2 * _GATE_LAGS:
        return None
    centred = pieces - pieces.mean()
    spectrum = np.fft.rfft(centred, n=1 << (2 * length - 1).bit_length(), axis=1)
    covariance: NDArray[np.float64] = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length].mean(axis=0)
    # Rounding leaves a constant series with a covariance that is tiny, not zero.
    negligible = 1e-18 * length * max(1.0, float(np.square(pieces).mean()))
    return None if covariance[0] <= negligible else covariance / covariance[0]


def _significant(correlation: NDArray[np.float64], samples: int) -> bool:
    noise = 2 / math.sqrt(samples)
    early = correlation[1 : 1 + _GATE_LAGS]
    return bool(early[0] > noise or early.mean() > noise / math.sqrt(_GATE_LAGS))
