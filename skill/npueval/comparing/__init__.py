"""Hold the NPU against its baseline: only what is comparable gets a ratio, and only what has one a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from npueval.comparing import comparability, judging, sides
from npueval.comparing.plausibility import implausible, implausible_figures
from npueval.comparing.rows import Column, Sides, accuracy_rows, performance_rows, stage_rows
from npueval.comparing.sides import Side
from npueval.plaindata import versioned
from npueval.plan import Plan
from npueval.records import Baseline, Comparison, ComparisonPoint, ComparisonRow, Conclusion, Grade
from npueval.runs import Run

FORMAT = "npueval/comparison"
VERSION = 1


def compare(
    plan: Plan,
    npu: Sequence[Run],
    baseline: Baseline,
    *,
    cpu: Sequence[Run] = (),
    gpu: Sequence[Run] = (),
    brought: Baseline | None = None,
    reason_no_run: str = "",
) -> Comparison:
    """The comparison of one plan: rows with ratios or refusals, and the verdicts.

    Each column has at most one Run for each precision: ``npu`` (``reason_no_run`` says in Chinese why there is none),
    ``gpu`` what the user brought back (``brought``: figures of another tool, where there is no such Run), ``cpu`` Runs
    of the CPU; each fills its own column and no other. Verdicts are of the plan's first precision.
    """
    columns = {"npu": npu, "gpu": gpu, "cpu": cpu}
    all_sides = [
        _sides(each, columns, baseline, brought, reason_no_run, further=place > 0)
        for place, each in enumerate(plan.each())
    ]
    both = all_sides[0]
    rows = tuple(row for sides_of_one in all_sides for row in performance_rows(sides_of_one))
    column = both.baseline
    points: dict[str, tuple[ComparisonPoint, ...]] = {}
    for name in ("gpu", "cpu"):
        if found := both.points(name, both.keys()[0]):
            points[name] = found
    accuracies = tuple(score for sides_of_one in all_sides for score in accuracy_rows(sides_of_one, baseline))
    grade = _grade(rows, column)
    performance = judging.conclude_performance(rows, grade, comparability.named(points.get(column or "", ())))
    accuracy = judging.conclude_accuracy(accuracies)
    if both.npu.run is None:
        performance = accuracy = Conclusion("待定", both.npu.reason)
    measured = sides.at_precision(npu, plan.precision)
    return Comparison(
        run_id=measured.id if measured else None,
        baseline_column=column,
        grade=grade,
        rows=rows,
        stages=tuple(stage_rows(both)),
        accuracy_rows=accuracies,
        points=points,
        performance=performance,
        accuracy=accuracy,
        total=judging.conclude(_asked(plan, performance, accuracy)),
        doubts=tuple(dict.fromkeys(_doubts(all_sides, baseline, brought))),
    )


def _sides(
    plan: Plan,
    columns: Mapping[str, Sequence[Run]],
    baseline: Baseline,
    brought: Baseline | None,
    reason_no_run: str,
    *,
    further: bool,
) -> Sides:
    """The three columns of a plan of one precision."""
    runs = {name: sides.at_precision(held, plan.precision) for name, held in columns.items()}
    no_gpu = "待用户按 Mig_Readme §2.6 补采"
    no_cpu = "CPU 侧未测" if plan.baseline.cpu else "未要求 CPU 对照"
    npu = sides.of_run("npu", runs["npu"], reason_no_run or "NPU 侧未测", plan)
    logs = [log if sides.speaks_of(log, plan.precision) or not further else None for log in (brought, baseline)]
    gpu = sides.baseline_side("gpu", runs["gpu"], logs[0] or logs[1], no_gpu, plan)
    cpu = sides.baseline_side("cpu", runs["cpu"], logs[1], no_cpu, plan)
    return Sides(plan, npu, gpu, cpu, _baseline_column(gpu, cpu), further)


def to_data(comparison: Comparison) -> dict[str, Any]:
    """The JSON form of a comparison."""
    return versioned(FORMAT, VERSION, comparison)


def _baseline_column(gpu: Side, cpu: Side) -> Column | None:
    """The GPU's column; the CPU's only where the project's own log was written on a CPU and holds such figures."""
    if gpu.run or _has_performance(gpu):
        return "gpu"
    return "cpu" if cpu.run is None and _has_performance(cpu) else None


def _has_performance(side: Side) -> bool:
    named = ("latency_p50_ms", "latency_mean_ms", "throughput")
    return side.log is not None and any(side.log.figure(metric) for metric in named)


def _grade(rows: Sequence[ComparisonRow], column: Column | None) -> Grade:
    """The weakest evidence among the ratios of the rows that have a target."""
    judged = [row for row in rows if row.judgement] if column else []
    changes = [row.against_gpu if column == "gpu" else row.against_cpu for row in judged]
    grades = sorted(change.grade.value for change in changes if change.ratio is not None)
    return Grade(grades[-1]) if grades else Grade.NONE


def _asked(plan: Plan, performance: Conclusion, accuracy: Conclusion) -> list[Conclusion]:
    """What the plan asks for (both, where it names neither)."""
    kpis = set(plan.request.kpis)
    asked = [performance] if plan.request.performance or kpis & {"latency", "throughput"} else []
    asked += [accuracy] if plan.request.accuracy or "accuracy" in kpis else []
    return asked or [performance, accuracy]


def _doubts(all_sides: Sequence[Sides], baseline: Baseline, brought: Baseline | None) -> Iterator[str]:
    for side in (side for each in all_sides for side in (each.npu, each.gpu, each.cpu)):
        if side.run is not None:
            name = f"{side.column.upper()} {side.run.precision}"
            yield from filter(None, [side.unfinished()])
            told = (doubt.zh for doubt in side.run.all_doubts())
            yield from (f"{name}：{doubt}" for doubt in (*told, *implausible(side.run)))
    for source, name in ((baseline, "基线日志"), (brought, "GPU 结果")):
        if source is not None:
            yield from (f"{name}：{doubt}" for doubt in (*source.doubts, *implausible_figures(source)))
