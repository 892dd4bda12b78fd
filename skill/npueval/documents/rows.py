"""Where the cells of a table row begin and end, in bytes. Markdown parsers give lines, never columns.

A pipe and a backslash are one byte each in UTF-8 and part of no other character, so a row is split without decoding it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

_PIPE = re.compile(rb"(?<!\\)\|")
_DASHES = re.compile(r"[ \t]*:?-+:?[ \t]*")
_ASCII_BLANKS = b" \t\v\f"
# What Markdown calls white space; a row's ends are trimmed of all of it, a cell only of the ASCII part.
_BLANKS = (
    " \t\v\f\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


class Cell(NamedTuple):
    """One cell: ``start:end`` is its text, ``left:right`` all between its pipes; ``text`` has pipes unescaped."""

    left: int
    start: int
    end: int
    right: int
    text: str


@dataclass(frozen=True)
class Split:
    """The cells of one row, which is ``start:end``, and whether it has a pipe before the first and after the last.

    ``ambiguous``: a no-break or ideographic space stands outside an outer pipe, where some parsers see a blank and
    others a cell of its own.
    """

    start: int
    end: int
    cells: tuple[Cell, ...]
    leading: bool
    trailing: bool
    ambiguous: bool


def split(data: bytes, start: int, end: int) -> Split:
    """Split the row that is ``data[start:end]`` (one line without its ending and without any container's prefix)."""
    line = data[start:end]
    content = _trimmed(line)
    offset = start + line.find(content)
    pipes = [found.start() for found in _PIPE.finditer(content)]
    leading = content.startswith(b"|")
    trailing = len(pipes) > leading and pipes[-1] == len(content) - 1
    lefts = ([] if leading else [0]) + [pipe + 1 for pipe in pipes[: len(pipes) - trailing]]
    rights = pipes[leading:] + ([] if trailing else [len(content)])
    cells = () if content in (b"", b"|") else tuple(map(partial(_cell, content, offset), lefts, rights))
    ambiguous = len(content) < len(line.strip(_ASCII_BLANKS)) and (leading or trailing)
    return Split(offset, offset + len(content), cells, leading, trailing, ambiguous)


def count_cells(line: bytes) -> int:
    """How many cells a row has."""
    content = _trimmed(line)
    if content in (b"", b"|"):
        return 0
    leading = content.startswith(b"|")
    pipes = sum(1 for _ in _PIPE.finditer(content))
    trailing = pipes > leading and _PIPE.match(content, len(content) - 1) is not None
    return pipes + 1 - leading - trailing


def first_text(data: bytes, start: int, end: int) -> str:
    """The text of a row's first cell, without splitting the rest."""
    content = _trimmed(data[start:end])
    left = int(content.startswith(b"|"))
    pipe = _PIPE.search(content, left)
    return _text(content[left : pipe.start() if pipe else None])


def _trimmed(line: bytes) -> bytes:
    content = line.strip(_ASCII_BLANKS)
    return content if content.isascii() else content.decode().strip(_BLANKS).encode()


def _text(region: bytes) -> str:
    return region.strip(_ASCII_BLANKS).decode().replace("\\|", "|")


def _cell(content: bytes, offset: int, left: int, right: int) -> Cell:
    region = content[left:right]
    bare = region.strip(_ASCII_BLANKS)
    start = offset + left + (len(region) - len(region.lstrip(_ASCII_BLANKS)) if bare else 0)
    return Cell(offset + left, start, start + len(bare), offset + right, _text(region))


def delimiter_cells(line: str) -> int:
    """How many columns a delimiter row (``|---|:-:|``) declares; 0 when the line is none.

    A lone dash and ``- -`` are none: they belong to headings and lists.
    """
    text = line.rstrip(" \t")
    if len(text) < 2 or text[0] not in "|-:" or (text[0] == "-" and text[1] in " \t"):
        return 0
    inner = text.split("|")[text[0] == "|" : -1 if text[-1] == "|" else None]
    return len(inner) if all(_DASHES.fullmatch(cell) for cell in inner) else 0
