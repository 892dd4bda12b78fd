"""What cannot be true of a Run that somebody brings: figures that no measurement gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npueval.runs import Run
from npueval.runs.cases import Case

TOLERATED = 1.05


def impossible(run: Run) -> Iterator[str]:
    """Every contradiction, in English: it refuses a file."""
    if not run.cases:
        yield "it has no case"
    for case in run.cases:
        yield from (f"{case.name}: {reason}" for reason in _case(case))


def _case(case: Case) -> Iterator[str]:
    if any((series <= 0).any() for series in case.samples.values()):
        yield "a duration of zero or less"
        return
    if len({len(series) for series in case.samples.values()}) > 1:
        yield "its segments have unequal numbers of samples"
        return
    if case.window_ns is not None and case.window_ns <= 0:
        yield "a window of no length"
    elif case.window_ns and case.load == "sequence" and case.n:
        busy = float(np.sum([series.sum() for series in case.samples.values()]))
        if busy > case.window_ns * TOLERATED:
            yield f"the samples add up to {busy / 1e9:.3g} s, the window is {case.window_ns / 1e9:.3g} s"
    batch = case.batch or 0
    if case.items > batch * max(1, case.n) * case.group * case.cards:
        yield f"{case.items} items out of {case.n} samples of {batch}"
    if batch < 1 or case.concurrency < 1 or case.cards < 1:
        yield "a batch, a concurrency or a number of cards below 1"
