"""The contract of a log format, and the journal into which every format writes what it reads.

A format file holds three things: the needles (every line that matters holds one of them, so that the rest of a file is
skipped at the speed of a byte search), the patterns, and two sample lines that a generic test must find readable.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from npueval import metrics, numerals
from npueval.logged import Column, LoggedRun, Phase, Position, Series
from npueval.records import Citation, Fact, Grade

LONGEST_TEXT = 400
_HELD_OUT = re.compile(r"(?:val|valid|validation|eval|test|dev)(?:[_/ .-]|[A-Z]|$)", re.IGNORECASE)


Follower = Callable[[str], bool]


class Journal:
    """What has been read of one file so far; formats write into it while ``line`` and ``text`` say where they are.

    Facts that stand before a run (a header, a configuration dump) hold for the runs after them until the file states
    them anew.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.line, self.text = 0, ""
        self.runs: list[LoggedRun] = []
        self.follower: Follower | None = None
        self._header: dict[str, list[Fact]] = {}
        self._header_is_old = False
        self._stray: list[tuple[str, Fact]] = []
        self._current: dict[str, LoggedRun] = {}
        self._format: Format | None = None

    def at(self, line: int, text: str, format: Format) -> None:
        """Say which line is being read, for which format."""
        self.line, self.text, self._format = line, text, format

    def cite(self) -> Citation:
        """The current line."""
        return Citation(self.path, self.line, self.text.strip()[:LONGEST_TEXT])

    def fact(self, key: str, value: str) -> None:
        """A fact of the current run, or of those that follow where none has begun. A contradiction keeps both."""
        value = value.strip().strip("\"'").strip()
        if value.lower() in numerals.MISSING:
            return
        fact = Fact(value, self.cite())
        run = self._current.get(self._format.name) if self._format else None
        if run:
            run.learn(key, fact)
            return
        if self._header_is_old and key in self._header:
            self._header = {}
        self._header_is_old = False
        self._header.setdefault(key, []).append(fact)
        self._stray.append((key, fact))

    def doubt(self, text: str) -> None:
        """Something a reader of the current run must know."""
        self.run().doubts.setdefault(f"{text}（{self.path}:{self.line}）")

    def scale(self, metric: str, unit: str, why: str) -> None:
        """Whether a score is a ``fraction`` or a ``percent``, and how one can tell."""
        self.run().scales.setdefault(metric, (unit, why))

    def follow(self, reader: Follower) -> None:
        """Give the next lines, whatever they hold, to ``reader`` until it returns ``False``."""
        self.follower = reader

    def begin(self) -> LoggedRun:
        """Start a new run of the current format."""
        assert self._format is not None
        run = LoggedRun(self._format.name, self._format.grade, self.path, self.line, self.line)
        for key, facts in self._header.items():
            for fact in facts:
                run.learn(key, fact)
        self._header_is_old = True
        self.runs.append(run)
        self._current[self._format.name] = run
        return run

    def end(self, *, finished: bool = False) -> None:
        """The current run is over: whatever comes next belongs to another."""
        if self._format and (run := self._current.pop(self._format.name, None)):
            run.finished = run.finished or finished

    def run(self) -> LoggedRun:
        """The current run, begun if there is none."""
        assert self._format is not None
        return self._current.get(self._format.name) or self.begin()

    def close(self) -> list[LoggedRun]:
        """The runs that hold a value; facts printed in the midst of a run are given to it where it lacks them."""
        for run in self.runs:
            for key, fact in self._stray:
                if fact.source and run.first_line <= fact.source.line <= run.last_line:
                    run.facts.setdefault(key, fact)
        return [run for run in self.runs if run.series]

    def record(
        self, pairs: Iterable[tuple[str, Any]], *, phase: Phase = "train", epoch: float = -1.0, step: float = -1.0
    ) -> LoggedRun:
        """The values of one record. A training position before the last one is a restart: it begins another run."""
        assert self._format is not None
        run = self._current.get(self._format.name) or self.begin()
        position = (epoch, step)
        previous = run.positions.get(phase)
        if phase == "train" and previous is not None and position < previous:
            run = self.begin()
            run.restarted = True
        run.positions[phase] = position
        run.last_line = self.line
        for key, value in pairs:
            column = self._format.column(key)
            if column is not None:
                self._take(run, column, column.phase or phase, position, value)
        return run

    def _take(self, run: LoggedRun, column: Column, phase: Phase, position: Position, value: Any) -> None:
        number: float | None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = self._read(run, column, str(value))
            if number is None:
                return
        series = run.series.get((phase, column.metric))
        if series is None:
            series = run.series[phase, column.metric] = Series(column, phase)
        if not math.isfinite(number):
            series.refuse(self.cite())
        elif series.last == number and series.last_position == position != (-1, -1):
            run.repeats += 1
        else:
            series.add(number, position, self.line, self.text)

    def _read(self, run: LoggedRun, column: Column, value: str) -> float | None:
        try:
            found = numerals.read(value)
        except ValueError:
            run.doubts.setdefault(f"{column.metric} 的值 {value[:40]!r} 不是一个数，不采用（{self.path}:{self.line}）")
            return None
        if found is None or found.high is not None:
            return None
        if found.unit == "%":
            run.scales.setdefault(column.metric, ("percent", "带百分号"))
        return found.value


class Format(ABC):
    """One log format. ``grade`` is what its figures are worth at best."""

    name: ClassVar[str]
    needles: ClassVar[tuple[str, ...]]
    samples: ClassVar[tuple[str, str]]
    columns: ClassVar[Mapping[str, Column]] = {}
    grade: ClassVar[Grade] = Grade.C
    objects: ClassVar[bool] = False

    def __init__(self) -> None:
        self._known: dict[str, Column | None] = dict(self.columns)

    @abstractmethod
    def read(self, text: str, journal: Journal) -> bool:
        """Write what a line (a flat ``{…}`` for formats of ``objects``) says; ``False``: it is not of this format."""

    def column(self, key: str) -> Column | None:
        """The meaning of a key; ``None`` where it is of no interest."""
        try:
            return self._known[key]
        except KeyError:
            column = self._known[key] = self.guess(key) if len(self._known) < 4096 else None
            return column

    def guess(self, key: str) -> Column | None:
        """The meaning of a key that the format does not list, by its words: losses, errors and scores only."""
        kind = metrics.kind(key)
        if kind not in ("loss", "score", "error"):
            return None
        held_out = _HELD_OUT.match(key) is not None
        return Column(key.strip(), "scale?" if kind == "score" else "", phase="eval" if held_out else None)
