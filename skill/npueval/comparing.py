"""Hold the NPU's Run against its baseline: what is comparable gets a ratio, the rest says why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npueval import comparability, judging
from npueval.cases import Case
from npueval.plan import Plan
from npueval.records import Baseline, Cell, Comparison, Direction, Gain, Grade, Line, Point, Score, Stage
from npueval.runs import Run
from npueval.statistics import Ratio, Statistic, ratio

STAGES = ("preprocess", "infer", "postprocess")
NO_GPU = "待用户按 Mig_Readme §2.6 在 GPU 上补采"


@dataclass(frozen=True)
class Metric:
    """A column of figures: its key, the statistic behind it, and how its row is labelled at the target batch."""

    key: str
    statistic: Statistic
    direction: Direction
    label: str

    def row(self, plan: Plan, batch: int, concurrency: int) -> str:
        """The label of the row that holds this metric of one case."""
        if batch == plan.target_batch and concurrency == plan.concurrency[0]:
            return self.label
        load = f"，并发={concurrency}" if concurrency > 1 else ""
        label = f"吞吐 ({plan.unit})" if self.key == "throughput" else self.label
        return f"{label}（batch={batch}{load}）"


METRICS = (
    Metric("latency_p50_ms", "p50", "lower", "延迟 p50 (ms)"),
    Metric("latency_p95_ms", "p95", "lower", "延迟 p95 (ms)"),
    Metric("throughput", "throughput", "higher", "吞吐 (samples/s 或 images/s)"),
)


@dataclass(frozen=True)
class Sides:
    """Everything that is held against each other, and (in Chinese) why a side is missing."""

    plan: Plan
    baseline: Baseline
    npu: Run | None = None
    cpu: Run | None = None
    gpu: Run | None = None
    no_npu: str = "尚未在 NPU 上测量"
    no_cpu: str = "项目未要求 CPU 对照"


def compare(sides: Sides) -> Comparison:
    """The Comparison of one evaluation. CPU figures stay in the CPU column; nothing moves between devices."""
    plan = sides.plan
    lines = tuple(_line(sides, metric, batch, workers) for batch, workers in _cases(plan) for metric in METRICS)
    scores = tuple(_scores(sides))
    found = _points(sides, plan.target_batch, plan.concurrency[0])
    performance = judging.performance(lines)
    accuracy = judging.accuracy(scores, sides.npu, sides.no_npu)
    return Comparison(
        grade=_grade(sides, found),
        points=found,
        lines=lines,
        stages=tuple(_stage(sides, segment) for segment in STAGES),
        scores=scores,
        performance=performance,
        accuracy=accuracy,
        overall=judging.overall(performance, accuracy),
    )


def _cases(plan: Plan) -> list[tuple[int, int]]:
    """The target batch first, then the others in the plan's order."""
    cases = [(batch, workers) for batch in plan.batches for workers in plan.concurrency]
    return sorted(cases, key=lambda case: case != (plan.target_batch, plan.concurrency[0]))


def _line(sides: Sides, metric: Metric, batch: int, workers: int) -> Line:
    plan = sides.plan
    npu = _cell(sides.npu, metric, batch, workers, sides.no_npu)
    cpu = _cell(sides.cpu, metric, batch, workers, sides.no_cpu)
    gpu = _cell(sides.gpu, metric, batch, workers, NO_GPU)
    to_gpu = _gain(sides.npu, sides.gpu, metric, batch, workers, gpu.reason)
    at_target = (batch, workers) == (plan.target_batch, plan.concurrency[0])
    return Line(
        metric=metric.key,
        label=metric.row(plan, batch, workers),
        unit=plan.unit if metric.key == "throughput" else "ms",
        direction=metric.direction,
        batch=batch,
        concurrency=workers,
        cpu=cpu,
        gpu=gpu,
        npu=npu,
        to_cpu=_gain(sides.npu, sides.cpu, metric, batch, workers, cpu.reason),
        to_gpu=to_gpu,
        target=judging.target(plan.targets, metric.key) if at_target else judging.NO_TARGET,
        judgement=judging.line(plan.targets, metric.key, npu, to_gpu, sides.npu) if at_target else judging.NOT_JUDGED,
    )


def _cell(run: Run | None, metric: Metric, batch: int, workers: int, reason: str) -> Cell:
    """The figure of one Run, bounded by its interval, or why it has none."""
    if run is None:
        return Cell(reason=reason)
    case = run.case(batch, workers)
    if not run.valid:
        return Cell(reason=f"测量无效：{run.invalid[0]}", source=run.id)
    if case is None or not case.n:
        return Cell(reason=f"该用例没有样本{f'：{case.error}' if case and case.error else ''}", source=run.id)
    if metric.key == "throughput":
        return Cell(case.throughput(), n=case.n, source=run.id)
    return _percentile(case, metric, run.id)


