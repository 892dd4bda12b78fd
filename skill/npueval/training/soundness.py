"""What makes a training curve unfit to be judged by its course."""

from __future__ import annotations

from npueval.language import Text
from npueval.statistics.trends import LEAST_POINTS
from npueval.training.curves import Curve


def unsound(curve: Curve) -> tuple[bool, Text] | None:
    """Why the course of a curve means nothing, and whether that condemns the training; ``None`` for a fit curve."""
    if curve.not_finite:
        text = Text("{metric} 出现 NaN/Inf（首次在 {where}）", "{metric} is NaN or Inf (first at {where})")
        return True, text.filled({"metric": curve.metric, "where": curve.not_finite})
    if curve.values and curve.direction == "lower" and not any(curve.values):
        text = Text("{metric} 恒为 0.0，训练已失效", "{metric} is 0.0 throughout: the training is broken")
        return True, text.filled({"metric": curve.metric})
    if len(curve.values) < LEAST_POINTS:
        text = Text("只有 {points} 个点，至少需要 {least} 个", "only {points} points, {least} are needed")
        return False, text.filled({"points": len(curve.values), "least": LEAST_POINTS})
    return None
