"""Formal training: has it improved, does it need more steps, or is it time to stop and look at the code?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from npueval.language import Text, joined
from npueval.statistics import trends
from npueval.training.bounds import bounds
from npueval.training.curves import Curve
from npueval.training.soundness import unsound

Status = Literal["fine", "more", "stop", "undecided"]

STAGNATION_STEPS = 500
CLEAR = 0.02
"""An improvement is clear from this share of the start, if its whole interval lies on the better side of zero."""

CHECKS: tuple[Text, ...] = (
    Text("标签与样本是否对应，loss 与任务是否一致", "do labels belong to their samples, does the loss fit the task"),
    Text(
        "输出头是否接对，是否有不该冻结的层", "is the output head the right one, is a layer frozen that should not be"
    ),
    Text(
        "NPU 上替换或回退的算子是否改变了梯度（与 CPU 逐层对比）",
        "do operators replaced on the NPU change the gradients (layer by layer against the CPU)",
    ),
    Text("学习率与调度：预热、衰减、按 batch 的缩放", "learning rate and schedule: warm-up, decay, scaling by batch"),
    Text("数据增强与归一化是否与基线一致", "are augmentation and normalisation the baseline's"),
    Text(
        "混合精度：是否溢出，loss scale 是否一路下降",
        "mixed precision: is there overflow, does the loss scale keep falling",
    ),
)
"""What to look at when more steps do not help, the likeliest first."""

_MOVED = Text(
    "{metric} 相对起点改善 {improvement}（{bounds}，{steps} 步）",
    "{metric} improved by {improvement} of its start ({bounds}, {steps} steps)",
)
_WORSE = Text("：在变差，停止加步，检查代码与数据", ": it gets worse; stop, check code and data")
_STALLED = Text(
    "：超过 {limit} 步仍无明显改善，停止加步，检查代码与数据",
    ": no clear improvement in more than {limit} steps; stop, check code and data",
)
_UNCLEAR = Text("：还不明显，可再加步，至多再加 {left} 步", ": not clear yet; more steps, at most {left}")


@dataclass(frozen=True)
class Formal:
    """The verdict. ``improvement`` is relative to the start, positive where better, with its 95 % interval.

    ``steps`` is what the curve covers; ``numbered`` is false where the source names no steps, so that they are the
    number of its values. ``checks`` is what to look at when the verdict is to stop.
    """

    status: Status
    reason: Text
    metric: str
    limit: int
    points: int
    steps: float
    numbered: bool
    improvement: float | None = None
    low: float | None = None
    high: float | None = None
    start: float | None = None
    end: float | None = None
    checks: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()


def judge_formal(curve: Curve, limit: int = STAGNATION_STEPS) -> Formal:
    """Judge the curve of a loss or a score; after ``limit`` steps without improvement the code is suspected."""
    covered = (curve.metric, limit, len(curve.values), curve.span, curve.numbered)
    condemned = unsound(curve)
    if condemned:
        decisive, reason = condemned
        return Formal("stop" if decisive else "undecided", reason, *covered, checks=CHECKS if decisive else ())
    offset, period = trends.teeth(curve.values) or (0, None)
    moved = trends.change(curve.values[offset:], period, exact=False)
    better = 1.0 if curve.direction == "higher" else -1.0
    improvement = better * moved.relative + 0.0
    low, high = sorted((better * moved.interval.low, better * moved.interval.high))
    status, reason = _verdict(improvement, low, high, curve.span, limit)
    said = reason.filled(
        {
            "metric": curve.metric,
            "improvement": f"{improvement:.1%}",
            "bounds": bounds(low, high),
            "steps": f"{curve.span:.0f}",
            "limit": limit,
            "left": f"{limit - curve.span:.0f}",
        }
    )
    checks = CHECKS if status == "stop" else ()
    notes = tuple(_notes(curve, status, limit))
    return Formal(status, said, *covered, improvement, low, high, moved.start, moved.end, checks, notes)


def _verdict(improvement: float, low: float, high: float, steps: float, limit: int) -> tuple[Status, Text]:
    if improvement >= CLEAR and low > 0:
        return "fine", _MOVED
    if high < -CLEAR:
        return "stop", joined((_MOVED, _WORSE), "", "")
    if steps > limit:
        return "stop", joined((_MOVED, _STALLED), "", "")
    return "more", joined((_MOVED, _UNCLEAR), "", "")


def _notes(curve: Curve, status: Status, limit: int) -> Iterator[Text]:
    if not curve.numbered:
        text = Text("来源没有打印步数，按 {n} 个值计", "the source prints no steps: its {n} values are counted")
        yield text.filled({"n": len(curve.values)})
    if curve.left_out:
        text = Text("之前还有 {n} 次从头开始的训练，未计入", "{n} earlier attempts from the beginning are left out")
        yield text.filled({"n": curve.left_out})
    recent = [value for value, step in zip(curve.values, curve.steps, strict=True) if step > curve.steps[-1] - limit]
    if status == "fine" and trends.LEAST_POINTS <= len(recent) < len(curve.values):
        bounds = trends.slope(recent)[1]
        if bounds.low <= 0 <= bounds.high:
            text = Text(
                "最近 {limit} 步没有变化：继续加步意义不大", "no change in the last {limit} steps: more will add little"
            )
            yield text.filled({"limit": limit})
