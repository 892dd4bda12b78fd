"""How sure a relative change is, in words."""

from __future__ import annotations

from npueval.language import Text
from npueval.statistics import apart

_NO_NOISE = 1e-6
_BETWEEN = Text("95% 区间 {low} 至 {high}", "95 % interval {low} to {high}")
_NONE = Text("相邻各点之间没有噪声，故无区间", "no noise between neighbouring points, so no interval")


def bounds(low: float, high: float) -> Text:
    """The 95 % interval of a fraction, as percents that can be told apart; a curve without noise has none."""
    if high - low < _NO_NOISE:
        return _NONE
    ends = apart(low, high, "%", 1)
    return _BETWEEN.filled({"low": ends[0], "high": ends[1]})
