"""The timed loops. Between two readings of the clock stands the user's call and nothing that allocates.

A step's end is the next step's start, so the segments of an iteration add up to its end-to-end time exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from npueval.devices import Clock, Lane, Timer
from npueval.measuring.tape import Tape
from npueval.pipeline import Scoped, Step

EVENTS = "events"
ENQUEUE = "enqueue"
_LEFT_OUT = "left out "
Watch = Callable[[Any], Any] | None
Loop = Callable[[Iterable[int]], None]


@dataclass(frozen=True)
class Timed:
    """A call, the column of its durations, and whether the device's own clock is to time it too."""

    call: Callable[[Any], Any]
    column: memoryview
    by_device: bool


def column_names(scoped: Scoped, lane: Lane, *, queue: bool = False) -> list[str]:
    """The columns that a tape needs for these steps in this lane."""
    names = ["queue"] if queue else []
    names += [_column(step, scoped) for step in scoped.body]
    if lane.synchronize is not None and "infer" in scoped.timed:
        names += [ENQUEUE, *([EVENTS] if lane.timer else [])]
    return names


def is_sample(column: str) -> bool:
    """Whether a column holds a timed segment."""
    return column not in (EVENTS, ENQUEUE) and not column.startswith(_LEFT_OUT)


def make_loop(scoped: Scoped, value: Any, lane: Lane, clock: Clock, tape: Tape, group: int, watch: Watch) -> Loop:
    """The loop that fits the lane; each row that it is given becomes one sample of ``group`` iterations."""
    steps = tuple(
        Timed(_grouped(step.call, group), tape.columns[_column(step, scoped)], step.segment == "infer")
        for step in scoped.body
    )
    if lane.synchronize is None:
        return lambda rows: _host_loop(tuple((s.call, s.column) for s in steps), value, clock.now, watch, rows)
    enqueue = tape.columns.get(ENQUEUE)
    timer, events = (lane.timer, tape.columns[EVENTS]) if EVENTS in tape.columns else (None, None)
    synchronize = lane.synchronize
    return lambda rows: _device_loop(steps, value, clock.now, watch, rows, synchronize, enqueue, timer, events)


def streamed_loop(scoped: Scoped, value: Any) -> Callable[[int], None]:
    """The same steps without a clock or a synchronise between them, so many times over."""
    calls = tuple(step.call for step in scoped.body)

    def loop(iterations: int) -> None:
        for _ in range(iterations):
            passed = value
            for call in calls:
                passed = call(passed)

    return loop


def _host_loop(
    steps: tuple[tuple[Callable[[Any], Any], memoryview], ...],
    raw: Any,
    now: Callable[[], int],
    watch: Watch,
    rows: Iterable[int],
) -> None:
    for row in rows:
        value = raw
        before = now()
        for call, column in steps:
            value = call(value)
            after = now()
            column[row] = after - before
            before = after
        if watch is not None:
            watch(value)


def _device_loop(
    steps: tuple[Timed, ...],
    raw: Any,
    now: Callable[[], int],
    watch: Watch,
    rows: Iterable[int],
    synchronize: Callable[[], None],
    enqueue: memoryview | None,
    timer: Timer | None,
    events: memoryview | None,
) -> None:
    for row in rows:
        value = raw
        synchronize()
        before = now()
        for step in steps:
            if step.by_device and timer is not None:
                timer.start()
                value = step.call(value)
                timer.stop()
            else:
                value = step.call(value)
            if step.by_device and enqueue is not None:
                enqueue[row] = now() - before
            synchronize()
            after = now()
            step.column[row] = after - before
            before = after
        if timer is not None and events is not None:
            events[row] = timer.elapsed_ns()
        if watch is not None:
            watch(value)


def _column(step: Step, scoped: Scoped) -> str:
    return step.segment if step.segment in scoped.timed else _LEFT_OUT + step.segment


def _grouped(call: Callable[[Any], Any], group: int) -> Callable[[Any], Any]:
    if group == 1:
        return call

    def repeated(value: Any) -> Any:
        result = None
        for _ in repeat(None, group):
            result = call(value)
        return result

    return repeated


class Planned:
    """The rows of one lane of a closed load, in order; ``last`` is the row that was given out last."""

    def __init__(self, rows: range) -> None:
        self._rows = rows
        self._iterator = iter(rows)

    def __iter__(self) -> Iterator[int]:
        return self._iterator

    @property
    def last(self) -> int:
        """Asked for only after a failure, so that giving out a row costs nothing."""
        return self._rows[len(self._rows) - operator.length_hint(self._iterator) - 1]


class Arrivals:
    """The rows of an open load, shared between lanes: each is given out when it is due or as soon as a lane is free.

    What a request waited from its scheduled time is written to the ``queue`` column.
    """

    def __init__(self, rows: Iterator[int], schedule: list[int], clock: Clock, queue: memoryview) -> None:
        self._rows, self._schedule, self._clock, self._queue = rows, schedule, clock, queue
        self.last = 0

    def __iter__(self) -> Iterator[int]:
        for row in self._rows:
            self.last = row
            due = self._schedule[row]
            self._clock.wait_until(due)
            self._queue[row] = self._clock.now() - due
            yield row
