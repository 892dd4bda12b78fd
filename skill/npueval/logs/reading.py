"""Walk through the blocks of a log: find what the active formats may want, at the speed of a byte search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from npueval import logs
from npueval.logs import streams
from npueval.logs.logbook import Logbook

ATTENTION_HEAD = 1 << 20
ATTENTION_WINDOW = 16 << 10
"""Formats are looked for in all of the first MiB and in the first 16 KiB of each later block; what has been found once
is read everywhere. Conditions (device, data set …) are read in the same places."""

LONGEST_RECORD = 64 << 10
LONGEST_OBJECT = 64 << 10

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OTHER_RANK = re.compile(r"\s*(?:\[(?:default|rank ?)?[1-9]\d*\]:|\[?[Rr]ank[ _]?[1-9]\d*\]?:)")
_OBJECT = re.compile(rb"\{[^{}]*\}")
_QUOTED_PAIR = re.compile(r"""['"]([^'"]+)['"]\s*:\s*(?:['"]([^'"]*)['"]|([^,{}'"]+))""")
_PYTHON_DICT = re.compile(r"\{\s*'")
_JSON_OBJECT = re.compile(r'\{\s*"')
_NEVER = 1 << 62


class Reader:
    """Takes a file block by block.

    ``line`` is the number of the line that the next block begins in, ``lines`` how many there were, ``torn`` where
    JSON objects begin that are cut or broken.
    """

    def __init__(self, path: str, formats: list[logs.Format]) -> None:
        self.book = Logbook(path)
        self.line = 1
        self.lines = 0
        self.torn: list[int] = []
        self.damaged: list[int] = []
        self._offset = 0
        self._formats = formats
        self._awake: set[logs.Format] = set()
        self._lines: list[logs.LineFormat] = []
        self._objects: list[logs.ObjectFormat] = []
        self._ambient = logs.AMBIENT()
        self._open_object = b""

    def read(self, block: bytes) -> None:
        """Take the next block."""
        attended = len(block) if self._offset < ATTENTION_HEAD else block.rfind(b"\n", 0, ATTENTION_WINDOW) + 1
        self._offset += len(block)
        window, first_line = block[:attended], self.line
        self._wake(window)
        self._scan(window, [*self._lines, self._ambient])
        self._scan(block[attended:], self._lines)
        if self._objects:
            self._scan_objects(block, first_line)
        self.lines = self.line - block.endswith(b"\n")

    def _wake(self, window: bytes) -> None:
        asleep = (form for form in self._formats if form not in self._awake)
        found = {form for form in asleep if any(needle in window for needle in _bytes(form))}
        if found:
            self._awake |= found
            awake = [form for form in self._formats if form in self._awake]
            self._lines = [form for form in awake if isinstance(form, logs.LineFormat)]
            self._objects = [form for form in awake if isinstance(form, logs.ObjectFormat)]

    def _scan(self, part: bytes, formats: list[logs.LineFormat]) -> None:
        finder = _Finder(part, formats)
        position, number = 0, self.line
        while position < len(part):
            start = position if self.book.follower else finder.next_line(position)
            if start < 0:
                break
            end = part.find(b"\n", start)
            end = len(part) if end < 0 else end
            number += part.count(b"\n", position, start)
            self._line(number, streams.text_of(part[start:end]), formats)
            position, number = end + 1, number + (end < len(part))
        self.line = number + part.count(b"\n", position)

    def _line(self, number: int, text: str, formats: list[logs.LineFormat]) -> None:
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        # A progress bar rewrites its line: what stands between two returns is a line of its own.
        for segment in text.split("\r") if "\r" in text else (text,):
            segment = segment[:LONGEST_RECORD]
            if self._followed(number, segment):
                continue
            if _OTHER_RANK.match(segment):
                self.book.at(number, segment, self._ambient)
                self._ambient.warn(segment, self.book)
            else:
                self._offer(number, segment, formats)

    def _followed(self, number: int, text: str) -> bool:
        book = self.book
        if book.follower is None:
            return False
        book.line, book.text = number, text
        if book.follower(text):
            return True
        book.follower = None
        return False

    def _offer(self, number: int, text: str, formats: list[logs.LineFormat]) -> None:
        for form in formats:
            self.book.at(number, text, form)
            try:
                if form.read(text, self.book):
                    return
            except (ValueError, OverflowError):
                # A number of absurd length, or letters where digits belong: the line is damaged, not the file.
                self.damaged.append(number)

    def _scan_objects(self, block: bytes, first_line: int) -> None:
        """Every ``{…}`` without braces inside, over one line or many; one that a block cuts waits for the next."""
        data = self._open_object + block
        number = first_line - self._open_object.count(b"\n")
        position = 0
        for found in _OBJECT.finditer(data):
            number += data.count(b"\n", position, found.start())
            position = found.start()
            self._object(number, streams.text_of(found[0]))
        self._open_object = _unclosed(data, position)

    def _object(self, number: int, text: str) -> None:
        record = _record(text)
        if record is None:
            if _JSON_OBJECT.match(text):
                self.torn.append(number)
            return
        book = self.book
        book.spread = dict(_spread(text, record, number)) if "\n" in text else None
        for form in self._objects:
            book.at(number, text, form)
            if form.read(record, book):
                break
        book.spread = None


class _Finder:
    """The lines of a block that hold one of the needles."""

    def __init__(self, block: bytes, formats: list[logs.LineFormat]) -> None:
        self._block = block
        self._needles = list(dict.fromkeys(needle for form in formats for needle in _bytes(form)))
        self._at = [-1] * len(self._needles)

    def next_line(self, position: int) -> int:
        """Where the first such line from ``position`` (a line's start) on begins; −1: there is none."""
        for i, at in enumerate(self._at):
            if at < position:
                found = self._block.find(self._needles[i], position)
                self._at[i] = found if found >= 0 else _NEVER
        nearest = min(self._at, default=_NEVER)
        if nearest == _NEVER:
            return -1
        return self._block.rfind(b"\n", position, nearest) + 1 or position


def _unclosed(data: bytes, position: int) -> bytes:
    """The beginning of an object that ends in a later block."""
    start = data.rfind(b"{", position)
    kept = start >= 0 and len(data) - start < LONGEST_OBJECT and data.find(b"}", start) < 0
    return data[start:] if kept else b""


def _bytes(form: logs.Format) -> tuple[bytes, ...]:
    return tuple(needle.encode() for needle in form.needles)


def _record(text: str) -> dict[str, Any] | None:
    """The pairs of a flat object, in JSON or as Python prints a dict; ``None`` where it is cut or no object."""
    try:
        found = json.loads(text)
    except ValueError:
        pairs = _QUOTED_PAIR.findall(text) if _PYTHON_DICT.match(text) else []
        return {key: quoted or bare.strip() for key, quoted, bare in pairs} or None
    return found if isinstance(found, dict) else None


def _spread(text: str, record: dict[str, Any], first: int) -> Iterator[tuple[str, tuple[int, str]]]:
    """Where each key of an object of many lines stands."""
    lines = text.split("\n")
    for key in record:
        index = next((i for i, line in enumerate(lines) if f'"{key}"' in line or f"'{key}'" in line), 0)
        yield key, (first + index, lines[index])
