"""The rows of a comparison: each metric of each case on all three sides, with a ratio or the reason for none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from npueval import statistics
from npueval.comparing import accuracy, comparability, judging, sides
from npueval.comparing.sides import Side
from npueval.plan import Plan
from npueval.records import (
    AccuracyRow,
    Baseline,
    Change,
    ComparisonPoint,
    ComparisonRow,
    Direction,
    Grade,
    Value,
)
from npueval.runs.cases import END_TO_END, SEGMENTS, Case

LABELS = {"latency_p50_ms": "延迟 p50 (ms)", "latency_p95_ms": "延迟 p95 (ms)", "latency_mean_ms": "延迟均值 (ms)"}
STAGES = {
    "preprocess": "预处理",
    "h2d": "数据上传 (h2d)",
    "infer": "推理",
    "d2h": "结果下载 (d2h)",
    "postprocess": "后处理",
}

_NO_SAMPLES = "基线没有原始样本，无区间"
_NO_SPREAD = "重采样的结果全部相同（时间没有离散，时钟太粗？），无区间"

Column = Literal["gpu", "cpu"]
Key = tuple[int, int, float | None]
"""Batch, concurrency, arrival rate."""


@dataclass(frozen=True)
class Sides:
    """The three columns of a plan of one precision; ``baseline`` names the one that verdicts rest on.

    ``further``: another precision is judged, this one is shown beside it.
    """

    plan: Plan
    npu: Side
    gpu: Side
    cpu: Side
    baseline: Column | None
    further: bool = False

    def keys(self) -> list[Key]:
        """Every case of the plan, that of the target batch and load first."""
        plan = self.plan
        loads: list[tuple[int, float | None]] = [(workers, None) for workers in plan.concurrency]
        loads += [(max(plan.concurrency), rate) for rate in plan.arrival_rates]
        batches = (plan.target_batch, *(batch for batch in plan.batches if batch != plan.target_batch))
        return [(batch, *load) for batch in batches for load in loads]

    def points(self, column: Column, key: Key) -> tuple[ComparisonPoint, ...]:
        """The conditions of the NPU against those of a column, for one case; empty where one of them has none."""
        other: Side = getattr(self, column)
        mine, theirs = self.npu.case(*key), other.case(*key)
        if self.npu.run is None or mine is None:
            return ()
        if other.run is not None and theirs is not None:
            return comparability.of_runs(self.npu.run, mine, other.run, theirs)
        return comparability.of_log(self.npu.run, mine, other.log, self.plan) if other.log else ()


def performance_rows(both: Sides) -> Iterator[ComparisonRow]:
    """Latency and throughput of every case; the mean too where a log has nothing better."""
    for number, key in enumerate(both.keys()):
        logged = [side.log for side in (both.gpu, both.cpu) if side.log]
        means = number == 0 and any(log.figure("latency_mean_ms") for log in logged)
        for metric in ("latency_p50_ms", "latency_p95_ms", *["latency_mean_ms"] * means, "throughput"):
            yield _row(both, metric, key, target=number == 0)


def stage_rows(both: Sides) -> Iterator[ComparisonRow]:
    """The median of every segment of the target case."""
    for segment in SEGMENTS:
        if segment in both.plan.segments:
            yield _row(both, "latency_p50_ms", both.keys()[0], target=False, segment=segment)


def accuracy_rows(both: Sides, baseline: Baseline) -> Iterator[AccuracyRow]:
    """The plan's accuracy metric: what the NPU's own check found against the GPU's, or against the log's figure."""
    target = both.plan.targets.accuracy
    if target is None:
        return
    run = both.npu.run
    npu = _bounded(sides.checked_accuracy(run, target.metric) if run else Value(reason=both.npu.reason), target.metric)
    base, grade = _accuracy_baseline(both, baseline, target.metric)
    gpu = both.gpu.run if both.gpu.run is not None and base.source == both.gpu.run.id else None
    points = comparability.of_accuracy(run, gpu or baseline) if run and base.value is not None else ()
    refusal = comparability.refusal(points, rate=False) or _accuracy_refusal(target.metric, npu, base)
    differences = [f"{point.name} {point.npu} 与 {point.other}" for point in points if point.agreement == "differs"]
    judgement, reason = accuracy.judge(target, npu, base, refusal, differences)
    if npu.value is not None:
        judgement, reason = judging.in_doubt((judgement, reason), _unfinished(both, "gpu" if gpu else None))
    judged = None if both.further else judgement
    yield AccuracyRow(
        metric=target.metric,
        label=f"{target.metric}（{both.plan.precision}）" if both.further else target.metric,
        precision=both.plan.precision,
        direction=target.direction,
        baseline=base,
        npu=npu,
        difference=None if refusal else _difference(npu, base),
        refusal=refusal,
        target=accuracy.target_text(target),
        judgement=judged,
        reason=reason if judged else "",
        grade=Grade.NONE if refusal else grade,
    )


def _difference(npu: Value, base: Value) -> float | None:
    return None if npu.value is None or base.value is None else npu.value - base.value


def _bounded(value: Value, metric: str) -> Value:
    around = accuracy.interval(metric, value)
    return replace(value, low=around.low, high=around.high) if around else value


def _accuracy_baseline(both: Sides, baseline: Baseline, metric: str) -> tuple[Value, Grade]:
    if both.gpu.run is not None:
        found = sides.checked_accuracy(both.gpu.run, metric)
        if found.value is not None:
            return found, Grade.B
    return sides.logged_accuracy(baseline, metric)


def _accuracy_refusal(metric: str, npu: Value, base: Value) -> str:
    if npu.n and base.n and npu.n != base.n:
        return f"不可比：样本数 {npu.n} 与 {base.n}"
    return accuracy.scales(metric, npu.value, base.value)


def _row(both: Sides, metric: str, key: Key, *, target: bool, segment: str = END_TO_END) -> ComparisonRow:
    direction: Direction = "higher" if metric == "throughput" else "lower"
    npu, gpu, cpu = (
        side.value(metric, *key, segment=segment, target=target) for side in (both.npu, both.gpu, both.cpu)
    )
    against = {name: _change(both, name, metric, key, segment, npu, value) for name, value in _others(gpu, cpu)}
    unit = both.plan.unit if metric == "throughput" else "ms"
    wanted = judging.performance_target(metric, unit, direction, both.plan.targets) if target else ""
    change = against[both.baseline] if both.baseline else Change(refusal=f"没有性能基线（{gpu.reason}）")
    judged = judging.judge_performance(metric, direction, npu, change, both.plan.targets) if wanted else (None, "")
    if judged[0] == "达标" and (refused := _refusal(both, metric, key, change)):
        judged = "无法判定", f"绝对目标已满足，但{refused}"
    if judged[0] is not None and npu.value is not None:
        judged = judging.in_doubt(judged, _doubtful(both, key))
    batch, concurrency, rate = key
    return ComparisonRow(
        metric=metric,
        label=_label(both, metric, key, segment),
        unit=unit,
        direction=direction,
        segment=segment,
        precision=both.plan.precision,
        batch=batch,
        concurrency=concurrency,
        rate=rate,
        npu=npu,
        gpu=gpu,
        cpu=cpu,
        against_gpu=against["gpu"],
        against_cpu=against["cpu"],
        target=wanted,
        judgement=judged[0],
        reason=judged[1],
    )


def _refusal(both: Sides, metric: str, key: Key, change: Change) -> str:
    """Why nothing stands against the NPU's figures of a case; empty where something does."""
    if both.baseline is None:
        return change.refusal
    return comparability.refusal(both.points(both.baseline, key), rate=metric == "throughput")


