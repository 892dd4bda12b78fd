"""What a log said: columns, series of values, and the runs found in a file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from npueval import metrics
from npueval.records import Citation, Direction, Fact, Grade

Phase = Literal["train", "eval", "infer"]
Position = tuple[float, float]
"""Epoch and step, −1 where not printed."""

MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
MOST_KEPT = 8192
UNKNOWN_LENGTH = 1 << 60
"""How many steps an epoch has whose end is printed and whose length is not."""
MOST_DIFFERING, MOST_DOUBTS, MOST_SERIES = 16, 40, 128


@dataclass(frozen=True)
class Column:
    """What one key of a record means.

    ``unit`` is a key of :data:`MILLISECONDS`, ``samples/s`` …, ``fraction``, ``percent``, ``scale?`` (a score of
    unknown scale) or empty; ``per`` says whose a rate is: ``card``, ``total`` or ``?``.
    """

    metric: str
    unit: str = ""
    per: str = ""
    phase: Phase | None = None

    @property
    def kind(self) -> metrics.Kind | None:
        """Loss, score, error, latency or throughput."""
        if self.unit in MILLISECONDS:
            return "latency"
        if self.unit in ("fraction", "percent", "scale?"):
            return "score"
        return "throughput" if self.unit.endswith("/s") else metrics.kind(self.metric)

    @property
    def direction(self) -> Direction:
        """Which values are the better ones."""
        return metrics.DIRECTIONS[self.kind or "loss"]


class Series:
    """The values of one metric in one run, every value counted, evenly thinned out beyond :data:`MOST_KEPT`.

    ``values``, ``lines``, ``epochs`` and ``steps`` run in parallel (an epoch or step that was not printed is −1); NaN
    and Inf are only counted. ``last_at`` and ``best_at`` are the line and its text.
    """

    def __init__(self, column: Column, phase: Phase) -> None:
        self.column, self.phase = column, phase
        self.count = 0
        self.not_finite = 0
        self.first_not_finite: Citation | None = None
        self.last_not_finite = 0
        self.last = math.nan
        self.last_position: Position = (-1.0, -1.0)
        self.last_at: tuple[int, str] = (0, "")
        self.best_at: tuple[int, str] = (0, "")
        self._higher = column.direction == "higher"
        self.best = -math.inf if self._higher else math.inf
        self.values: list[float] = []
        self.lines: list[int] = []
        self.epochs: list[float] = []
        self.steps: list[float] = []
        self._stride = 1

    def add(self, value: float, position: Position, line: int, text: str) -> None:
        """Take one finite value."""
        if not self.count % self._stride:
            self.values.append(value)
            self.lines.append(line)
            self.epochs.append(position[0])
            self.steps.append(position[1])
            self._thin_out()
        self.count += 1
        self.last, self.last_position, self.last_at = value, position, (line, text)
        if value > self.best if self._higher else value < self.best:
            self.best, self.best_at = value, self.last_at

    def extend(
        self,
        values: Sequence[float],
        epochs: Sequence[float],
        steps: Sequence[float],
        line: int,
        text_of: Callable[[int], str],
    ) -> None:
        """Take finite values of lines in a row, from ``line`` on; ``text_of`` gives the text of the i-th of them."""
        final = len(values) - 1
        if final == 0:
            self.add(values[0], (epochs[0], steps[0]), line, text_of(0))
            return
        chosen = slice(-self.count % self._stride, len(values), self._stride)
        self.values += values[chosen]
        self.lines += range(line, line + len(values))[chosen]
        self.epochs += epochs[chosen]
        self.steps += steps[chosen]
        self._thin_out()
        self.count += len(values)
        self.last, self.last_position = values[final], (epochs[final], steps[final])
        self.last_at = (line + final, text_of(final))
        best = max(values) if self._higher else min(values)
        if best > self.best if self._higher else best < self.best:
            index = values.index(best)
            self.best, self.best_at = best, (line + index, text_of(index))

    def _thin_out(self) -> None:
        while len(self.values) > MOST_KEPT:
            for kept in (self.values, self.lines, self.epochs, self.steps):
                del kept[1::2]
            self._stride *= 2

    def refuse(self, citation: Citation) -> None:
        """Count a NaN or Inf."""
        self.not_finite += 1
        self.last_not_finite = citation.line
        self.first_not_finite = self.first_not_finite or citation

    @property
    def ends_not_finite(self) -> bool:
        """Whether the last value printed was NaN or Inf."""
        return self.last_not_finite > self.last_at[0]

    @property
    def thinned(self) -> bool:
        """Whether only every second, fourth … value is kept."""
        return self._stride > 1


class Doubts(dict[str, None]):
    """Doubts in the order of the file, each once; of very many the first, and that there were more."""

    def __setitem__(self, doubt: str, nothing: None) -> None:
        known = doubt in self or len(self) < MOST_DOUBTS
        super().__setitem__(doubt if known else "还有更多存疑，没有一一列出", nothing)

    def setdefault(self, doubt: str, nothing: None = None) -> None:
        self[doubt] = nothing


@dataclass
class LoggedRun:
    """One run found in a file.

    ``facts`` holds the first statement of each, ``conflicts`` the first of every value of those that differ. ``scales``
    says of a score whether it is a fraction or a percent and why, ``counts`` on how many samples. ``oddities`` counts
    by metric the values that are no plain number. ``restarted``: its steps began again below those of a run before it;
    ``repeats`` counts values printed twice. ``epoch_length`` is how many steps an epoch has, 0 where that is not
    printed.
    """

    format: str
    grade: Grade
    path: str
    first_line: int = 0
    last_line: int = 0
    finished: bool = False
    restarted: bool = False
    facts: dict[str, Fact] = field(default_factory=dict)
    conflicts: dict[str, list[Fact]] = field(default_factory=dict)
    series: dict[tuple[str, str], Series] = field(default_factory=dict)
    scales: dict[str, tuple[str, str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    doubts: Doubts = field(default_factory=Doubts)
    oddities: dict[tuple[str, str], int] = field(default_factory=dict)
    positions: dict[str, Position] = field(default_factory=dict)
    repeats: int = 0
    epoch_length: int = 0
    stamp: str | None = ""
    day: int = 0

    def find(self, metric: str, phase: str | None = None) -> Series | None:
        """The series of a metric, of any phase unless one is asked for."""
        return next((s for (p, m), s in self.series.items() if m == metric and phase in (None, p)), None)

    @property
    def came_to_its_end(self) -> bool:
        """Whether its last step is the last of those that were planned."""
        step = self.positions.get("train", (-1.0, -1.0))[1]
        return self.fact("iterations") == f"{step:.0f}"

    def series_of(self, column: Column, phase: Phase) -> Series | None:
        """The series of a column, begun where there is none; ``None`` where the run holds too many."""
        name = (column.phase or phase, column.metric)
        series = self.series.get(name)
        if series is None and len(self.series) < MOST_SERIES:
            series = self.series[name] = Series(column, name[0])
        elif series is None:
            self.doubts.setdefault(f"指标超过 {MOST_SERIES} 个，只取前 {MOST_SERIES} 个")
        return series

    def trained_on(self, kind: str) -> bool:
        """Whether it is a training, and is known to have run on this kind of device (gpu, npu, cpu)."""
        return self.fact("device_kind") == kind and any(phase == "train" for phase, _ in self.series)

    def learn(self, key: str, fact: Fact) -> None:
        """Take a fact; one that contradicts an earlier one is kept beside it, the first statement of each."""
        held = self.facts.setdefault(key, fact)
        if _same(key, held.value, fact.value):
            return
        differing = self.conflicts.setdefault(key, [held])
        if len(differing) < MOST_DIFFERING and not any(_same(key, other.value, fact.value) for other in differing):
            differing.append(fact)

    def odd(self, metric: str, kind: str, doubt: str) -> None:
        """Doubt a value that is no plain number; of many of a kind the first is named and the others are counted."""
        seen = self.oddities[metric, kind] = self.oddities.get((metric, kind), 0) + 1
        if seen == 1:
            self.doubts.setdefault(doubt)

    def fact(self, key: str) -> str | None:
        """The value of a fact, or ``None``."""
        return self.facts[key].value if key in self.facts else None


def _same(key: str, one: str, other: str) -> bool:
    try:
        return one == other or float(one) == float(other)
    except ValueError:
        short, long = sorted((one.casefold(), other.casefold()), key=len)
        # A device's name may stand among more words, and alone.
        return short == long or (key == "device" and re.search(rf"\b{re.escape(short)}\b", long) is not None)
