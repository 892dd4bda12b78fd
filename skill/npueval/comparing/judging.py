"""Verdicts: a row against its target, the rows against the acceptance, all against the rule that nothing passes
without a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from npueval import acceptance
from npueval.plan import Targets
from npueval.records import (
    AccuracyRow,
    Change,
    ComparisonRow,
    Conclusion,
    Direction,
    Grade,
    Judgement,
    Overall,
    Value,
)
from npueval.statistics import apart

Verdict = tuple[Judgement, str]

_SEVERITY: tuple[Overall, ...] = ("通过", "有条件通过", "待定", "不通过")


def performance_target(metric: str, unit: str, direction: Direction, targets: Targets) -> str:
    """The plan's target for a metric in words; empty where it sets none."""
    return "；".join(bound.zh for bound in acceptance.performance(metric, unit, direction, targets))


def judge_performance(metric: str, direction: Direction, npu: Value, change: Change, targets: Targets) -> Verdict:
    """A row against every target that the plan sets for it; where the NPU has no value, that alone is the reason."""
    if npu.value is None:
        return "无法判定", npu.reason
    verdicts: list[Verdict] = []
    limit = acceptance.limit(metric, targets)
    if limit is not None:
        verdicts.append(_against_limit(npu.value, npu.low, npu.high, limit, direction))
    if metric in acceptance.RELATIVE and targets.ratio_to_baseline is not None:
        verdicts.append(_against_ratio(change, targets.ratio_to_baseline))
    return _worst(verdicts)


def in_doubt(verdict: Verdict, doubt: str) -> Verdict:
    """A verdict on measurements that were broken off or cannot be (``doubt`` says so): nothing is met by them."""
    judgement, reason = verdict
    if not doubt:
        return verdict
    if judgement == "达标":
        return "无法判定", "；".join(filter(None, (doubt, reason)))
    return judgement, "；".join(filter(None, (reason, doubt)))


def _against_limit(
    value: float, least: float | None, most: float | None, limit: float, direction: Direction
) -> Verdict:
    low, high = (value if bound is None else bound for bound in (least, most))
    best, worst = (low, high) if direction == "lower" else (high, low)
    if _reaches(worst, limit, direction):
        return "达标", ""
    if _reaches(best, limit, direction):
        return "无法判定", f"95% 区间 [{', '.join(apart(low, high, digits=4))}] 跨过目标 {limit:g}"
    return "不达标", f"{value:.4g} 未达到 {limit:g}"


def _against_ratio(change: Change, wanted: float) -> Verdict:
    if change.ratio is None:
        return "无法判定", change.refusal
    low, high = (change.ratio if bound is None else bound for bound in (change.low, change.high))
    if low >= wanted:
        return "达标", ""
    if high < wanted:
        return "不达标", f"为基线的 {change.ratio:.3g} 倍，低于 {wanted:g}"
    return "无法判定", f"与基线之比的 95% 区间 [{', '.join(apart(low, high))}] 跨过 {wanted:g}"


def conclude_performance(rows: Sequence[ComparisonRow], grade: Grade, differences: str) -> Conclusion:
    """The performance verdict over every row that has a target."""
    judged = [(f"{row.label}：{row.reason}", row.judgement) for row in rows if row.judgement]
    if not judged:
        return Conclusion("待定", "计划没有设定性能目标")
    return _conclude(judged, grade, "性能", differences)


def conclude_accuracy(rows: Sequence[AccuracyRow]) -> Conclusion:
    """The accuracy verdict over every metric that has a target."""
    judged = [(f"{row.metric}：{row.reason}", row.judgement) for row in rows if row.judgement]
    if not judged:
        return Conclusion("待定", "计划没有设定精度目标")
    return _conclude(judged, max((row.grade for row in rows if row.judgement), key=_weakness), "精度", "")


def conclude(parts: Sequence[Conclusion]) -> Conclusion:
    """All parts together are as bad as the worst of them."""
    verdict = max((part.verdict for part in parts), key=_SEVERITY.index)
    return Conclusion(verdict, "；".join(dict.fromkeys(part.reason for part in parts if part.verdict == verdict)))


def _conclude(judged: list[tuple[str, Judgement]], grade: Grade, what: str, differences: str) -> Conclusion:
    def reasons(judgement: Judgement) -> str:
        return "；".join(text for text, found in judged if found == judgement)

    verdicts = {judgement for _, judgement in judged}
    if grade in (Grade.NONE, Grade.D):
        open_points = reasons("不达标") or reasons("无法判定")
        return Conclusion("待定", f"{what}没有可比的基线" + (f"；{open_points}" if open_points else ""))
    if "不达标" in verdicts:
        return Conclusion("不通过", reasons("不达标"))
    if "无法判定" in verdicts:
        return Conclusion("待定", reasons("无法判定"))
    named = f"，{differences}" if differences else ""
    if grade is Grade.C:
        return Conclusion("有条件通过", f"{what}各项达标，基线为 {grade.value} 级证据（日志）{named}")
    return Conclusion("通过", f"{what}各项达标，基线为 {grade.value} 级证据{named}")


def _weakness(grade: Grade) -> int:
    return list(Grade).index(grade)


def _reaches(value: float, bound: float, direction: Direction) -> bool:
    return value <= bound if direction == "lower" else value >= bound


def _worst(verdicts: list[Verdict]) -> Verdict:
    for judgement in ("不达标", "无法判定"):
        found = [reason for verdict, reason in verdicts if verdict == judgement]
        if found:
            return judgement, "；".join(found)
    return "达标", ""
