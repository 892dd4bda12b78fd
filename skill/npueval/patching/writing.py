"""The bytes that an edit puts into a document, in the style of what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from npueval.documents.labels import width
from npueval.documents.rows import Cell, Split
from npueval.documents.tree import CheckBox, CodeBlock, Document, Field, Row, Table
from npueval.errors import DocumentError

_STARTS_TEXT = re.compile(r"[^\W\d_]")


class Splice(NamedTuple):
    """Bytes ``start`` to ``end`` become ``data``."""

    start: int
    end: int
    data: bytes


def splice(data: bytes, splices: Iterable[Splice]) -> bytes:
    """``data`` with all splices made; they must not overlap."""
    parts, place = [], 0
    for start, end, new in sorted(splices):
        parts += [data[place:start], new]
        place = end
    return b"".join([*parts, data[place:]])


def write_cells(row: Row, values: Mapping[int, str]) -> list[Splice]:
    """Put texts into columns of a row. Missing cells are added; outer pipes come where columns would shift."""
    parts = row.split
    if parts.ambiguous:
        message = "a no-break or ideographic space stands outside the pipes of this row"
        raise _refused(row.line, message, "replace it by a common space; parsers do not agree where the cells are")
    count = len(parts.cells)
    splices = [_into(row.data, parts.cells[column], text) for column, text in values.items() if column < count]
    framed = _needs_frame(parts, values)
    if framed and not parts.leading:
        splices.append(Splice(parts.start, parts.start, b"| "))
    added = [_escaped(values.get(column, "")) for column in range(count, max(values) + 1)]
    if tail := _tail(parts, added, framed=framed):
        splices.append(Splice(parts.end, parts.end, tail.encode()))
    return splices


def insert_rows(document: Document, table: Table, after: int, rows: Sequence[Sequence[str]]) -> Splice:
    """New rows after the row of that number (-1: first of all), in the style of the rows around them."""
    neighbour = table.rows[after] if after >= 0 else table.delimiter
    lines = document.lines
    prefix = document.data[lines.starts[neighbour.line - 1] : neighbour.start]
    written = [prefix + _new_row(table, neighbour, cells).encode() for cells in rows]
    if ending := lines.ending(neighbour.line):
        place = lines.stops[neighbour.line - 1]
        return Splice(place, place, b"".join(row + ending for row in written))
    # The file ends with this row and without a line ending, and goes on doing so.
    ending = lines.ending(table.header.line)
    return Splice(len(document.data), len(document.data), b"".join(ending + row for row in written))


def remove_rows(document: Document, rows: Iterable[Row]) -> list[Splice]:
    """Rows taken out with their line endings; at an end of file without one, the line before gives its own."""
    lines = document.lines
    runs: list[list[int]] = []
    for line in sorted(row.line for row in rows):
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [
        Splice(
            lines.starts[run[0] - 1] if lines.ending(run[-1]) else lines.ends[run[0] - 2], lines.stops[run[-1] - 1], b""
        )
        for run in runs
    ]


def write_field(document: Document, field: Field, text: str) -> Splice:
    """Put a value after its colon. Bold that ends with the colon is bold only when a blank follows it."""
    before = document.data[field.span.start - 1 : field.span.start]
    bare = before not in (b" ", b"\t") and (field.colon == ":" or before in (b"*", b"_", b"~"))
    return Splice(*field.span, (" " * (bare and text != "") + text).encode())


def write_check(check: CheckBox, text: str) -> Splice:
    """Tick a box, or untick it with an empty text."""
    return Splice(*check.span, b"x" if text else b" ")


def write_code(document: Document, block: CodeBlock, text: str) -> Splice:
    """Replace the lines of a fenced block."""
    if not block.closed:
        raise _refused(block.line, "this code block is never closed", "close it with a line of its own")
    lines = text.split("\n") if text else []
    closing = re.compile(rf" {{0,3}}{re.escape(block.fence)}{re.escape(block.fence[0])}*[ \t]*")
    if any(closing.fullmatch(line) for line in lines):
        raise _refused(block.line, f"a line of the value would close the block ({block.fence})", "use a longer fence")
    ending = document.lines.ending(block.line)
    blank = block.prefix.rstrip(b" ")
    written = (block.prefix + line.encode() if line else blank for line in lines)
    return Splice(*block.span, b"".join(line + ending for line in written))


def _into(data: bytes, cell: Cell, text: str) -> Splice:
    """A cell that is padded keeps its width where the text fits."""
    written = _escaped(text)
    if cell.start == cell.end:
        blanks = max(1, cell.right - cell.left - 1 - width(written))
        return Splice(cell.left, cell.right, f" {written}{' ' * blanks}".encode())
    padding = cell.right - cell.end
    if padding > 1 and data[cell.end : cell.right].isspace():
        padding = max(1, padding + width(data[cell.start : cell.end].decode()) - width(written))
    if padding == 0 and written.endswith("\\"):
        padding = 1
    if padding == cell.right - cell.end:
        return Splice(cell.start, cell.end, written.encode())
    return Splice(cell.start, cell.right, (written + " " * padding).encode())


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _needs_frame(parts: Split, values: Mapping[int, str]) -> bool:
    """Whether outer pipes must hold the row together: an edge that is empty, or starts like another kind of block."""
    last = max(len(parts.cells) - 1, *values)
    opens = parts.leading or 0 not in values or _STARTS_TEXT.match(values[0])
    closes = parts.trailing or last not in values or (values[last] and values[last] == values[last].strip())
    return not (opens and closes)


def _tail(parts: Split, added: Sequence[str], *, framed: bool) -> str:
    if not added:
        return " |" if framed and not parts.trailing else ""
    opening = "" if parts.trailing or not parts.cells else " |"
    closing = " |" if framed or parts.leading or parts.trailing else ""
    return opening + " |".join(f" {text}" for text in added) + closing


def _new_row(table: Table, neighbour: Row, cells: Sequence[str]) -> str:
    texts = [_escaped(text) for text in cells]
    parts = neighbour.split
    if not parts.leading and not parts.trailing and not _needs_frame(parts, dict(enumerate(cells))):
        return " | ".join(texts)
    widths = _common_widths(table.header, neighbour)
    padded = [f" {text}{' ' * max(1, room - 1 - width(text))}" for text, room in zip(texts, widths, strict=True)]
    return f"|{'|'.join(padded)}|"


def _common_widths(header: Row, neighbour: Row) -> list[int]:
    """How wide the cells are in a table whose pipes stand below each other; zeros where they do not."""
    widths = [
        [width(row.data[cell.left : cell.right].decode()) for cell in row.split.cells] for row in (header, neighbour)
    ]
    return widths[0] if widths[0] == widths[1] else [0] * len(widths[0])


def _refused(line: int, message: str, hint: str) -> DocumentError:
    return DocumentError(message, code="EDIT_REFUSED", line=line, hint=hint)