def _doubtful(both: Sides, key: Key) -> str:
    """What was broken off, or cannot be, of a case on the two sides of its verdict."""
    held = [both.npu, *([getattr(both, both.baseline)] if both.baseline else [])]
    impossible = (side.implausible(side.case(*key)) for side in held)
    return "；".join(filter(None, (_unfinished(both, both.baseline, key), *impossible)))


def _unfinished(both: Sides, column: Column | None, key: Key | None = None) -> str:
    """What was broken off on the two sides of a verdict, in one case or (no ``key``) anywhere."""
    held = [both.npu, *([both.gpu] if column == "gpu" else [both.cpu] if column == "cpu" else [])]
    return "；".join(filter(None, (side.unfinished(side.case(*key) if key else None) for side in held)))


def _others(gpu: Value, cpu: Value) -> tuple[tuple[Column, Value], tuple[Column, Value]]:
    return ("gpu", gpu), ("cpu", cpu)


def _change(both: Sides, column: Column, metric: str, key: Key, segment: str, npu: Value, other: Value) -> Change:
    if npu.value is None or other.value is None:
        return Change(refusal=f"N/A（{other.reason if npu.value is not None else npu.reason}）")
    side: Side = getattr(both, column)
    points = both.points(column, key)
    refused = comparability.refusal(points, rate=metric == "throughput", segment=segment)
    if refused:
        return Change(refusal=refused)
    mine, theirs = both.npu.case(*key), side.case(*key)
    assert mine is not None
    if side.log is not None:
        grade = comparability.grade_of_log(side.log, points)
        return _of_figures(metric, npu.value, other.value, side.log, grade, mine.cards)
    assert theirs is not None
    return _of_samples(metric, segment, (mine, npu.value), (theirs, other.value), points, both.plan.targets.margin)


