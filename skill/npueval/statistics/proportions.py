"""How sure a share of n samples is."""

from __future__ import annotations

import math

from npueval.statistics import Interval

_Z = 1.959963984540054


def wilson(share: float, n: int) -> Interval:
    """Where the true share lies with 95 % confidence when ``share`` (0 … 1) of ``n`` independent samples were hits.

    Wilson's score interval: unlike ``share ± 2 s`` it stays within 0 … 1 and does not shrink to nothing at its ends.
    """
    if not 0 <= share <= 1 or n < 1:
        raise ValueError(f"not a share of samples: {share} of {n}")
    shrink = 1 + _Z * _Z / n
    centre = (share + _Z * _Z / (2 * n)) / shrink
    half = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n)) / shrink
    return Interval(min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))
