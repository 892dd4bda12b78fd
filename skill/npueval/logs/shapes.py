"""Lines that look alike, read in one go: after one record was understood, its neighbours of the same shape need no more
understanding than where the numbers stand.

A shape is the line with every token that holds a digit left open, save names that a value follows. Anything unusual (a
step that does not rise, a NaN, another date) ends the row of lines, so that the format itself looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from operator import lt

from npueval.logs.logged import Column, Phase, Position

Span = tuple[int, int]
STAMP = 11
LEAST_REACH, MOST_REACH = 2 << 10, 256 << 10

_TOKEN = re.compile(r"[\w.+-]+|\s+|[^\w.+\-\s]+")
_OPEN = r"[0-9A-Za-z_.+-]+"
_NUMBER = f"({_OPEN})"
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Spans:
    """Where a record's numbers stand in its line; ``epoch`` or ``step`` is ``None`` where it is not printed."""

    epoch: Span | None
    step: Span | None
    values: Sequence[tuple[Column, Span]]
    phase: Phase = "train"


@dataclass(frozen=True)
class Batch:
    """Records of ``lines`` in a row, a list of numbers for each column. ``end`` is where the line after them begins."""

    end: int
    lines: Sequence[bytes] = ()
    positions: list[Position] = field(default_factory=list)
    columns: list[list[float]] = field(default_factory=list)


class Shape:
    """The shape of one line. Not ``usable`` where a number is only part of a token, or no position is printed."""

    def __init__(self, text: str, spans: Spans) -> None:
        self.spans = spans
        places = [spans.epoch, spans.step, *(span for _, span in spans.values)]
        order = sorted({span for span in places if span})
        pieces = list(_pieces(text, set(order)))
        self.usable = len(order) >= 2 and pieces.count(_NUMBER) == len(order)
        line = "".join(pieces).encode() + rb"\n"
        self._row = re.compile(rb"(?:" + line.replace(_NUMBER.encode(), _OPEN.encode()) + rb")+")
        self._line = re.compile(rb"^" + line, re.MULTILINE)
        self._reach = LEAST_REACH
        self._groups = [order.index(span) if span else None for span in places]

    def read(self, part: bytes, start: int, last: Position, stamp: bytes | None) -> Batch:
        """The records from ``start`` on, the one before them being at ``last``."""
        first = self._line.match(part, start)
        if first is None:
            return Batch(start)
        limit = max(first.end(), part.rfind(b"\n", start, start + self._reach) + 1)
        texts: list[tuple[bytes, ...]] = self._line.findall(part, start, limit)
        if len(texts) < part.count(b"\n", start, limit):
            row = self._row.match(part, start, limit)
            limit = row.end() if row else start
            texts = self._line.findall(part, start, limit)
        try:
            numbers = [list(map(float, column)) for column in zip(*texts, strict=True)]
        except ValueError:
            numbers = []
        if not numbers:
            return Batch(start)
        epochs, steps, *columns = [[-1.0] * len(texts) if i is None else numbers[i] for i in self._groups]
        positions = list(zip(epochs, steps, strict=True))
        lines = part[start:limit].split(b"\n")[:-1]
        good = min(_rising(last, positions, columns), _dated(lines, stamp), *map(_finite, columns))
        # What ends rows early must not make them be looked at over and over.
        self._reach = min(MOST_REACH, 2 * self._reach) if good == len(lines) else LEAST_REACH
        end = start + sum(map(len, lines[:good])) + good if good < len(lines) else limit
        return Batch(end, lines[:good], positions[:good], [column[:good] for column in columns])


def _rising(last: Position, positions: list[Position], columns: list[list[float]]) -> int:
    """How many positions rise, each above the one before it; one that stays (it was rounded) must bring new values."""
    before = [last, *positions]
    if all(map(lt, before, positions)):
        return len(positions)
    stops = (i for i, here in enumerate(positions) if here <= before[i] and not (i and _stays(positions, columns, i)))
    return next(stops, len(positions))


def _stays(positions: list[Position], columns: list[list[float]], i: int) -> bool:
    return positions[i] == positions[i - 1] and all(column[i] != column[i - 1] for column in columns)


def _dated(lines: list[bytes], stamp: bytes | None) -> int:
    """How many lines begin as the one before them, where lines bear a date."""
    if stamp is None:
        return len(lines)
    return next((i for i, line in enumerate(lines) if not line.startswith(stamp)), len(lines))


def _finite(column: list[float]) -> int:
    """How many numbers come before the first NaN or Inf."""
    if isfinite(sum(column)):
        return len(column)
    return next((i for i, number in enumerate(column) if not isfinite(number)), len(column))


def _pieces(text: str, wanted: set[Span]) -> Iterator[str]:
    for found in _TOKEN.finditer(text):
        token = found[0]
        if found.span() in wanted:
            yield _NUMBER
        elif token.isspace():
            yield r"[ \t]+"
        elif _DIGIT.search(token) and not _is_name(token, text, found.end()):
            yield _OPEN
        else:
            yield re.escape(token)


def _is_name(token: str, text: str, end: int) -> bool:
    """Whether a value follows: ``task0.loss:`` is a name, ``15:`` a part of a time."""
    return _LETTER.search(token) is not None and text[end : end + 3].lstrip(" \"'")[:1] in (":", "=")