def _of_figures(metric: str, npu: float, other: float, log: Baseline, grade: Grade, cards: int) -> Change:
    """The ratio to a figure without samples, which has no interval."""
    figure = log.figure(metric)
    if grade is Grade.D:
        why = "未写明 batch" if not log.fact("batch") else "只是引用的数字"
        return Change(refusal=f"不可比：{log.path} {why}，只能展示（D 级）")
    if metric == "latency_p95_ms" and grade is Grade.C:
        return Change(refusal="不可比：C 级证据不支持 p95 之比（缺样本数、测量范围或精度）")
    if metric != "throughput":
        return Change(other / npu, no_interval=_NO_SAMPLES, grade=grade)
    if figure is None or figure.per not in ("total", "card"):
        return Change(refusal="不可比：日志的吞吐未写明是单卡还是总和")
    return Change(npu / (cards if figure.per == "card" else 1) / other, no_interval=_NO_SAMPLES, grade=grade)


def _of_samples(
    metric: str,
    segment: str,
    npu: tuple[Case, float],
    other: tuple[Case, float],
    points: tuple[ComparisonPoint, ...],
    margin: float,
) -> Change:
    """The ratio of two cases that hold their samples (each with its value of the metric)."""
    (mine, value), (theirs, base) = npu, other
    ratio = _ratio(mine, theirs, metric, segment, value, base)
    if ratio is None:
        return Change(refusal=f"不可比：样本不足 (n={min(mine.n, theirs.n)})")
    grade = comparability.grade_of_runs(points)
    if ratio.low == ratio.high:
        return Change(ratio.value, no_interval=_NO_SPREAD, grade=grade)
    outcome = statistics.verdict(ratio, "higher", margin)
    return Change(ratio.value, ratio.low, ratio.high, outcome, grade=grade)


def _ratio(mine: Case, theirs: Case, metric: str, segment: str, npu: float, other: float) -> statistics.Ratio | None:
    """Above 1: the NPU is the better one. The interval is that of the samples, moved onto the ratio of the values."""
    left, right = (case.milliseconds(segment) for case in (mine, theirs))
    if metric == "throughput":
        found = statistics.ratio(left, right, "throughput")
        return found and found.scaled(npu / other / found.value)
    statistic: Literal["p50", "p95", "mean"] = sides.STATISTICS[metric]
    return statistics.ratio(right, left, statistic)


def _label(both: Sides, metric: str, key: Key, segment: str) -> str:
    if segment != END_TO_END:
        return STAGES[segment]
    name = f"吞吐 ({both.plan.unit})" if metric == "throughput" else LABELS[metric]
    first, (batch, concurrency, rate) = both.keys()[0], key
    if key == first and not both.further:
        return name
    load = "" if (concurrency, rate) == first[1:] else f"，并发={concurrency}" + (f"，{rate:g} 请求/s" if rate else "")
    precision = f"{both.plan.precision}，" if both.further else ""
    return f"{name}（{precision}batch={batch}{load}）"
