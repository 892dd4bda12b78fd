"""What no measurement of the plan would be: a result of another plan, or of no real device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from npueval.measuring import case_specs
from npueval.plan import Plan
from npueval.runs import Run
from npueval.runs.cases import QUEUE


def unplanned(run: Run, plan: Plan) -> Iterator[str]:
    """What no measurement of this plan on a real device would be."""
    if not run.cases:
        yield "it has no case"
    if run.simulated:
        yield "made on a simulated device"
    if run.scope != "in-process":
        yield "timed from outside the process"
    yield from _other_cases(run, plan)
    yield from _other_protocol(run, plan)


def _other_cases(run: Run, plan: Plan) -> Iterator[str]:
    planned = {spec.empty().name for spec in case_specs(plan)}
    for name, count in Counter(case.name for case in run.cases).items():
        if name not in planned:
            yield f"{name}: no case of the plan"
        elif count > 1:
            yield f"{name}: stands there {count} times"
    for case in run.cases:
        if other := [name for name in case.samples if name not in (*plan.segments, QUEUE)]:
            yield f"{case.name}: {', '.join(other)}: no segment of the plan"


def _other_protocol(run: Run, plan: Plan) -> Iterator[str]:
    protocol: tuple[tuple[str, object, object], ...] = (
        ("unit", run.unit, plan.unit),
        ("segments", run.protocol.scope, plan.segments),
        ("iterations", run.protocol.iterations, plan.iterations),
        ("warm-up", run.protocol.warmup, plan.warmup),
        ("precision", f"{run.precision}/{run.protocol.precision_mode}", f"{plan.precision}/{plan.precision_mode}"),
        ("workload", run.workload.ref, plan.workload),
    )
    yield from (f"{what}: {mine!s:.80}, the plan says {wanted}" for what, mine, wanted in protocol if mine != wanted)
