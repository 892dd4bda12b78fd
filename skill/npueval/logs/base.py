"""The contract of a log format.

A format file holds three things: the needles (every line that matters holds one of them, so that the rest of a file is
skipped at the speed of a byte search), the patterns, and two sample lines that a generic test must find readable.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from npueval import metrics
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase
from npueval.logs.shapes import Span, Spans
from npueval.records import Grade

_NO_VALUE = re.compile(r":\s*(?:,|$)")
MOST_KEYS, LONGEST_KEY = 4096, 200

_VALUE = re.compile(r"[-+\w.]+")
_QUOTED_PAIR = re.compile(r"""['"]([^'"]+)['"]: ?(?:([-+\w.]+)(?=[,}]))?""")
_PAIR = re.compile(r"(?<![\w./@()+-])([A-Za-z][\w./@()+-]{0,80}): {1,9}([-+\w.]+)")


class Format(ABC):
    """One log format. ``grade`` is what its figures are worth at best."""

    name: ClassVar[str]
    needles: ClassVar[tuple[str, ...]]
    samples: ClassVar[tuple[str, str]]
    columns: ClassVar[Mapping[str, Column | None]] = {}
    grade: ClassVar[Grade] = Grade.C

    def __init__(self) -> None:
        self._known: dict[str, Column | None] = dict(self.columns)

    def column(self, key: str) -> Column | None:
        """The meaning of a key; ``None`` where it is of no interest."""
        try:
            return self._known[key]
        except KeyError:
            if len(self._known) >= MOST_KEYS or len(key) > LONGEST_KEY:
                return None
            column = self._known[key] = self.guess(key)
            return column

    def guess(self, key: str) -> Column | None:
        """The meaning of a key that the format does not list, by its words: losses, errors and scores only."""
        kind = metrics.kind(key)
        if kind not in ("loss", "score", "error"):
            return None
        phase: Phase | None = "eval" if metrics.is_held_out(key) else None
        return Column(key.strip(), "scale?" if kind == "score" else "", phase=phase)


class RecordFormat(Format):
    """A format whose records may come in rows of lines that look alike."""

    @abstractmethod
    def read(self, record: Any, book: Logbook) -> bool:
        """Write what a record says; ``False``: it is not of this format."""

    def spans(self, text: str) -> Spans | None:  # noqa: ARG002 - most formats have too few lines to hurry
        """Where the numbers of a record stand that was just read, so that lines like it can be read in one go."""
        return None


class LineFormat(RecordFormat):
    """A format whose records are lines, or begin with a line (see :meth:`Logbook.follow`)."""

    @abstractmethod
    def read(self, text: str, book: Logbook) -> bool:
        """Write what a line says; ``False``: it is not of this format."""


class ObjectFormat(RecordFormat):
    """A format whose records are flat ``{…}``, in JSON or as Python prints a dict, on one line or many."""

    @abstractmethod
    def read(self, record: Mapping[str, Any], book: Logbook) -> bool:
        """Write what an object says; ``False``: it is not of this format."""

    def row(self, text: str, epoch: str, step: str) -> Spans | None:
        """The spans of a training record on one line, by the keys of its position."""
        found = {pair[1]: pair.span(2) for pair in _QUOTED_PAIR.finditer(text)}
        values = [(column, span) for key, span in found.items() if (column := self.column(key)) is not None]
        if any(start < 0 for _, (start, _) in values):
            # A number in quotes: not for the fast lane.
            return None
        return Spans(found.get(epoch), found.get(step), values)


class DocumentFormat(Format):
    """A format that is one JSON document."""

    @abstractmethod
    def read(self, document: Any, book: Logbook) -> bool:
        """Write what the document says; ``False``: it is not of this format."""


class TableFormat(LineFormat):
    """Comma-separated records under a header; every header line begins another table.

    ``header`` are columns that only this format's tables have; ``epoch`` and ``step`` name the position columns.
    """

    header: ClassVar[tuple[str, ...]]
    epoch: ClassVar[str] = "epoch"
    step: ClassVar[str] = "step"

    def read(self, text: str, book: Logbook) -> bool:
        names = [name.strip().strip('"') for name in text.split(",")]
        if not self.is_header(names):
            return False
        book.divide()

        def row(line: str) -> bool:
            if not line.strip():
                # Where a writer ended its lines twice, every second line is empty.
                return True
            values = _fields(line)
            if len(values) != len(names):
                return False
            book.at(book.line, book.text, self)
            self.row(dict(zip(names, values, strict=True)), book)
            return True

        book.follow(row)
        return True

    def is_header(self, names: list[str]) -> bool:
        """Whether a line of these names begins a table of this format."""
        return all(any(_is_named(name, wanted) for name in names) for wanted in self.header)

    def row(self, values: Mapping[str, str], book: Logbook) -> None:
        """Write one record."""
        self.write(values, book)

    def write(self, values: Mapping[str, str], book: Logbook, phase: Phase = "train") -> None:
        """Write every column of a record."""
        epoch, step = (position(values.get(name)) for name in (self.epoch, self.step))
        book.record(values.items(), phase=phase, epoch=epoch, step=step)


def _fields(line: str) -> list[str]:
    try:
        return next(csv.reader([line])) if '"' in line else line.split(",")
    except csv.Error:
        return []


def position(value: Any) -> float:
    """An epoch or a step as a number; −1 where there is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return -1.0


class Pairs:
    """The wanted ``key: value`` pairs of lines that mostly look alike: where the last line had its keys is tried first.

    A line with another number of colons may hold other keys and is read anew.
    """

    def __init__(self, form: Format) -> None:
        self._form = form
        self._colons = -1
        self._known: list[tuple[str, str, int]] = []

    def of(self, text: str, start: int) -> list[tuple[str, str]]:
        """The pairs of a line from ``start`` on whose keys mean something to the format."""
        if text.count(":", start) != self._colons:
            return self._learn(text, start)
        pairs = []
        for key, literal, length in self._known:
            at = text.find(literal, start) + length
            found = _VALUE.match(text, at) if at >= length else None
            if found is None:
                return self._learn(text, start)
            pairs.append((key, found[0]))
        return pairs

    def spans(self, text: str, start: int) -> list[tuple[Column, Span]]:
        """Where the values of those pairs stand."""
        found = [(self._form.column(pair[1]), pair.span(2)) for pair in _PAIR.finditer(text, start)]
        return [(column, span) for column, span in found if column is not None]

    def _learn(self, text: str, start: int) -> list[tuple[str, str]]:
        pairs = []
        # Where a value is missing (the line is cut), the next line of as many colons may have it.
        self._colons, self._known = -1 if _NO_VALUE.search(text, start) else text.count(":", start), []
        for found in _PAIR.finditer(text, start):
            if self._form.column(found[1]) is not None:
                # With the character before it, so that "time: " is not found in "data_time: ".
                literal = text[max(start, found.start() - 1) : found.start(2)]
                self._known.append((found[1], literal, len(literal)))
                pairs.append((found[1], found[2]))
        return pairs


def _is_named(name: str, wanted: str) -> bool:
    return name.startswith(wanted) if wanted.endswith("/") else name == wanted
