"""Which lines of a block may matter: those that hold a needle, found at the speed of a byte search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npueval.logs.base import Format

NEVER = 1 << 62
LONGEST_KEPT, MOST_KEPT = 1000, 4096

_EVERY_BYTE = bytes(range(256))
_ALIKE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else byte for byte in _EVERY_BYTE)


def bytes_of(form: Format | type[Format]) -> tuple[bytes, ...]:
    """The needles of a format as they stand in a block."""
    return tuple(needle.encode() for needle in form.needles)


def alike(text: bytes) -> bytes:
    """A text with every digit a 0: lines of a log that differ in numbers alone become the same."""
    return text.translate(_ALIKE)


def among(needles: Iterable[bytes], window: bytes, lines: list[bytes]) -> list[bytes]:
    """The needles that a window holds; ``lines`` are those of the window, alike: only different ones are looked at."""
    different = b"\n".join(set(lines))
    absent = _EVERY_BYTE.translate(None, different)

    def holds(needle: bytes) -> bool:
        form = alike(needle)
        return len(form.translate(None, absent)) == len(form) and form in different and needle in window

    return [needle for needle in needles if holds(needle)]


class Finder:
    """The lines of a block that hold one of the needles."""

    def __init__(self, block: bytes, needles: list[bytes]) -> None:
        self._block, self._needles = block, needles
        self._at = [-1] * len(self._needles)
        self._latest = b""

    def next_line(self, position: int) -> int:
        """Where the first such line from ``position`` (a line's start) on begins; :data:`NEVER`: there is none."""
        block = self._block
        # Records come in a row: the line right here often holds what the one before it held.
        if self._latest and block.find(self._latest, position, block.find(b"\n", position)) >= 0:
            return position
        for i, at in enumerate(self._at):
            if at < position:
                found = block.find(self._needles[i], position)
                self._at[i] = found if found >= 0 else NEVER
        nearest = min(self._at, default=NEVER)
        if nearest == NEVER:
            return NEVER
        self._latest = self._needles[self._at.index(nearest)]
        return block.rfind(b"\n", position, nearest) + 1 or position


class Asides:
    """The lines that may say something beside the records: those that hold a needle and are not known to be dull.

    A line is dull where one that differs from it in numbers alone said nothing.
    """

    def __init__(self, form: Format) -> None:
        self._needles = [alike(needle) for needle in bytes_of(form)]
        self.dull: set[bytes] = set()

    def among(self, lines: Sequence[bytes]) -> Aside:
        """The asides among these lines (a part of a log, made alike)."""
        return Aside(lines, self)

    def holds(self, line: bytes) -> bool:
        """Whether a line that is not known to be dull may say something."""
        if any(needle in line for needle in self._needles):
            return True
        self.is_dull(line)
        return False

    def is_dull(self, line: bytes) -> None:
        """Lines like this one need not be looked at again."""
        if len(line) <= LONGEST_KEPT and len(self.dull) < MOST_KEPT:
            self.dull.add(line)


class Aside:
    """The next aside of a part; ``kind`` is what it is like."""

    def __init__(self, lines: Sequence[bytes], asides: Asides) -> None:
        self._lines, self._asides = lines, asides
        self._index, self._start = 0, 0
        self.kind = b""

    def next_line(self, position: int) -> int:
        """Where the first aside from ``position`` (a line's start) on begins; :data:`NEVER`: there is none."""
        dull = self._asides.dull
        while self._index < len(self._lines):
            line = self._lines[self._index]
            if self._start >= position and line not in dull and self._asides.holds(line):
                self.kind = line
                return self._start
            self._index += 1
            self._start += len(line) + 1
        return NEVER
