"""The book into which the log formats write what they read: it tells runs apart and keeps the place of everything."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import zip_longest
from math import isfinite
from typing import Any, Protocol

from npueval.logs import numerals, written
from npueval.logs.logged import Column, LoggedRun, Phase, Position
from npueval.logs.quoting import quote, visible
from npueval.logs.shapes import STAMP, Batch, Spans
from npueval.logs.statements import Statements
from npueval.logs.streams import Unreadable
from npueval.records import Citation, Fact, Grade

LONGEST_SILENCE_DAYS = 2
MOST_RUNS = 2000
_TELLING = 0.05
"""A product is only then seen to be a whole number where the digits printed leave no more doubt than this."""
NOWHERE: Position = (-1.0, -1.0)
_DATE = re.compile(r"(20\d\d)[-/](\d\d)[-/](\d\d)")
_YEARLESS = re.compile(r"(?<!\d)(?<![/-])\d\d[-/]\d\d \d\d:\d\d:\d\d")


class Reading(Protocol):
    """What the book must know of the format that writes into it."""

    @property
    def name(self) -> str: ...

    @property
    def grade(self) -> Grade: ...

    def column(self, key: str) -> Column | None: ...


Follower = Callable[[str], bool]


class Logbook:
    """What has been read of one file so far; formats write into it while ``line`` and ``text`` say where they are.

    ``cut``: the line may have gone on beyond its ``text``.

    Facts that stand before a run (a header, a configuration dump) hold for the runs after them until the file states
    them anew.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.line, self.text = 0, ""
        self.runs: list[LoggedRun] = []
        self.cut = False
        self.follower: Follower | None = None
        self.document: Sequence[str] = ()
        self.spread: Mapping[str, tuple[int, str]] | None = None
        self._statements = Statements(path)
        self._current: dict[str, LoggedRun] = {}
        self._format: Reading | None = None

    def at(self, line: int, text: str, format: Reading) -> None:
        """Say which line is being read, for which format."""
        self.line, self.text, self._format = line, text, format

    def cite(self) -> Citation:
        """The current line."""
        return quote(self.path, self.line, self.text)

    def fact(self, key: str, value: str, said: tuple[int, str] | None = None) -> None:
        """A fact of the current run, or of those that follow where none has begun. A contradiction keeps both.

        ``said``: the line, with its text, where it was said, if that is not the current one.
        """
        value = visible(value.strip().strip("\"'").strip())
        if value.lower() in numerals.MISSING:
            return
        fact = Fact(value, quote(self.path, *(said or (self.line, self.text)), value))
        run = self._current.get(self._format.name) if self._format else None
        if run:
            run.learn(key, fact)
        else:
            self._statements.fact(self.line, key, fact)

    def warn(self, text: str, *, broken: bool) -> None:
        """Something that was said around here, by whatever program: the run that it falls into is doubtful, and not
        finished where it is ``broken``."""
        self._statements.warn(self.line, text, broken=broken, runs=len(self.runs))

    def doubt(self, text: str) -> None:
        """Something a reader of the current run must know."""
        self.run().doubts.setdefault(f"{text}（{self.path}:{self.line}）")

    def scale(self, metric: str, unit: str, why: str) -> None:
        """Whether a score is a ``fraction`` or a ``percent``, and how one can tell."""
        self.run().scales.setdefault(metric, (unit, why))

    def counted(self, pairs: Iterable[tuple[str, Any]], n: int) -> None:
        """The record's scores were taken on ``n`` samples; one that makes a whole number of them is a fraction."""
        for key, value in pairs:
            column = self._format.column(key) if self._format else None
            if column is None or column.kind != "score":
                continue
            self.run().counts[column.metric] = n
            text = str(value)
            uncertainty = n * 0.5 * 10.0 ** -len(text.partition(".")[2])
            hits = float(text) * n
            if uncertainty <= _TELLING and abs(hits - round(hits)) <= max(uncertainty, 1e-6) and float(text) <= 1:
                self.scale(column.metric, "fraction", f"{float(text):.6g} × {n} = {hits:.2f}，是整数个样本")

    def seek(self, key: str, element: int | None = 0) -> None:
        """Cite the line of a key of a JSON document, or that of an element of the list that is its value."""
        first = next((i for i, line in enumerate(self.document) if f'"{key}"' in line), 0)
        spread = self.document[first].rstrip().endswith("[")
        self.line = first + 1 + (element + 1 if spread and element is not None else 0)
        self.text = self.document[min(self.line, len(self.document)) - 1]

    def follow(self, reader: Follower) -> None:
        """Give the next lines, whatever they hold, to ``reader`` until it returns ``False``."""
        self.follower = reader

    def begin(self) -> LoggedRun:
        """Start a new run of the current format."""
        assert self._format is not None
        if len(self.runs) >= MOST_RUNS:
            why = f"步数来回跳动，超过 {MOST_RUNS} 次：像是几个进程写在一个文件里，分不清各次运行"
            raise Unreadable(why, path=self.path)
        run = LoggedRun(self._format.name, self._format.grade, self.path, self.line, self.line)
        if dated := _DATE.search(self.text[:80]):
            run.learn("date", Fact("-".join(dated.groups()), self.cite()))
        elif _YEARLESS.search(self.text[:40]):
            run.doubts.setdefault("时间戳没有年份，测量日期未知")
        self._days_later(run)
        self.runs.append(run)
        self._current[self._format.name] = run
        return run

    def end(self, *, finished: bool = False) -> None:
        """The current run is over: whatever comes next belongs to another."""
        if self._format and (run := self._current.pop(self._format.name, None)):
            run.finished = run.finished or finished

    def divide(self) -> None:
        """All current runs are over: something else begins."""
        self._current.clear()

    def section(self) -> None:
        """A command, a heading or a new configuration: nothing stated before holds for what follows."""
        self.divide()
        self._statements.section(self.line)

    def run(self) -> LoggedRun:
        """The current run, begun if there is none."""
        assert self._format is not None
        return self._current.get(self._format.name) or self.begin()

    def stated(self) -> list[tuple[str, Fact]]:
        """Every fact that belongs to no run, in the order of the file."""
        return self._statements.all()

    def close(self) -> list[LoggedRun]:
        """The runs that hold a value, each with the conditions that the file states for it."""
        found = sorted((run for run in self.runs if run.series), key=lambda run: run.first_line)
        end = 0
        for run, following in zip_longest(found, found[1:]):
            run.finished = run.finished or run.came_to_its_end
            self._statements.complete(run, end, run.last_line if following else sys.maxsize)
            self._statements.doubt(run, end, following.first_line if following else sys.maxsize)
            end = max(end, run.last_line)
        for run in found:
            for (metric, kind), count in run.oddities.items():
                if count > 1:
                    run.doubts.setdefault(f"{metric} 共有 {count} 个值{kind}")
        return found

    def record(
        self, pairs: Iterable[tuple[str, Any]], *, phase: Phase = "train", epoch: float = -1.0, step: float = -1.0
    ) -> LoggedRun:
        """The values of one record. A training position before the last one is a restart: it begins another run."""
        form = self._format
        assert form is not None
        run = self._current.get(form.name) or self.begin()
        here = (epoch, step)
        if phase == "train" and run.finished:
            run = self.begin()
        elif phase == "train" and here < run.positions.get(phase, here) and _before(here, run.positions[phase]):
            after_its_end = run.came_to_its_end
            run = self.begin()
            run.restarted = not after_its_end
        elif run.stamp is not None and self.text[:STAMP] != run.stamp and self._days_later(run):
            run = self.begin()
        if here != NOWHERE:
            run.positions[phase] = here
        for key, value in pairs:
            column = form.column(key)
            if column is not None:
                if self.spread is not None:
                    self.line, self.text = self.spread.get(key, (self.line, self.text))
                self._take(run, column, phase, here, value)
        run.last_line = self.line
        return run

    def is_open(self, form: Reading) -> bool:
        """Whether a run of a format is under way: begun, and not finished."""
        run = self._current.get(form.name)
        return run is not None and not run.finished

    def last_position(self, form: Reading, phase: Phase) -> Position:
        """Where the current run of a format is; nowhere before its first record."""
        run = self._current.get(form.name)
        return run.positions.get(phase, NOWHERE) if run else NOWHERE

    def stamp(self, form: Reading) -> bytes | None:
        """How the dated lines of the current run begin; ``None`` where they bear no date."""
        run = self._current.get(form.name)
        return run.stamp.encode() if run and run.stamp else None

    def extend(self, form: Reading, batch: Batch, spans: Spans, line: int, text_of: Callable[[int], str]) -> None:
        """Records of lines in a row that continue the current run."""
        run = self._current[form.name]
        run.positions[spans.phase] = (batch.epochs[-1], batch.steps[-1])
        run.last_line = line + len(batch.lines) - 1
        for (column, _), values in zip(spans.values, batch.columns, strict=True):
            series = run.series_of(column, spans.phase)
            if series is not None:
                series.extend(values, batch.epochs, batch.steps, line, text_of)

    def _days_later(self, run: LoggedRun) -> bool:
        """Whether the line was written days after the run's last one: another run, appended to the file."""
        found = _DATE.search(self.text[:80])
        if not found:
            # Lines without a date are not looked at again, unless the run began with one.
            run.stamp = self.text[:STAMP] if run.day else None
            return False
        run.stamp = self.text[:STAMP]
        try:
            day = date(*map(int, found.groups())).toordinal()
        except ValueError:
            return False
        gap, run.day = abs(day - (run.day or day)), day
        return gap > LONGEST_SILENCE_DAYS

    def _take(self, run: LoggedRun, column: Column, phase: Phase, here: Position, value: Any) -> None:
        try:
            number = float(value)
        except (TypeError, ValueError):
            read = written.number(run, column.metric, str(value), f"{self.path}:{self.line}")
            if read is None:
                return
            number = read
        series = run.series_of(column, phase)
        if series is None:
            return
        at_the_end = self.cut and written.is_at_the_end(str(value), self.text)
        if at_the_end and not written.is_whole(run, series, str(value), self.line):
            return
        if number == series.last and here == series.last_position != NOWHERE:
            run.repeats += 1
        elif isfinite(number):
            series.add(number, here, self.line, self.text)
        else:
            series.refuse(self.cite())


def _before(one: Position, other: Position) -> bool:
    """Whether ``one`` is an earlier training position; what is not printed decides nothing."""
    if one[0] != other[0] and min(one[0], other[0]) >= 0:
        return one[0] < other[0]
    return 0 <= one[1] < other[1]
