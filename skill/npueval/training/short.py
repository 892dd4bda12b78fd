"""The short test: does the loss fall steadily, by about 30 to 50 % from its start? Passed once, it is over."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from npueval.language import Text, joined, same
from npueval.statistics import trends
from npueval.statistics.trends import Change, Steadiness
from npueval.training.bounds import bounds
from npueval.training.curves import Curve
from npueval.training.soundness import unsound

Status = Literal["passed", "failed", "undecided"]

LEAST_TAU = 0.5
MOST_REBOUND = 0.25
# A fall a little short of the band passes; one that chance may have more than halved does not.
_LOOSE, _SURE = 0.9, 0.5
_GUESSING = 0.99, 1.04
_GUESSED_CLASSES = (*range(2, 11), 100, 1000)


_FELL = Text(
    "loss 从 {start} 到 {end}，下降 {drop}（降幅：{bounds}）",
    "the loss fell from {start} to {end}, by {drop} ({bounds})",
)
_ROSE = Text(
    "loss 从 {start} 到 {end}，上升 {drop}（降幅：{bounds}）",
    "the loss rose from {start} to {end}, by {drop} (of its fall: {bounds})",
)

_ROSE_AGAIN = Text("，但先降后升", ", but rose again after its lowest point")
_UNSTEADY = Text("，但没有持续下降", ", but not steadily")
_NOISY = Text("，噪声太大，无法判断是否达到 {least}", ", too noisy to tell whether by {least}")
_TOO_LITTLE = Text("，未达到 {least}", ", less than {least}")


@dataclass(frozen=True)
class Band:
    """How far the loss is to fall, as fractions of its start; a little less than ``least`` passes and is said."""

    least: float = 0.30
    most: float = 0.50


BAND = Band()


@dataclass(frozen=True)
class ShortTest:
    """The verdict of a short test. ``drop`` is the fall as a fraction of the start, ``low`` … ``high`` its bounds.

    All figures are ``None`` where the curve is too short or too broken to have them.
    """

    status: Status
    reason: Text
    band: Band
    points: int
    start: float | None = None
    end: float | None = None
    drop: float | None = None
    low: float | None = None
    high: float | None = None
    tau: float | None = None
    rebound: float | None = None
    notes: tuple[Text, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the short test is over for this configuration."""
        return self.status == "passed"


def judge_short(curve: Curve, band: Band = BAND) -> ShortTest:
    """Judge the curve of a loss as a short test."""
    broken = _broken(curve)
    if broken:
        return ShortTest(broken[0], broken[1], band, len(curve.values), notes=tuple(_notes_of_source(curve)))
    offset, period = trends.teeth(curve.values) or (0, None)
    values = curve.values[offset:]
    moved = trends.change(values, period)
    steady = trends.steadiness(values, period)
    status, reason = _verdict(moved, steady, band)
    return ShortTest(
        status,
        reason,
        band,
        len(curve.values),
        moved.start,
        moved.end,
        *_fall(moved),
        steady.tau,
        steady.rebound,
        tuple(_notes(curve, moved, status, band, period)),
    )


def _broken(curve: Curve) -> tuple[Status, Text] | None:
    """What makes the curve unfit for a verdict on its fall."""
    condemned = unsound(curve)
    if condemned:
        return "failed" if condemned[0] else "undecided", condemned[1]
    if min(curve.values) <= 0:
        return "undecided", Text(
            "loss 不恒为正，相对降幅没有意义：请指定恒为正的主损失",
            "the loss is not positive throughout, a relative fall means nothing: name a positive main loss",
        )
    return None


def _verdict(moved: Change, steady: Steadiness, band: Band) -> tuple[Status, Text]:
    drop, low, high = _fall(moved)
    status, ending = _outcome(drop, low, high, steady, band)
    values: dict[str, Text | str] = {
        "drop": f"{abs(drop):.1%}",
        "bounds": bounds(low, high),
        "start": f"{moved.start:.4g}",
        "end": f"{moved.end:.4g}",
        "least": f"{band.least:.0%}",
    }
    return status, joined((_FELL if drop >= 0 else _ROSE, ending), "", "").filled(values)


def _outcome(drop: float, low: float, high: float, steady: Steadiness, band: Band) -> tuple[Status, Text]:
    if drop >= band.least * _LOOSE and low >= band.least * _SURE:
        if steady.rebound > MOST_REBOUND:
            return "failed", _ROSE_AGAIN
        return ("passed", same("")) if steady.tau <= -LEAST_TAU else ("failed", _UNSTEADY)
    return ("undecided", _NOISY) if high >= band.least else ("failed", _TOO_LITTLE)


def _fall(moved: Change) -> tuple[float, float, float]:
    """The fall as a fraction of the start, with its interval (0 - x, lest a still curve fall by -0.0)."""
    return 0.0 - moved.relative, 0.0 - moved.interval.high, 0.0 - moved.interval.low


def _notes(curve: Curve, moved: Change, status: Status, band: Band, period: int | None) -> Iterator[Text]:
    yield from _notes_of_source(curve)
    drop = _fall(moved)[0]
    if period:
        yield Text(
            "loss 呈周期为 {period} 点的锯齿，按首末两个完整周期比较",
            "a sawtooth of {period} points: its first and last whole teeth are compared",
        ).filled({"period": period})
    if status == "passed" and drop > band.most:
        yield Text("降幅超过 {most}，同样视为通过", "more than {most}, which passes too").filled(
            {"most": f"{band.most:.0%}"}
        )
    if status == "passed" and drop < band.least:
        yield Text("略低于 {least}，按约定视为通过", "a little under {least}, which passes").filled(
            {"least": f"{band.least:.0%}"}
        )
    if status != "passed":
        yield from _why_not(curve)


def _notes_of_source(curve: Curve) -> Iterator[Text]:
    if curve.left_out:
        yield Text(
            "日志里之前还有 {n} 次从头开始的训练，只判定最后一次",
            "the log holds {n} earlier attempts from the beginning; the last one is judged",
        ).filled({"n": curve.left_out})


def _why_not(curve: Curve) -> Iterator[Text]:
    if min(curve.values) == max(curve.values):
        yield Text(
            "loss 完全不变：检查优化器是否更新、学习率、参数是否冻结、loss 是否与模型断开",
            "the loss does not change at all: look at the optimiser, the learning rate, frozen layers, a detached loss",
        )
        return
    half = curve.values[len(curve.values) // 2 :]
    tail = trends.slope(half)[1]
    if tail.high < 0:
        yield Text("后半段仍在下降", "it is still falling in its second half")
        return
    level, end = median(half), median(curve.values[-max(5, len(curve.values) // 20) :])
    # A network that guesses pays a little more than the entropy of the classes, never less.
    classes = [
        k for k in _GUESSED_CLASSES if all(_GUESSING[0] <= at / math.log(k) <= _GUESSING[1] for at in (level, end))
    ]
    if classes and tail.low <= 0:
        k = min(classes, key=lambda k: abs(level / math.log(k) - 1))
        yield Text(
            "末端接近 ln {k} = {level}，即在 {k} 类中猜测的交叉熵：检查标签是否与样本对应",
            "it ends near ln {k} = {level}, the cross entropy of guessing among {k} classes: look at the labels",
        ).filled({"k": k, "level": f"{math.log(k):.3f}"})
