"""What is looked for around the window, where looking costs the figures nothing."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from typing import Any

from npueval.devices import Device
from npueval.language import Text
from npueval.measuring import sentences
from npueval.measuring.loops import Watch
from npueval.pipeline import Passage, Pipeline
from npueval.runs.cases import Reading
from npueval.workloads import leaves, output_facts

# A device's own counter is exact; the resident memory of a process breathes by itself.
_LEAK_BYTES = {True: 1 << 20, False: 32 << 20}
_LEAK_PER_ITERATION = 4 << 10


def shape_watch(value: Any, odd: list[Any]) -> Watch:
    """A look at every output's shape that costs next to nothing; ``None`` where outputs have none to look at."""
    if hasattr(value, "shape"):
        expected = value.shape

        def look(output: Any) -> None:
            if output.shape != expected:
                odd.append(tuple(output.shape))

        return look
    if isinstance(value, tuple | list | dict):
        nested = [getattr(leaf, "shape", None) for leaf in leaves(value)]

        def look_inside(output: Any) -> None:
            found = [getattr(leaf, "shape", None) for leaf in leaves(output)]
            if found != nested:
                odd.append(found)

        return look_inside
    return None


def wrong_output(pipeline: Pipeline, raw: Any, cold: Passage, device: Device) -> Iterator[Text]:
    """What is wrong with the outputs before and after the window: other shapes, NaN, Inf."""
    with device.lane(own_stream=False) as lane:
        last = pipeline.walk(raw, lane, device.clock)
    first_facts, last_facts = output_facts(cold.output), output_facts(last.output)
    if [(f.shape, f.dtype) for f in first_facts] != [(f.shape, f.dtype) for f in last_facts]:
        yield sentences.SHAPE_CHANGED
    for when, facts in ((sentences.FIRST, first_facts), (sentences.LAST, last_facts)):
        nan, inf = sum(fact.nan for fact in facts), sum(fact.inf for fact in facts)
        if nan or inf:
            yield sentences.NOT_FINITE.filled({"when": when, "nan": nan, "inf": inf})


def not_delivered(output: Any, batch: int) -> Iterator[Text]:
    """Whether ``infer`` gave another number of items than went in; of a single item the batch dimension may go."""
    leading = [leaf.shape[0] for leaf in leaves(output) if len(getattr(leaf, "shape", ()))]
    one_each = isinstance(output, list | tuple) and len(output) == batch
    if batch > 1 and leading and batch not in leading and not one_each:
        yield sentences.NOT_DELIVERED.filled({"leading": leading[0], "batch": batch})


def leak(before: Reading, after: Reading, iterations: int, *, exact: bool) -> Iterator[Text]:
    """Whether clearly more memory is in use after the window than before it; ``exact``: by a device's own counter."""
    if before.value is None or after.value is None:
        return
    growth = after.value - before.value
    if growth > max(_LEAK_BYTES[exact], _LEAK_PER_ITERATION * iterations):
        yield sentences.LEAK.filled({"growth": f"{growth / 2**20:.0f}", "iterations": iterations})


def printed() -> int | None:
    """Bytes that have gone to stdout so far, where that is a file (as in the worker process)."""
    try:
        sys.stdout.flush()
        status = os.fstat(1)
    except (OSError, ValueError, AttributeError):
        # The workload has closed it, or put something else in its place.
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def prints(before: int | None, after: int | None) -> Iterator[Text]:
    """Whether the workload wrote to stdout between two readings of :func:`printed`."""
    if before is not None and after is not None and after > before:
        yield sentences.PRINTS.filled({"bytes": after - before})
