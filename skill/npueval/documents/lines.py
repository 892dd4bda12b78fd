"""Bytes and lines: where each line of a file starts and ends, without touching its endings."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

# Not str.splitlines(): it also splits at U+2028, NEL, VT and FF, which no Markdown parser does.
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Span(NamedTuple):
    """Bytes ``start`` to ``end`` of a document."""

    start: int
    end: int


class Lines:
    """Where each line starts, where its text ends, and where its ending (``\\n``, ``\\r\\n``, ``\\r``) stops."""

    def __init__(self, data: bytes, first: int) -> None:
        found = list(_LINE_END.finditer(data))
        self.data = data
        self.starts = [first, *(end.end() for end in found)]
        self.ends = [*(end.start() for end in found), len(data)]
        self.stops = [*self.starts[1:], len(data)]
        if len(self.starts) > 1 and self.starts[-1] == len(data):
            del self.starts[-1], self.ends[-1], self.stops[-1]

    def __len__(self) -> int:
        return len(self.starts)

    def ending(self, line: int) -> bytes:
        """The line ending of a line; empty where the file ends without one."""
        return self.data[self.ends[line - 1] : self.stops[line - 1]]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (in characters) of a byte offset."""
        line = max(1, bisect_right(self.starts, offset))
        return line, len(self.data[self.starts[line - 1] : offset].decode()) + 1
