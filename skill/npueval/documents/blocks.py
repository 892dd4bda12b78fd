"""The blocks of a document as the parser hands them over: what, how deep, on which lines, from which column."""

from __future__ import annotations

from typing import NamedTuple


class Block(NamedTuple):
    """One block; lines count from 1, ``stop`` is the line after its last.

    ``columns``: for each line, how many bytes (quote marks, indentation, list marker) precede its text.
    ``prefix`` of a fenced block: the bytes that must precede each line inside it.
    """

    kind: str
    level: int
    line: int
    stop: int
    columns: tuple[int, ...] = ()
    tag: str = ""
    text: str = ""
    info: str = ""
    markup: str = ""
    prefix: str = ""
