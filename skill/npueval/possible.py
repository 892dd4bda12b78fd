"""What cannot be true of a Run that lies in a file: figures that no measurement gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any

import numpy as np

from npueval.devices import KINDS
from npueval.logs import hardware
from npueval.runs import Run
from npueval.runs.cases import QUEUE, SEGMENTS, Case

TOLERATED = 1.05
LONGEST_NS = 30 * 24 * 3600 * 10**9
CLOCK_SKEW = timedelta(days=1)
LEAST_ALIKE = 100
LEAST_ALIKE_NS = 100_000
"""From how many samples, and of what length, none can be the same to the nanosecond as all the others."""
LONGEST_NAME = 200
MOST_BYTES = 1 << 50
MOST_NAMED = 3
_NAMED_SO = {"cuda": "gpu", "npu": "npu"}


def impossible(run: Run) -> Iterator[str]:
    """Every contradiction of an in-process Run with itself, in English: it refuses a file."""
    yield from _names(run)
    yield from _device(run)
    yield from _moment(run.created)
    yield from _cold_start(run)
    yield from _accuracy(run)
    for case in run.cases:
        yield from (f"{case.name}: {reason}" for reason in (*_conditions(case, run), *_case(case, run)))


def unbelievable(run: Run) -> str:
    """Why the figures of a Run cannot be used although the file is whole; empty where they can."""
    measured_here = run.scope == "in-process" and not run.simulated
    found = list(islice(impossible(run), MOST_NAMED)) if measured_here else []
    return f"it cannot be true: {'; '.join(found)}" if found else ""


def _names(run: Run) -> Iterator[str]:
    """What stands in cells and on terminals is one line, and no story."""
    device, workload = run.device, run.workload
    versions = run.environment.get("packages")
    if versions and not (isinstance(versions, Mapping) and all(isinstance(each, str) for each in versions.values())):
        yield "its packages are no table of versions"
    names = {"id": run.id, "device": device.name, "model of the device": device.model, "workload": workload.ref}
    for what, name in {**names, "release": run.tool}.items():
        if len(name) > LONGEST_NAME or "\n" in name:
            yield f"its {what} has {len(name)} characters, or more than one line"


def _device(run: Run) -> Iterator[str]:
    """A name, a model or a framework of another kind of device than the one that it says."""
    device = run.device
    if device.kind not in KINDS:
        yield f"measured on {device.kind!r}"
    kind, _, number = device.name.partition(":")
    if kind != device.kind or (number or None) != (None if device.index is None else str(device.index)):
        yield f"its device is called {device.name} and is {device.kind}, number {device.index}"
    # A processor's name may hold that of its graphics.
    if device.kind in _NAMED_SO and hardware.kind(device.model) not in (None, _NAMED_SO[device.kind]):
        yield f"{device.model} is no {_NAMED_SO[device.kind].upper()}"
    torch = _packages(run).get("torch")
    if device.kind == "cuda" and str(torch).endswith("+cpu"):
        yield f"torch {torch} cannot use {device.name}"


def moment(created: str) -> datetime | None:
    """The moment of a time stamp; ``None`` where the calendar has none such."""
    try:
        return datetime.strptime(created, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def _packages(run: Run) -> Mapping[str, Any]:
    held = run.environment.get("packages")
    return held if isinstance(held, Mapping) else {}


def _moment(created: str) -> Iterator[str]:
    at = moment(created)
    if at is None:
        yield f"{created} is no moment"
    elif at > datetime.now(timezone.utc) + CLOCK_SKEW:
        yield f"made in the future ({created}): is the clock of that host right?"


def _cold_start(run: Run) -> Iterator[str]:
    once = run.cold_start
    known = (run.floor_ns, once.load_ns, once.first_inference_ns, *once.first_hits.values())
    if any((each or 0) > LONGEST_NS for each in known):
        yield "a cold start or a floor of more than 30 days"


def _accuracy(run: Run) -> Iterator[str]:
    """What the workload's check answered is a figure of the report; one that is no number makes the Run invalid."""
    result = run.output_check.result if run.output_check else {}
    value, n = result.get("value"), result.get("n")
    if value is not None and not isinstance(value, float | int) and run.valid:
        yield f"its output check gives {value!r:.80} for a figure, and the Run is valid"
    if n is not None and (not isinstance(n, int) or isinstance(n, bool) or not 0 < n < MOST_BYTES):
        yield f"its output check looked at {n!r:.80} outputs"


def _conditions(case: Case, run: Run) -> Iterator[str]:
    if case.precision != run.precision:
        yield f"its precision is {case.precision}, that of the Run {run.precision}"
    if case.complete and case.cards != run.cards:
        yield f"measured on {case.cards} cards, the Run on {run.cards}"
    measured = [name for name in case.samples if name != QUEUE]
    if other := [name for name in case.samples if name not in (*SEGMENTS, *_queue(case))]:
        yield f"{', '.join(other)}: no segment"
    if case.complete and set(case.warmup) != set(measured):
        yield f"warm-up of {', '.join(case.warmup) or 'nothing'}, samples of {', '.join(measured)}"
    held = [getattr(case.memory, item.name).value for item in fields(case.memory)] if case.memory else []
    if any(value is not None and not 0 <= value <= MOST_BYTES for value in held):
        yield "memory of less than nothing, or of more than a PiB"


def _queue(case: Case) -> tuple[str, ...]:
    return (QUEUE,) if case.load == "open" else ()


def _case(case: Case, run: Run) -> Iterator[str]:
    series = [*case.samples.items(), *case.warmup.items()]
    own = [(QUEUE, each) for each in (case.events, case.enqueue) if each is not None]
    if any((each < (name != QUEUE)).any() or (each > LONGEST_NS).any() for name, each in (*series, *own)):
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
    # Of cards that were broken off the samples are those that all have, the items everybody's.
    most = finished * case.cards if case.complete or case.cards == 1 else case.items
    if not finished <= case.items <= most:
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
        # Of several cards each sample is that of the slowest: in turns they add up to all their windows.
        if busy > case.window_ns * case.cards * TOLERATED:
            yield f"the samples add up to {busy / 1e9:.3g} s, the window is {case.window_ns / 1e9:.3g} s"
    if case.streamed_items and not 0 < (case.streamed_ns or 0) <= LONGEST_NS:
        yield "a streamed window of no length, or of more than 30 days"
    whole = np.sum(list(case.samples.values()), axis=0)
    if case.n >= LEAST_ALIKE and whole[0] >= LEAST_ALIKE_NS and (whole == whole[0]).all():
        yield f"all {case.n} samples take {whole[0]} ns to the nanosecond"
