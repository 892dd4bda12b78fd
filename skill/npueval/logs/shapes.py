"""Lines that look alike, read in one go: after one record was understood, its neighbours of the same shape need no more
understanding than where the numbers stand.

A shape is the line with every token that holds a digit left open, save names that a value follows and what the format
wants to see unchanged. Anything unusual (a step that does not rise or is the last one, a NaN, another date) ends the
row of lines, so that the format itself looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, isfinite
from operator import lt
from typing import NamedTuple

from npueval.logs.logged import Column, Phase, Position

Span = tuple[int, int]
STAMP = 11
LEAST_REACH, MOST_REACH = 2 << 10, 64 << 10

_TOKEN = re.compile(r"[\w.+-]+|\s+|[^\w.+\-\s]+")
_OPEN = r"[0-9A-Za-z_.+-]+"
_DIGITS = r"-?[0-9][0-9A-Za-z_.+-]*"
_NUMBER = f"({_DIGITS})"
_BLANK = r"[ \t]+"
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Spans:
    """Where a record's numbers stand in its line; ``epoch`` or ``step`` is ``None`` where it is not printed.

    ``fixed`` must be the same in every line, such as how many steps there are; the record at step ``last`` ends the
    run, so that the format itself must read it.
    """

    epoch: Span | None
    step: Span | None
    values: Sequence[tuple[Column, Span]]
    phase: Phase = "train"
    fixed: Sequence[Span] = ()
    last: float = inf


class Batch(NamedTuple):
    """Records of ``lines`` in a row, a list of numbers for each column. ``end`` is where the line after them begins."""

    end: int
    lines: Sequence[bytes] = ()
    epochs: Sequence[float] = ()
    steps: Sequence[float] = ()
    columns: Sequence[list[float]] = ()


class Shape:
    """The shape of one line. Not ``usable`` where a number is only part of a token, or no position is printed.

    A blank stays a single one, which is what most lines have, unless the shape is ``loose``.
    """

    def __init__(self, text: str, spans: Spans, *, loose: bool = False) -> None:
        self.spans = spans
        places = [spans.epoch, spans.step, *(span for _, span in spans.values)]
        order = sorted({span for span in places if span})
        fixed = {span for span in spans.fixed if span[0] >= 0}
        tokens = {found.span() for found in _TOKEN.finditer(text)}
        self.usable = len(order) >= 2 and tokens.issuperset(order) and tokens >= fixed
        line = "".join(_pieces(text, set(order), fixed, loose=loose)).encode() + rb"\n"
        self._row = re.compile(rb"(?:" + line.replace(_NUMBER.encode(), _DIGITS.encode()) + rb")+")
        self._line = re.compile(rb"^" + line, re.MULTILINE)
        self._reach = LEAST_REACH
        self._groups = [order.index(span) if span else None for span in places]

    def fits(self, text: str) -> bool:
        """Whether a line has this shape."""
        return self._line.match(text.encode() + b"\n") is not None

    def read(self, part: bytes, start: int, last: Position, stamp: bytes | None) -> Batch:
        """The records from ``start`` on, the one before them being at ``last``."""
        first = self._line.match(part, start)
        if first is None:
            return Batch(start)
        if not self._line.match(part, first.end()):
            return self._single(first, last, stamp)
        limit, texts = self._row_of(part, start, first.end())
        try:
            numbers = [_numbers(column) for column in zip(*texts, strict=True)]
        except (ValueError, OverflowError):
            self._reach = LEAST_REACH
            return Batch(start)
        epochs, steps, *columns = [[-1.0] * len(texts) if i is None else numbers[i] for i in self._groups]
        lines = part[start:limit].split(b"\n")[:-1]
        good = min(
            _rising(last, epochs, steps, columns),
            _dated(lines, stamp),
            _before(self.spans.last, steps),
            *map(_finite, columns),
        )
        # What ends rows early must not make them be looked at over and over.
        self._reach = min(MOST_REACH, 2 * self._reach) if good == len(lines) else LEAST_REACH
        end = start + sum(map(len, lines[:good])) + good if good < len(lines) else limit
        return Batch(end, lines[:good], epochs[:good], steps[:good], [column[:good] for column in columns])

    def _single(self, line: re.Match[bytes], last: Position, stamp: bytes | None) -> Batch:
        """The record of a line between lines of other shapes."""
        try:
            numbers = list(map(float, line.groups()))
        except ValueError:
            return Batch(line.start())
        epoch, step, *values = [-1.0 if i is None else numbers[i] for i in self._groups]
        text = line[0][:-1]
        if (epoch, step) <= last or step == self.spans.last or not all(map(isfinite, values)):
            return Batch(line.start())
        if stamp is not None and not text.startswith(stamp):
            return Batch(line.start())
        return Batch(line.end(), (text,), [epoch], [step], [[value] for value in values])

    def _row_of(self, part: bytes, start: int, second: int) -> tuple[int, list[tuple[bytes, ...]]]:
        """Where the row of lines from ``start`` on ends, as far as the reach goes, and their numbers."""
        limit = max(second, part.rfind(b"\n", start, start + self._reach) + 1)
        texts = self._line.findall(part, start, limit)
        if len(texts) < part.count(b"\n", start, limit):
            row = self._row.match(part, start, limit)
            assert row is not None
            limit = row.end()
            texts = self._line.findall(part, start, limit)
        return limit, texts


def _numbers(column: tuple[bytes, ...]) -> list[float]:
    """A column as numbers: one that does not change is read once, and whole numbers in the shorter way."""
    if _is_constant(column):
        return [float(column[0])] * len(column)
    whole = b"".join(column).isdigit()
    return list(map(float, map(int, column) if whole else column))


def _is_constant(column: Sequence[object]) -> bool:
    return column[-1] == column[0] and column.count(column[0]) == len(column)


def _rising(last: Position, epochs: list[float], steps: list[float], columns: list[list[float]]) -> int:
    """How many positions rise, each above the one before it; one that stays (it was rounded) must bring new values."""
    if last < (epochs[0], steps[0]) and _is_constant(epochs) and all(map(lt, steps, islice(steps, 1, None))):
        return len(steps)
    positions = list(zip(epochs, steps, strict=True))
    before = [last, *positions]
    if all(map(lt, before, positions)):
        return len(positions)
    stops = (i for i, here in enumerate(positions) if here <= before[i] and not (i and _stays(positions, columns, i)))
    return next(stops, len(positions))


def _stays(positions: list[Position], columns: list[list[float]], i: int) -> bool:
    return positions[i] == positions[i - 1] and all(column[i] != column[i - 1] for column in columns)


def _before(last: float, steps: list[float]) -> int:
    """How many steps come before the last one, where it is known which that is."""
    return steps.index(last) if last < inf and last in steps else len(steps)


def _dated(lines: list[bytes], stamp: bytes | None) -> int:
    """How many lines begin as the one before them, where lines bear a date."""
    if stamp is None or (min(lines).startswith(stamp) and max(lines).startswith(stamp)):
        return len(lines)
    return next(i for i, line in enumerate(lines) if not line.startswith(stamp))


def _finite(column: list[float]) -> int:
    """How many numbers come before the first NaN or Inf."""
    if isfinite(sum(column)):
        return len(column)
    return next((i for i, number in enumerate(column) if not isfinite(number)), len(column))


def _pieces(text: str, wanted: set[Span], fixed: set[Span], *, loose: bool) -> Iterator[str]:
    for found in _TOKEN.finditer(text):
        token = found[0]
        if found.span() in wanted:
            yield _NUMBER
        elif token.isspace():
            pads = (loose or token != " ") and _is_beside_a_digit(text, *found.span())
            yield _BLANK if pads else token
        elif _DIGIT.search(token) and found.span() not in fixed and not _is_name(token, text, found.end()):
            yield _OPEN
        else:
            yield re.escape(token)


def _is_beside_a_digit(text: str, start: int, end: int) -> bool:
    """Whether blanks may pad a number. Between the words of a name they may not change."""
    return _DIGIT.search(text[max(0, start - 1) : start] + text[end : end + 2]) is not None


def _is_name(token: str, text: str, end: int) -> bool:
    """Whether a value follows: ``task0.loss:`` is a name, ``15:`` a part of a time."""
    return _LETTER.search(token) is not None and text[end : end + 3].lstrip(" \"'")[:1] in (":", "=")
