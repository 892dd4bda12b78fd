"""Walk through the blocks of a log: find what the active formats may want, at the speed of a byte search."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from npueval import logs
from npueval.logs import needles, ranks, streams
from npueval.logs.lane import Lane
from npueval.logs.logbook import Logbook

ATTENTION_HEAD, ATTENTION_TAIL, ATTENTION_WINDOW = 512 << 10, 64 << 10, 16 << 10
ATTENTION_EARLY, ATTENTION_LATE = 256 << 10, 4 << 20
"""All needles are looked for in the first 512 KiB, in the last 64, and in 16 KiB of every 256 KiB (after 4 MiB: of
every 4 MiB); those found once are searched for everywhere, from the beginning on where they are found late. A format of
which all that is in none of those places is not seen. Conditions (device, data set …) are read in those places."""

LONGEST_RECORD = 64 << 10
LONGEST_OBJECT = 64 << 10

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OBJECT = re.compile(rb"\{[^{}]*\}")
_QUOTED_PAIR = re.compile(r"""['"]([^'"]+)['"]\s*:\s*(?:['"]([^'"]*)['"]|([^,{}'"]+))""")
_PYTHON_DICT = re.compile(r"\{\s*'")
_JSON_OBJECT = re.compile(r'\{\s*"')
_NEWLINE = ord("\n")


class Damage:
    """How many records could not be read, and the line of the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, 0

    def at(self, line: int) -> None:
        """One more."""
        self.count += 1
        self.first = self.first or line


class Reader:
    """Takes a file block by block.

    ``size`` is that of the whole text, where it is known; ``whole``: its last line is, even without an end. ``line`` is
    the number of the line that the next block begins in, ``lines`` how many there were. ``torn`` are the JSON objects
    that are cut or broken, ``damaged`` other records. ``late`` are the needles that were found when something had been
    passed over already: only who knows them from the beginning on misses no value.
    """

    def __init__(
        self,
        path: str,
        formats: list[logs.Format],
        size: int | None = None,
        *,
        whole: bool = False,
        known: Collection[bytes] = (),
    ) -> None:
        self.book = Logbook(path)
        self.line = 1
        self.lines = 0
        self.torn = Damage()
        self.damaged = Damage()
        self._read = 0
        self._size, self._whole = size, whole
        self._next_attention = ATTENTION_HEAD
        self._formats = formats
        self.late: set[bytes] = set()
        self._passed_over = False
        self._asleep = {needle for form in formats for needle in needles.bytes_of(form)}
        self._awake: list[bytes] = []
        self._lines: list[tuple[logs.LineFormat, list[str]]] = []
        self._objects: list[logs.ObjectFormat] = []
        self._ambient = logs.AMBIENT()
        self._asides = needles.Asides(self._ambient)
        self._open_object = b""
        self._lane = Lane(self.book)
        self._object_lane = Lane(self.book)
        self._rouse(known)

    def read(self, block: bytes) -> None:
        """Take the next block."""
        first_line = self.line
        head, tail = self._attended(block)
        for part, attended in ((block[:head], True), (block[head:tail], False), (block[tail:], True)):
            if part:
                lines = needles.alike(part).split(b"\n") if attended else []
                if attended:
                    self._wake(part, lines)
                else:
                    self._passed_over = True
                self._scan(part, self._asides.among(lines))
        if self._objects:
            self._scan_objects(block, first_line)
        self.lines = self.line - block.endswith(b"\n")

    def _attended(self, block: bytes) -> tuple[int, int]:
        """Up to where, and from where on, a block is looked at with full attention."""
        begin, size = self._read, len(block)
        self._read += size
        head = 0
        if begin < ATTENTION_HEAD:
            head = block.find(b"\n", ATTENTION_HEAD - begin) + 1 or size
        elif begin >= self._next_attention:
            self._next_attention = begin + (ATTENTION_EARLY if begin < ATTENTION_LATE else ATTENTION_LATE)
            head = block.rfind(b"\n", 0, ATTENTION_WINDOW) + 1
        final = size if self._size is None else max(head, self._size - ATTENTION_TAIL - begin)
        tail = block.find(b"\n", final) + 1 if final < size else size
        return head, tail or size

    def _wake(self, window: bytes, lines: list[bytes]) -> None:
        found = needles.among(self._asleep, window, lines)
        if self._passed_over:
            self.late.update(found)
        self._rouse(found)

    def _rouse(self, found: Collection[bytes]) -> None:
        if found:
            self._asleep.difference_update(found)
            awake = [form for form in self._formats if not self._asleep.issuperset(needles.bytes_of(form))]
            self._lines = [(form, self._awake_of(form)) for form in awake if isinstance(form, logs.LineFormat)]
            self._objects = [form for form in awake if isinstance(form, logs.ObjectFormat)]
            self._awake = sorted({needle.encode() for _, wanted in self._lines for needle in wanted})

    def _awake_of(self, form: logs.Format) -> list[str]:
        return [needle for needle in form.needles if needle.encode() not in self._asleep]

    def _scan(self, part: bytes, asides: needles.Aside) -> None:
        finder, size = needles.Finder(part, self._awake), len(part)
        # What a whole block lacks need not be looked for in each of its lines.
        plain = b"\r" not in part and b"\x1b" not in part
        position, number = 0, self.line
        while position < size:
            aside = asides.next_line(position)
            start = position if self.book.follower else min(aside, finder.next_line(position))
            if start == needles.NEVER:
                break
            number += part.count(b"\n", position, start)
            if plain and self.book.follower is None:
                position, number = self._lane.at(part, start, number)
                if position > start:
                    continue
            end = part.find(b"\n", start)
            text = streams.text_of(part[start : end if end >= 0 else size])
            *rewritten, last = (text,) if plain else _segments(text)
            for segment in rewritten:
                self._line(number, segment[:LONGEST_RECORD], b"" if start == aside else None)
            self.book.cut = (end < 0 and not self._whole) or len(last) > LONGEST_RECORD
            kind = None if start < aside else b"" if rewritten else asides.kind
            form = self._line(number, last[:LONGEST_RECORD], kind)
            if end < 0:
                position = size
                break
            position, number = end + 1, number + 1
            if form is not None and plain:
                position, number = self._lane.after(form, text, part, position, number)
        self.line = number + part.count(b"\n", position)

    def _line(self, number: int, text: str, aside: bytes | None) -> logs.LineFormat | None:
        """Offer a line to the formats in turn, an aside (given as what it is like) at last to the one for conditions;
        returns the format that read a record in it."""
        book = self.book
        told = ranks.told(text)
        if told is None:
            book.at(number, text, self._ambient)
            self._ambient.warn(text, book)
            return None
        if book.follower is not None and self._followed(number, text, told):
            return None
        for form, wanted in self._lines:
            if any(needle in told for needle in wanted) and self._reads(form, number, text, told):
                return form
        if aside is not None and not self._reads(self._ambient, number, text, told):
            self._asides.is_dull(aside)
        return None

    def _reads(self, form: logs.RecordFormat, number: int, text: str, record: Any) -> bool:
        self.book.at(number, text, form)
        return self._tries(form.read, number, record, self.book)

    def _followed(self, number: int, text: str, told: str) -> bool:
        book = self.book
        book.line, book.text = number, text
        if book.follower is not None and self._tries(book.follower, number, told):
            return True
        book.follower = None
        return False

    def _tries(self, read: Callable[..., bool], number: int, *what: Any) -> bool:
        """Whether a format takes a record for its own, though a number of absurd length, letters where digits belong or
        a thousand brackets may keep it from being read: that damages the line, not the file."""
        try:
            return read(*what)
        except (ValueError, OverflowError, RecursionError):
            self.damaged.at(number)
            return True

    def _scan_objects(self, block: bytes, first_line: int) -> None:
        """Every ``{…}`` without braces inside, over one line or many; one that a block cuts waits for the next."""
        data = self._open_object + block
        number = first_line - self._open_object.count(b"\n")
        position = 0
        while found := _OBJECT.search(data, position):
            start, end = found.span()
            number += data.count(b"\n", position, start)
            position, alone = start, start == 0 or data[start - 1] == _NEWLINE
            if alone:
                position, number = self._object_lane.at(data, start, number)
            if position == start:
                text = streams.text_of(found[0])
                form = self._object(number, text) if ranks.told(_before(data, start)) is not None else None
                number, position = number + text.count("\n"), end
                if form is not None and alone and data[end : end + 1] == b"\n":
                    position, number = self._object_lane.after(form, text, data, end + 1, number + 1)
        self._open_object = _unclosed(data, position)

    def _object(self, number: int, text: str) -> logs.ObjectFormat | None:
        """Offer an object to the formats in turn; returns the one that read it."""
        record = _record(text)
        if record is None:
            if _JSON_OBJECT.match(text):
                self.torn.at(number)
            return None
        book = self.book
        book.spread = dict(_spread(text, record, number)) if "\n" in text else None
        form = next((form for form in self._objects if self._reads(form, number, text, record)), None)
        book.spread = None
        return form


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


def _record(text: str) -> dict[str, Any] | None:
    """The pairs of a flat object, in JSON or as Python prints a dict; ``None`` where it is cut or no object."""
    if _PYTHON_DICT.match(text):
        return {key: quoted or bare.strip() for key, quoted, bare in _QUOTED_PAIR.findall(text)} or None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _spread(text: str, record: dict[str, Any], first: int) -> Iterator[tuple[str, tuple[int, str]]]:
    """Where each key of an object of many lines stands."""
    lines = text.split("\n")
    for key in record:
        index = next((i for i, line in enumerate(lines) if f'"{key}"' in line or f"'{key}'" in line), 0)
        yield key, (first + index, lines[index])
