"""What cannot be true of a Run that somebody brings: figures that no measurement of this plan gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import numpy as np

from npueval.measuring import case_specs
from npueval.plan import Plan
from npueval.runs import Run
from npueval.runs.cases import QUEUE, Case

TOLERATED = 1.05
LONGEST_NS = 30 * 24 * 3600 * 10**9
CLOCK_SKEW = timedelta(days=1)
LEAST_ALIKE = 100
LEAST_ALIKE_NS = 100_000
"""From how many samples, and of what length, none can be the same to the nanosecond as all the others."""
LONGEST_ID = 100


def impossible(run: Run, plan: Plan) -> Iterator[str]:
    """Every contradiction, in English: it refuses a file."""
    if not run.cases:
        yield "it has no case"
    if len(run.id) > LONGEST_ID:
        yield f"its id has {len(run.id)} characters"
    if run.simulated:
        yield "made on a simulated device"
    if run.scope != "in-process":
        yield "timed from outside the process"
    yield from _moment(run.created)
    yield from _not_planned(run, plan)
    for case in run.cases:
        yield from (f"{case.name}: {reason}" for reason in _case(case, run))


def moment(created: str) -> datetime | None:
    """The moment of a time stamp; ``None`` where the calendar has none such."""
    try:
        return datetime.strptime(created, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def _moment(created: str) -> Iterator[str]:
    at = moment(created)
    if at is None:
        yield f"{created} is no moment"
    elif at > datetime.now(timezone.utc) + CLOCK_SKEW:
        yield f"made in the future ({created}): is the clock of that host right?"


def _not_planned(run: Run, plan: Plan) -> Iterator[str]:
    planned = {spec.empty().name for spec in case_specs(plan)}
    for name, count in Counter(case.name for case in run.cases).items():
        if name not in planned:
            yield f"{name}: no case of the plan"
        elif count > 1:
            yield f"{name}: stands there {count} times"


def _case(case: Case, run: Run) -> Iterator[str]:
    if case.precision != run.precision:
        yield f"its precision is {case.precision}, that of the Run {run.precision}"
    series = [*case.samples.items(), *case.warmup.items()]
    if any((each < (name != QUEUE)).any() or (each > LONGEST_NS).any() for name, each in series):
        yield "a duration of zero or less, or of more than 30 days"
        return
    lengths = {len(each) for each in (*case.samples.values(), case.events, case.enqueue) if each is not None}
    if len(lengths) > 1:
        yield f"its segments have unequal numbers of samples ({', '.join(map(str, sorted(lengths)))})"
        return
    yield from _counts(case, run)
    yield from _times(case)


def _counts(case: Case, run: Run) -> Iterator[str]:
    wanted = -(-run.protocol.iterations // case.concurrency) * case.concurrency
    if case.n > wanted or (case.complete and case.n < run.protocol.iterations):
        yield f"{case.n} samples, the protocol has {run.protocol.iterations}"
    if any(len(series) > run.protocol.warmup for series in case.warmup.values()):
        yield f"more warm-up samples than {run.protocol.warmup}"
    finished = (case.batch or 0) * case.n * case.group
    if not finished <= case.items <= finished * case.cards:
        yield f"{case.items} items out of {case.n} samples of {case.group} × {case.batch} on {case.cards} card(s)"
    if case.streamed_items and case.streamed_items != finished * case.cards:
        yield f"{case.streamed_items} streamed items, not {finished * case.cards}"


def _times(case: Case) -> Iterator[str]:
    if not case.n:
        return
    if case.window_ns is None or not 0 < case.window_ns <= LONGEST_NS:
        yield "a window of no length, or of more than 30 days"
    elif case.load != "open":
        busy = float(np.sum([series.sum(dtype=np.float64) for series in case.samples.values()])) / case.concurrency
        if busy > case.window_ns * TOLERATED:
            yield f"the samples add up to {busy / 1e9:.3g} s, the window is {case.window_ns / 1e9:.3g} s"
    if case.streamed_items and not 0 < (case.streamed_ns or 0) <= LONGEST_NS:
        yield "a streamed window of no length, or of more than 30 days"
    whole = np.sum(list(case.samples.values()), axis=0)
    if case.n >= LEAST_ALIKE and whole[0] >= LEAST_ALIKE_NS and (whole == whole[0]).all():
        yield f"all {case.n} samples take {whole[0]} ns to the nanosecond"
