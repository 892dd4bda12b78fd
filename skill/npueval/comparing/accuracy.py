"""Is the accuracy good enough? The plan's bounds against one figure, with what chance alone could have done to it.

A share of n samples is judged by its value, as the plan says, and the interval stands beside it: 97.8 % of 360 images
is 95.7 … 98.9 %. Reasons are Chinese: they go into documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from npueval import acceptance, metrics
from npueval.plan import AccuracyTarget
from npueval.records import Direction, Judgement, Value
from npueval.statistics import Interval
from npueval.statistics.proportions import wilson

Verdict = tuple[Judgement, str]

_PROPORTIONS = frozenset({"acc", "accuracy", "top1", "top5", "em", "pass"})
_MOST_CLASSES = 100


def interval(metric: str, value: Value) -> Interval | None:
    """The sampling error of a metric that counts hits (accuracy, top-k …), in the unit of the value (above 1: percent).

    ``None`` for mAP, BLEU, loss, unknown n.
    """
    hits = metrics.canonical(metric) in _PROPORTIONS
    if not hits or value.value is None or not value.n or not 0 <= value.value <= 100:
        return None
    whole = _whole(value.value)
    around = wilson(value.value / whole, value.n)
    return Interval(around.low * whole, around.high * whole)


def scales(metric: str, *values: float | None) -> str:
    """Why shares do not compare, where some are percent and some fractions; else empty. 0 is the same in both."""
    if metrics.kind(metric) != "score":
        return ""
    known = [value for value in values if value]
    percent, fraction = ([value for value in known if (value > 1) is above] for above in (True, False))
    if not percent or not fraction:
        return ""
    return f"不可比：一侧是百分数，一侧是小数（{percent[0]:.4g} 与 {fraction[0]:.4g}）"


def _whole(share: float) -> int:
    return 100 if share > 1 else 1


def target_text(target: AccuracyTarget) -> str:
    """The plan's bounds in words that can be checked."""
    return "；".join(bound.zh for bound in acceptance.accuracy(target))


def judge(
    target: AccuracyTarget,
    measured: Value,
    baseline: Value,
    refusal: str = "",
    differences: Sequence[str] = (),
) -> Verdict:
    """A figure against every bound of the plan, and what a reader must know beside the verdict.

    Nothing is met without a baseline, or where ``refusal`` says why it does not compare; a bound can still be missed.
    ``differences`` are conditions that differ without forbidding the comparison (parallelism, precision …).
    """
    if measured.value is None:
        return "无法判定", measured.reason
    broken = _broken(target.metric, measured.value)
    if broken:
        return "不达标", broken
    unlike = _unlike_target(target, measured.value)
    if unlike:
        return "无法判定", unlike
    anchor = None if refusal else baseline.value
    bounds = list(_bounds(target, anchor))
    missed = [bound for bound in bounds if not _reaches(measured.value, bound, target.direction)]
    remarks = [f"两侧条件不同：{'、'.join(differences)}"] if differences else []
    remarks += _remarks(target.metric, measured, anchor, bounds, missed=bool(missed))
    if missed:
        return "不达标", "；".join([*(f"{measured.value:.4g} 未达到 {bound:.4g}" for bound in missed), *remarks])
    if anchor is None and (target.min_ratio, target.max_drop) != (None, None):
        return "无法判定", "；".join([refusal or baseline.reason, *remarks])
    if anchor is None:
        why = refusal or (f"没有精度基线（{baseline.reason}）" if baseline.reason else "没有精度基线")
        return "无法判定", "；".join([f"绝对目标已满足，但{why}", *remarks])
    return "达标", "；".join(remarks)


def _broken(metric: str, value: float) -> str | None:
    if not math.isfinite(value):
        return f"{metric} 为 {value}"
    return f"{metric} 恰为 0.0，视为训练或计算已失效" if metrics.kind(metric) == "loss" and value == 0 else None


def _unlike_target(target: AccuracyTarget, value: float) -> str:
    # A drop of less than 1 may be meant in points of a percent; one of 1 or more never in fractions.
    if target.max_drop is not None and target.max_drop >= 1 and scales(target.metric, value, 100):
        return f"不可比：一侧是百分数，一侧是小数（容许下降 {target.max_drop:g}，实测 {value:.4g}）"
    return scales(target.metric, value, target.minimum)


def _bounds(target: AccuracyTarget, baseline: float | None) -> Iterator[float]:
    higher = target.direction == "higher"
    if target.minimum is not None:
        yield target.minimum
    if baseline is None:
        return
    if target.min_ratio is not None:
        yield baseline * target.min_ratio if higher else baseline / target.min_ratio
    if target.max_drop is not None:
        yield baseline - target.max_drop if higher else baseline + target.max_drop


def _reaches(value: float, bound: float, direction: Direction) -> bool:
    # 0.98 - 0.005 is 0.975 and a little, so that 0.975 itself would miss its own bound.
    slack = 1e-9 * max(abs(value), abs(bound))
    return value <= bound + slack if direction == "lower" else value >= bound - slack


def _remarks(
    metric: str, measured: Value, baseline: float | None, bounds: list[float], *, missed: bool
) -> Iterator[str]:
    assert measured.value is not None
    if metrics.kind(metric) == "loss" and not missed:
        yield "loss 接近不能证明梯度一致"
    around = interval(metric, measured)
    if around is None or measured.n is None:
        return
    yield f"n={measured.n}，95% 区间 [{around.low:.4g}, {around.high:.4g}]"
    if baseline is not None:
        hits = round((measured.value - baseline) / _whole(measured.value) * measured.n)
        within = around.low <= baseline <= around.high
        yield f"与基线相差 {hits:+d} 个样本，{'未超出' if within else '超出'}抽样误差"
    if any(around.low <= bound <= around.high for bound in bounds):
        yield "阈值落在区间内：换一批样本，结论可能不同"
    if missed:
        whole = _whole(measured.value)
        yield from _guessing(measured.value / whole, Interval(around.low / whole, around.high / whole))


def _guessing(share: float, around: Interval) -> Iterator[str]:
    """A share that guessing would give points at labels and outputs that do not belong together."""
    classes = [k for k in range(2, _MOST_CLASSES + 1) if around.low <= 1 / k <= around.high]
    if classes:
        near = min(classes, key=lambda k: abs(1 / k - share))
        yield f"接近在 {near} 类中猜测的 {1 / near:.3g}：检查标签是否与样本对应、输出头是否接对"
