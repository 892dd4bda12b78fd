"""Walk through the blocks of a log: find what the active formats may want, at the speed of a byte search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from npueval import logs
from npueval.logs import ranks, streams
from npueval.logs.lane import Lane
from npueval.logs.logbook import Logbook

ATTENTION_HEAD, ATTENTION_TAIL, ATTENTION_WINDOW = 256 << 10, 64 << 10, 16 << 10
ATTENTION_EARLY, ATTENTION_LATE = 256 << 10, 4 << 20
"""All needles are looked for in the first 256 KiB, in the last 64, and in 16 KiB of every 256 KiB (after 4 MiB: of
every 4 MiB); those found once are searched for everywhere. Conditions (device, data set …) are read in those places."""

LONGEST_RECORD = 64 << 10
LONGEST_OBJECT = 64 << 10

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OBJECT = re.compile(rb"\{[^{}]*\}")
_QUOTED_PAIR = re.compile(r"""['"]([^'"]+)['"]\s*:\s*(?:['"]([^'"]*)['"]|([^,{}'"]+))""")
_PYTHON_DICT = re.compile(r"\{\s*'")
_JSON_OBJECT = re.compile(r'\{\s*"')
_NEVER = 1 << 62


class Reader:
    """Takes a file block by block.

    ``size`` is that of the whole text, where it is known; ``whole``: its last line is, even without an end. ``line`` is
    the number of the line that the next block begins in, ``lines`` how many there were, ``torn`` where JSON objects
    begin that are cut or broken.
    """

    def __init__(self, path: str, formats: list[logs.Format], size: int | None = None, *, whole: bool = False) -> None:
        self.book = Logbook(path)
        self.line = 1
        self.lines = 0
        self.torn: list[int] = []
        self.damaged: list[int] = []
        self._read = 0
        self._size, self._whole = size, whole
        self._next_attention = 0
        self._formats = formats
        self._asleep = {needle for form in formats for needle in _bytes(form)}
        self._awake: list[bytes] = []
        self._lines: list[logs.LineFormat] = []
        self._objects: list[logs.ObjectFormat] = []
        self._ambient = logs.AMBIENT()
        self._open_object = b""
        self._lane = Lane(self.book)

    def read(self, block: bytes) -> None:
        """Take the next block."""
        first_line = self.line
        head, tail = self._attended(block)
        for part, attended in ((block[:head], True), (block[head:tail], False), (block[tail:], True)):
            if part and attended:
                self._wake(part)
                self._scan(part, [*self._lines, self._ambient], [*self._awake, *_bytes(self._ambient)])
            elif part:
                self._scan(part, self._lines, self._awake)
        if self._objects:
            self._scan_objects(block, first_line)
        self.lines = self.line - block.endswith(b"\n")

    def _attended(self, block: bytes) -> tuple[int, int]:
        """Up to where, and from where on, a block is looked at with full attention."""
        begin, size = self._read, len(block)
        self._read += size
        if begin < ATTENTION_HEAD:
            return size, size
        head = 0
        if begin >= self._next_attention:
            self._next_attention = begin + (ATTENTION_EARLY if begin < ATTENTION_LATE else ATTENTION_LATE)
            head = block.rfind(b"\n", 0, ATTENTION_WINDOW) + 1
        last = self._size is not None and self._read >= self._size
        tail = block.find(b"\n", max(head, size - ATTENTION_TAIL)) + 1 if last else size
        return head, tail or size

    def _wake(self, window: bytes) -> None:
        found = [needle for needle in self._asleep if needle in window]
        if found:
            self._asleep.difference_update(found)
            self._awake += sorted(found)
            awake = [form for form in self._formats if not self._asleep.issuperset(_bytes(form))]
            self._lines = [form for form in awake if isinstance(form, logs.LineFormat)]
            self._objects = [form for form in awake if isinstance(form, logs.ObjectFormat)]

    def _scan(self, part: bytes, formats: list[logs.LineFormat], needles: list[bytes]) -> None:
        finder, size = _Finder(part, needles), len(part)
        # What a whole block lacks need not be looked for in each of its lines.
        plain = b"\r" not in part and b"\x1b" not in part
        position, number = 0, self.line
        while position < size:
            start = position if self.book.follower else finder.next_line(position)
            if start < 0:
                break
            end = part.find(b"\n", start)
            if start > position:
                number += part.count(b"\n", position, start)
            text = streams.text_of(part[start : end if end >= 0 else size])
            form = None
            *rewritten, last = (text,) if plain else _segments(text)
            for segment in rewritten:
                self._line(number, segment[:LONGEST_RECORD], formats)
            self.book.cut = (end < 0 and not self._whole) or len(last) > LONGEST_RECORD
            form = self._line(number, last[:LONGEST_RECORD], formats)
            if end < 0:
                break
            position, number = end + 1, number + 1
            if form is not None and plain:
                position, number = self._lane.follow(form, text, part, position, number)
        self.line = number + part.count(b"\n", position)

    def _line(self, number: int, text: str, formats: list[logs.LineFormat]) -> logs.LineFormat | None:
        """Offer a line to the formats in turn; returns the one that read it."""
        book = self.book
        told = ranks.told(text)
        if told is None:
            book.at(number, text, self._ambient)
            self._ambient.warn(text, book)
            return None
        if book.follower is not None and self._followed(number, text, told):
            return None
        for form in formats:
            book.at(number, text, form)
            try:
                if form.read(told, book):
                    return form
            except (ValueError, OverflowError):
                # A number of absurd length, or letters where digits belong: the line is damaged, not the file.
                self.damaged.append(number)
        return None

    def _followed(self, number: int, text: str, told: str) -> bool:
        book = self.book
        book.line, book.text = number, text
        if book.follower is not None and book.follower(told):
            return True
        book.follower = None
        return False

    def _scan_objects(self, block: bytes, first_line: int) -> None:
        """Every ``{…}`` without braces inside, over one line or many; one that a block cuts waits for the next."""
        data = self._open_object + block
        number = first_line - self._open_object.count(b"\n")
        position = 0
        while found := _OBJECT.search(data, position):
            start, end = found.span()
            number += data.count(b"\n", position, start)
            text = streams.text_of(found[0])
            form = self._object(number, text) if ranks.told(_before(data, start)) is not None else None
            number, position = number + text.count("\n"), end
            if form is not None and data[start - 1 : start] == b"\n" == data[end : end + 1]:
                position, number = self._lane.follow(form, text, data, end + 1, number + 1)
        self._open_object = _unclosed(data, position)

    def _object(self, number: int, text: str) -> logs.ObjectFormat | None:
        """Offer an object to the formats in turn; returns the one that read it."""
        record = _record(text)
        if record is None:
            if _JSON_OBJECT.match(text):
                self.torn.append(number)
            return None
        book = self.book
        book.spread = dict(_spread(text, record, number)) if "\n" in text else None
        for form in self._objects:
            book.at(number, text, form)
            if form.read(record, book):
                break
        else:
            form = None
        book.spread = None
        return form


class _Finder:
    """The lines of a block that hold one of the needles."""

    def __init__(self, block: bytes, needles: list[bytes]) -> None:
        self._block, self._needles = block, needles
        self._at = [-1] * len(self._needles)
        self._latest = b""

    def next_line(self, position: int) -> int:
        """Where the first such line from ``position`` (a line's start) on begins; −1: there is none."""
        block = self._block
        # Records come in a row: the line right here often holds what the one before it held.
        if self._latest and block.find(self._latest, position, block.find(b"\n", position)) >= 0:
            return position
        for i, at in enumerate(self._at):
            if at < position:
                found = block.find(self._needles[i], position)
                self._at[i] = found if found >= 0 else _NEVER
        nearest = min(self._at, default=_NEVER)
        if nearest == _NEVER:
            return -1
        self._latest = self._needles[self._at.index(nearest)]
        return block.rfind(b"\n", position, nearest) + 1 or position


def _segments(text: str) -> list[str]:
    """A progress bar rewrites its line: what stands between two returns is a line of its own."""
    return (_ANSI.sub("", text) if "\x1b" in text else text).split("\r")


def _before(data: bytes, start: int) -> str:
    """What stands before an object on its line; of much, the end."""
    nearest = max(0, start - ranks.LONGEST_PREFIX)
    return streams.text_of(data[max(nearest, data.rfind(b"\n", nearest, start) + 1) : start])


def _unclosed(data: bytes, position: int) -> bytes:
    """The beginning of an object that ends in a later block."""
    start = data.rfind(b"{", position)
    kept = start >= 0 and len(data) - start < LONGEST_OBJECT and data.find(b"}", start) < 0
    return data[start:] if kept else b""


def _bytes(form: logs.Format) -> tuple[bytes, ...]:
    return tuple(needle.encode() for needle in form.needles)


def _record(text: str) -> dict[str, Any] | None:
    """The pairs of a flat object, in JSON or as Python prints a dict; ``None`` where it is cut or no object."""
    if _PYTHON_DICT.match(text):
        return {key: quoted or bare.strip() for key, quoted, bare in _QUOTED_PAIR.findall(text)} or None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _spread(text: str, record: dict[str, Any], first: int) -> Iterator[tuple[str, tuple[int, str]]]:
    """Where each key of an object of many lines stands."""
    lines = text.split("\n")
    for key in record:
        index = next((i for i, line in enumerate(lines) if f'"{key}"' in line or f"'{key}'" in line), 0)
        yield key, (first + index, lines[index])