def _percentile(case: Case, metric: Metric, source: str) -> Cell:
    summary = case.summary()
    value = getattr(summary, metric.statistic)
    if value is None:
        return Cell(reason=f"样本不足（n={summary.n}）", n=summary.n, source=source)
    bounds = summary.intervals.get(metric.statistic)
    return Cell(
        value, low=bounds.low if bounds else None, high=bounds.high if bounds else None, n=summary.n, source=source
    )


def _gain(npu: Run | None, base: Run | None, metric: Metric, batch: int, workers: int, no_base: str) -> Gain:
    """How many times better the NPU is, from the raw samples of both sides."""
    ours, theirs = (run.case(batch, workers) if run and run.valid else None for run in (npu, base))
    if not ours or not npu or not ours.n:
        return Gain(reason="缺 NPU 数据")
    if not theirs or not base or not theirs.n:
        return Gain(reason=f"缺基线：{no_base}")
    refused = comparability.refusal(_held(npu, base, batch, workers))
    if refused:
        return Gain(reason=refused)
    found = ratio(ours.nanoseconds(), theirs.nanoseconds(), metric.statistic)
    if found is None:
        return Gain(reason="不可比：样本不足")
    better: Ratio = found if metric.direction == "higher" else found.inverse()
    return Gain(better.value, low=better.low, high=better.high)


def _held(npu: Run, base: Run, batch: int, workers: int) -> tuple[Point, ...]:
    return comparability.points(comparability.of_run(npu, batch, workers), comparability.of_run(base, batch, workers))


def _points(sides: Sides, batch: int, workers: int) -> tuple[Point, ...]:
    ours = comparability.of_run(sides.npu, batch, workers) if sides.npu else {}
    of_gpu = comparability.of_run(sides.gpu, batch, workers) if sides.gpu else None
    return comparability.points(ours, of_gpu or comparability.of_baseline(sides.baseline))


def _grade(sides: Sides, found: tuple[Point, ...]) -> Grade:
    if sides.gpu and sides.npu:
        return comparability.grade_of_runs(found)
    return sides.baseline.grade


def _stage(sides: Sides, segment: str) -> Stage:
    no_baseline = NO_GPU if sides.gpu is None else ""
    return Stage(
        segment,
        _median(sides.gpu, sides.plan, segment, no_baseline),
        _median(sides.npu, sides.plan, segment, sides.no_npu),
    )


def _median(run: Run | None, plan: Plan, segment: str, reason: str) -> Cell:
    if run is None:
        return Cell(reason=reason)
    case = run.case(plan.target_batch, plan.concurrency[0])
    if case is None or segment not in case.samples:
        return Cell(reason=run.not_measured.get(segment, "未测"), source=run.id)
    summary = case.summary(segment)
    if summary.p50 is None:
        return Cell(reason=f"样本不足（n={summary.n}）", source=run.id)
    return Cell(summary.p50, n=summary.n, source=run.id)


def _scores(sides: Sides) -> Iterator[Score]:
    target = sides.plan.targets.accuracy
    if target is None:
        return
    baseline = _score_of_baseline(sides, target.metric)
    npu = _score_of_run(sides.npu, target.metric, sides.no_npu)
    difference = npu.value - baseline.value if npu.value is not None and baseline.value is not None else None
    yield Score(
        metric=target.metric,
        direction=target.direction,
        baseline=baseline,
        npu=npu,
        difference=difference,
        threshold=judging.threshold(target),
        judgement=judging.score(target, npu, baseline, sides.npu),
    )


def _score_of_baseline(sides: Sides, metric: str) -> Cell:
    if sides.gpu is not None:
        return _score_of_run(sides.gpu, metric, NO_GPU)
    figure = sides.baseline.figure(metric)
    if figure is None:
        return Cell(reason=sides.baseline.reason or f"基线日志没有 {metric}")
    return Cell(figure.value, n=figure.n, source=str(figure.source) if figure.source else "")


def _score_of_run(run: Run | None, metric: str, reason: str) -> Cell:
    if run is None:
        return Cell(reason=reason)
    check = run.output_check
    result = check.result if check else {}
    if result.get("metric") != metric or not isinstance(result.get("value"), float | int):
        return Cell(reason=f"workload 的 check 没有给出 {metric}", source=run.id)
    return Cell(float(result["value"]), n=result.get("n"), source=run.id)
