"""One timed window: every lane works through its rows; an iteration that fails is kept, and tried again."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from npueval.devices import Clock
from npueval.measuring.loops import Arrivals, Loop, Planned
from npueval.measuring.tape import Tape
from npueval.runs.cases import Failure
from npueval.workloads.loading import line_in, raised

RETRIES = 2
Source = Planned | Arrivals


@dataclass
class Outcome:
    """How a lane's window went: its frame on the clock, failed attempts, repeated ones, and what ended it early."""

    started: int = 0
    ended: int = 0
    failures: list[Failure] = field(default_factory=list)
    retries: int = 0
    error: str | None = None


def drive(loop: Loop, source: Source, tape: Tape, clock: Clock, blame: Path) -> Outcome:
    """Run the loop over its rows. A failed row is tried twice more; then, or when trying is pointless, it ends."""
    outcome = Outcome(started=clock.now())
    rows: Iterator[int] = iter(source)
    attempts: dict[int, int] = {}
    while (error := _attempt(loop, rows)) is not None:
        row = source.last
        tape.clear(row)
        outcome.failures.append(Failure(row, said(error, blame)))
        attempts = {row: attempts.get(row, 0) + 1}
        if is_final(error) or attempts[row] > RETRIES:
            outcome.error = outcome.failures[-1].error
            break
        outcome.retries += 1
        rows = chain([row], rows)
    outcome.ended = clock.now()
    return outcome


def _attempt(loop: Loop, rows: Iterable[int]) -> BaseException | None:
    try:
        loop(rows)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything; it is kept
        return error
    return None


def is_final(error: BaseException) -> bool:
    """Whether trying again is pointless."""
    return isinstance(error, SystemExit) or is_out_of_memory(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the host or the device ran out of memory; torch and its backends have several types for it."""
    known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return known or (isinstance(error, RuntimeError) and "out of memory" in str(error).lower())


def said(error: BaseException, blame: Path) -> str:
    """What an error says, with its line in the user's file."""
    line = line_in(blame, error)
    text = f"out of memory: {raised(error)}" if is_out_of_memory(error) else raised(error)
    return f"{text} ({blame.name}:{line})" if line else text


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Set aside what is alive now (frameworks, model), so that the collections to come have little to do."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No garbage before, and no collection inside."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
