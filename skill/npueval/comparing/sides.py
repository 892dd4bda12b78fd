"""One side of a comparison: its values in a row's unit, or the Chinese reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from npueval import metrics
from npueval.comparing import comparability
from npueval.comparing.plausibility import implausible_case, implausible_figures
from npueval.language import joined
from npueval.plan import Plan
from npueval.records import Baseline, Figure, Grade, Value
from npueval.runs import Run
from npueval.runs.cases import END_TO_END, Case

STATISTICS: dict[str, Literal["p50", "p95", "mean"]] = {
    "latency_p50_ms": "p50",
    "latency_p95_ms": "p95",
    "latency_mean_ms": "mean",
}
KINDS = {"npu": "npu", "gpu": "cuda", "cpu": "cpu"}


@dataclass(frozen=True)
class Side:
    """A column: a Run of its own device, else figures that a log has, else the ``reason`` why it is empty.

    ``unit`` is that of the plan's throughput; a Run that counted anything else has no throughput here.
    """

    column: str
    run: Run | None = None
    log: Baseline | None = None
    reason: str = ""
    unit: str = ""

    def case(self, batch: int, concurrency: int, rate: float | None) -> Case | None:
        """The Run's case of a batch under a load."""
        return self.run.case(batch, concurrency, rate) if self.run else None

    def unfinished(self, case: Case | None = None) -> str:
        """What of the Run, or of one ``case`` of it, was broken off; empty where nothing was (and for a log)."""
        if self.run is None:
            return ""
        cases = [case] if case else self.run.cases
        broken = "、".join(f"{each.name} 止于 {each.n} 个样本" for each in cases if not each.complete)
        if not broken and self.run.complete:
            return ""
        return f"测量不完整（{self.column.upper()}：{broken or f'{self.run.id} 没有测完'}）"

    def implausible(self, case: Case | None) -> str:
        """What of the figures behind a row cannot be: of the Run's ``case``, else of the log; empty where they can."""
        found = implausible_case(case) if case else implausible_figures(self.log) if self.log else ()
        told = "；".join(found)
        return f"数字可疑（{self.column.upper()}：{told}）" if told else ""

    def value(
        self, metric: str, batch: int, concurrency: int, rate: float | None, *, segment: str, target: bool
    ) -> Value:
        """The side's value of a performance metric. A log's stands in the row of its own batch and of the target."""
        if self.run is None:
            return self._logged(metric, batch, segment, target=target) if self.log else Value(reason=self.reason)
        case = self.case(batch, concurrency, rate)
        if case is None or not case.n:
            load = f"batch={batch} 并发={concurrency}" + (f" 到达率={rate:g}/s" if rate else "")
            return Value(reason=(case and case.error) or f"没有测 {load}", source=self.run.id)
        if metric == "throughput" and self.run.unit != self.unit:
            return Value(reason=f"该测量的单位为 {self.run.unit}，与计划 {self.unit} 不同", source=self.run.id)
        if metric == "throughput":
            found = case.throughput()
            return Value(found, n=case.n, reason="" if found else "没有计时窗口", source=self.run.id)
        if segment != END_TO_END and segment not in case.samples:
            why = self.run.not_measured.get(segment)
            return Value(reason=why.zh if why else "未测", source=self.run.id)
        return self._latency(case, STATISTICS[metric], segment)

    def _latency(self, case: Case, statistic: str, segment: str) -> Value:
        assert self.run is not None
        summary = case.summary(segment)
        value = getattr(summary, statistic)
        if value is None:
            return Value(n=summary.n, reason=f"样本不足 (n={summary.n})", source=self.run.id)
        bounds = summary.intervals.get(statistic)
        low, high = (bounds.low, bounds.high) if bounds and bounds.low < bounds.high else (None, None)
        return Value(value, low, high, summary.n, source=self.run.id)

    def _logged(self, metric: str, batch: int, segment: str, *, target: bool) -> Value:
        assert self.log is not None
        stated = self.log.fact("batch")
        if segment != END_TO_END or not (target or stated == str(batch)):
            return Value(reason=f"{self.log.path} 只有整体、batch {stated or '未写明'} 的数字")
        figure = self.log.figure(metric)
        if figure is None:
            return Value(reason=f"日志 {self.log.path} 没有这一项")
        return Value(figure.value, n=figure.n, source=str(figure.source or self.log.path))


def at_precision(runs: Sequence[Run], precision: str) -> Run | None:
    """The Run of a precision; where there is none, any other, which no column of this precision will take."""
    return next((run for run in runs if run.precision == precision), next(iter(runs), None))


def speaks_of(log: Baseline | None, precision: str) -> bool:
    """Whether a log says that its figures are of a precision."""
    return log is not None and comparability.stated_precision(log.fact("precision")) == precision


def of_run(column: str, run: Run | None, reason: str, plan: Plan) -> Side:
    """The column of a Run; no value from one of another device or precision, a simulated or an invalid one."""
    if run is None:
        return Side(column, reason=reason)
    if run.device.kind != KINDS[column]:
        return Side(column, reason=f"{run.id} 在 {run.device.kind} 上测得，不能填入这一列")
    if run.simulated:
        return Side(column, reason=f"{run.id} 来自模拟设备，不产生可报告的数字")
    if not run.valid:
        return Side(column, reason=f"{run.id} 无效：{joined(run.wrong, '；').zh}")
    if run.precision != plan.precision:
        return Side(column, reason=f"该测量的精度为 {run.precision}，与计划 {plan.precision} 不同")
    return Side(column, run=run, unit=plan.unit)


def baseline_side(column: str, run: Run | None, baseline: Baseline | None, reason: str, plan: Plan) -> Side:
    """A baseline column: the Run where there is one, else the log where it was written on such a device."""
    if run is not None:
        return of_run(column, run, reason, plan)
    if baseline and baseline.figures and baseline.fact("device_kind") == column:
        return Side(column, log=baseline, reason=f"日志 {baseline.path} 没有这一项")
    return Side(column, reason=reason)


def checked_accuracy(run: Run, metric: str) -> Value:
    """What the workload's own check found for a metric, as it said it: a percent stays one."""
    result: Mapping[str, Any] = run.output_check.result if run.output_check else {}
    value = result.get("value")
    if value is None or metrics.canonical(str(result.get("metric"))) != metrics.canonical(metric):
        why = run.output_check.reason.zh if run.output_check else ""
        return Value(reason=f"输出校验没有给出 {metric}" + (f"（{why}）" if why else ""), source=run.id)
    return Value(float(value), n=result.get("n"), source=run.id)


def logged_accuracy(baseline: Baseline, metric: str) -> tuple[Value, Grade]:
    """What a log says of a metric, and what that is worth: more where data set and sample count stand beside it."""
    figure = _find(baseline, metric)
    if figure is None:
        return Value(reason=baseline.reason or f"日志 {baseline.path} 没有 {metric}"), Grade.NONE
    source = str(figure.source or baseline.path)
    if figure.unit == "scale?":
        return Value(reason=f"日志中 {metric} 的刻度（百分数还是小数）无法确定", source=source), Grade.NONE
    placed = baseline.fact("dataset") and (baseline.fact("split") or figure.n)
    grade = Grade.B if placed and baseline.grade is Grade.C else baseline.grade
    return Value(figure.value, n=figure.n, source=source), grade


def _find(baseline: Baseline, metric: str) -> Figure | None:
    wanted = metrics.canonical(metric)
    found = (figure for figure in baseline.figures if metrics.canonical(figure.metric) == wanted)
    return baseline.figure(metric) or next(found, None)
