"""The table of the fifth part: one row for every figure that the tests are going to give, with what it must reach."""

from __future__ import annotations

from collections.abc import Iterator

from npueval import acceptance
from npueval.language import Lang, Text, joined, one_line, same
from npueval.plan import Plan
from npueval.records import Direction
from npueval.triggers.answers import Decision, Table

_HEADS = (
    Text("指标", "metric"),
    Text("精度格式", "precision"),
    Text("batch 与负载", "batch and load"),
    Text("基线", "baseline"),
)
_TAIL = (Text("比值", "ratio"), Text("目标", "target"), Text("是否达标", "met"))
_MEASURED = {
    "npu": Text("NPU（迁移后）", "NPU"),
    "cuda": Text("CUDA（计划的设备）", "CUDA (the plan's device)"),
    "cpu": Text("CPU（计划的设备）", "CPU (the plan's device)"),
}
_WORKERS = Text("{batch}，并发 {value}", "{batch}, concurrency {value}")
_ARRIVALS = Text("{batch}，{value} 请求/s", "{batch}, {value} requests/s")
_CHECKED = Text("精度指标（workload 的 check 给出）", "accuracy (as check of the workload gives it)")
_NO_TARGET = Text("未设目标", "none set")
_OPEN = Text("待测", "to be measured")
Row = tuple[Text, Text]
"""A metric and its target."""


def table(plan: Plan, decision: Decision, lang: Lang) -> Table:
    """Every metric of the target case with its target, then in the other cases and at the other precisions."""
    heads = (*_HEADS, _MEASURED[plan.device_kind], *_TAIL)
    rows = [
        (metric, same(precision), case, _OPEN, _OPEN, _OPEN, target, _OPEN)
        for precision in plan.precisions
        for place, case in enumerate(_cases(plan))
        for metric, target in _metrics(plan, decision, first=place == 0, judged=precision == plan.precision)
    ]
    return Table(
        tuple(text.say(lang) for text in heads), tuple(tuple(one_line(text.say(lang)) for text in row) for row in rows)
    )


def _cases(plan: Plan) -> Iterator[Text]:
    """Every batch under every load, that of the targets first."""
    loads: list[tuple[Text, float | None]] = [(_WORKERS, None)]
    loads += [(_WORKERS, count) for count in plan.concurrency[1:]]
    loads += [(_ARRIVALS, rate) for rate in plan.arrival_rates]
    for batch in (plan.target_batch, *sorted(set(plan.batches) - {plan.target_batch})):
        for load, value in loads:
            yield same(str(batch)) if value is None else load.filled({"batch": batch, "value": f"{value:g}"})


def _metrics(plan: Plan, decision: Decision, *, first: bool, judged: bool) -> Iterator[Row]:
    """What is triggered: performance in every case, accuracy once a precision."""
    if decision.performance.met:
        yield from _performance(plan, judged=first and judged)
    if first and (decision.accuracy.met or plan.targets.accuracy):
        yield _accuracy(plan, judged=judged)


def _performance(plan: Plan, *, judged: bool) -> Iterator[Row]:
    metrics: tuple[tuple[str, Text, str, Direction], ...] = (
        ("latency_p50_ms", Text("延迟 p50 (ms)", "latency p50 (ms)"), "ms", "lower"),
        ("latency_p95_ms", Text("延迟 p95 (ms)", "latency p95 (ms)"), "ms", "lower"),
        ("throughput", Text(f"吞吐 ({plan.unit})", f"throughput ({plan.unit})"), plan.unit, "higher"),
    )
    for metric, label, unit, direction in metrics:
        yield label, _all(acceptance.performance(metric, unit, direction, plan.targets) if judged else ())


def _accuracy(plan: Plan, *, judged: bool) -> Row:
    target = plan.targets.accuracy
    if target is None:
        return _CHECKED, _NO_TARGET
    return same(target.metric), _all(acceptance.accuracy(target) if judged else ())


def _all(bounds: tuple[Text, ...]) -> Text:
    return joined(bounds, "；", "; ") if bounds else _NO_TARGET
