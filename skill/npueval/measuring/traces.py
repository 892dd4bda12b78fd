"""Read a profiler's Chrome trace: which operators ran on the device in which iteration, and is an iteration missing?"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from npueval.runs.conditions import Operator

ITERATION = "npueval::iteration"
MOST_OPERATORS = 10
Works = Callable[[Mapping[str, Any], str], bool]


@dataclass(frozen=True)
class Row:
    """One operator at work, in ns; ``own`` is without the operators that it called."""

    name: str
    start: int
    own: int


@dataclass(frozen=True)
class Seen:
    """What a trace holds of the iterations that it was to hold.

    ``complete`` iterations have as many rows as most have; ``lost_first`` counts the ones before the first of those.
    ``operators`` and ``total_ns`` are of the complete ones only.
    """

    complete: int
    lost_first: int
    total_ns: int
    operators: tuple[Operator, ...]


def read(path: Path, works: Works, iterations: int) -> Seen:
    """Sort the device's rows into iterations; ``ValueError`` or ``KeyError`` where the file is no trace."""
    data = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    events = data["traceEvents"] if isinstance(data, dict) else data
    return _seen(_spans(events), list(_rows(events, works)), iterations)


def _seen(spans: Sequence[tuple[int, int]], rows: Sequence[Row], iterations: int) -> Seen:
    held: list[list[Row]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    for row in rows:
        place = bisect_right(starts, row.start) - 1
        if place >= 0 and row.start <= spans[place][1]:
            held[place].append(row)
    sizes = Counter(len(each) for each in held if each)
    # The most common number of rows is that of an iteration which nothing was lost of; of two, the larger.
    usual = max(sizes, key=lambda size: (sizes[size], size), default=0)
    whole = [each for each in held if usual and len(each) >= usual]
    first = sum(1 for _ in takewhile(lambda each: len(each) < usual, held)) if whole else 0
    # Where the trace lacks the mark of an iteration, it was the first that was not recorded yet.
    lost = first + max(0, iterations - len(spans)) if whole else 0
    return Seen(len(whole), lost, sum(row.own for each in whole for row in each), _top(whole))


def _top(whole: Sequence[Sequence[Row]]) -> tuple[Operator, ...]:
    counts: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for row in (row for each in whole for row in each):
        counts[row.name] += 1
        times[row.name] += row.own
    return tuple(Operator(name, counts[name], time) for name, time in times.most_common(MOST_OPERATORS))


def _spans(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Start and end of each iteration on the host; the device's own copy of a mark covers only its kernels."""
    marks = (event for event in events if event.get("name") == ITERATION and event.get("ph") == "X")
    return sorted(_bounds(mark) for mark in marks if mark.get("cat") != "gpu_user_annotation")


def _rows(events: Sequence[Mapping[str, Any]], works: Works) -> Iterator[Row]:
    processes = {
        event["pid"]: str(event["args"].get("name"))
        for event in events
        if event.get("ph") == "M" and event.get("name") == "process_name"
    }
    lanes: dict[tuple[Any, Any], list[tuple[int, int, str]]] = {}
    for event in events:
        if event.get("ph") == "X" and event["name"] != ITERATION and works(event, processes.get(event["pid"], "")):
            start, end = _bounds(event)
            lanes.setdefault((event["pid"], event["tid"]), []).append((start, end, event["name"]))
    for lane in lanes.values():
        yield from _own(sorted(lane, key=lambda entry: (entry[0], -entry[1])))


def _own(lane: Sequence[tuple[int, int, str]]) -> Iterator[Row]:
    """The rows of one thread or stream, each without the time of those that lie within it."""
    inner = [0] * len(lane)
    around: list[int] = []
    for place, (start, end, _) in enumerate(lane):
        while around and lane[around[-1]][1] <= start:
            around.pop()
        if around:
            inner[around[-1]] += end - start
        around.append(place)
    for (start, end, name), called in zip(lane, inner, strict=True):
        yield Row(name, start, max(0, end - start - called))


def _bounds(event: Mapping[str, Any]) -> tuple[int, int]:
    """Start and end in ns; a trace counts µs, and Ascend's writes the start as text lest digits are lost."""
    whole, _, part = str(event["ts"]).partition(".")
    start = int(whole) * 1000 + int(f"{part:0<3.3}")
    return start, start + round(float(event["dur"]) * 1000)
