"""The proof that a patched document says what was asked for, and nothing else has changed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from npueval.documents.structure import problems
from npueval.documents.tree import Document, Row
from npueval.errors import DocumentError
from npueval.patching.revision import NewRow, Revision
from npueval.patching.writing import Splice

Leaf = tuple[object, ...]


def prove(revision: Revision, after: Document, splices: Sequence[Splice]) -> None:
    """Raise :class:`DocumentError` unless ``after`` is the revised document and that alone.

    Every block is of the same kind, depth and (shifted) lines as before; every addressed text reads as it was given;
    every other text of the touched lines reads as before; no anchor is lost. All other lines have the same bytes.
    """
    doubt = (
        _other_shape(revision.document, after, splices)
        or _other_leaf(revision, after)
        or _other_row(revision, after)
        or _lost_anchor(revision.document, after)
    )
    if doubt:
        raise DocumentError(
            f"the edits would change more than they name: {doubt}",
            code="EDIT_REFUSED",
            path=after.path,
            hint="nothing was written; make this change by hand",
        )


def _other_shape(before: Document, after: Document, splices: Sequence[Splice]) -> str:
    ends = [each.end for each in splices]
    shifts = [0, *accumulate(len(each.data) - (each.end - each.start) for each in splices)]

    def moved(line: int) -> int:
        offset = before.lines.starts[line - 1] if line <= len(before.lines) else len(before.data)
        return bisect_left(after.lines.starts, offset + shifts[bisect_right(ends, offset)]) + 1

    if len(before.shape) != len(after.shape):
        return "blocks appear or vanish"
    for (kind, level, line, stop), found in zip(before.shape, after.shape, strict=True):
        if found != (kind, level, moved(line), moved(stop)):
            return f"the block at line {found[2]} is taken for another one"
    return ""


def _other_leaf(revision: Revision, after: Document) -> str:
    expected = dict(_leaves(revision.document))
    for write in revision.writes.values():
        if write.place.kind != "cell":
            expected[write.place.kind, write.place.section, write.place.item] = write.text
    found = dict(_leaves(after))
    differing = (leaf for leaf in expected.keys() | found.keys() if expected.get(leaf) != found.get(leaf))
    return next((f"a {leaf[0]} of section {leaf[1]} reads otherwise" for leaf in differing), "")


def _leaves(document: Document) -> Iterator[tuple[Leaf, str]]:
    """Every text by which places are found, and every field, check box and code block."""
    for number, section in enumerate(document.sections):
        yield ("heading", number, 0), section.title
        for item, table in enumerate(section.tables):
            yield ("table head", number, item), "|".join(table.columns)
        for item, each in enumerate(section.fields):
            yield ("key", number, item), each.key
            yield ("field", number, item), each.text
        for item, check in enumerate(section.checks):
            yield ("label", number, item), check.label
            yield ("check", number, item), "x" if check.checked else ""
        for item, block in enumerate(section.code):
            yield ("code", number, item), block.text
            yield ("info", number, item), block.info


def _other_row(revision: Revision, after: Document) -> str:
    for grid in revision.touched():
        rows = after.sections[grid[0]].tables[grid[1]].rows
        arrangement = revision.arrangement(grid)
        if len(rows) != len(arrangement):
            return f"the table at line {revision.table(grid).header.line} gets {len(rows)} rows"
        written = revision.written(grid)
        for row, source in zip(rows, arrangement, strict=True):
            if isinstance(source, NewRow):
                expected = list(source.cells)
            elif source in written:
                expected = _expected(revision.table(grid).rows[source], written[source])
            else:
                continue
            width = max(len(expected), len(row.split.cells))
            if [row.text(column) for column in range(width)] != [*expected, *[""] * (width - len(expected))]:
                return f"the row at line {row.line} reads otherwise"
    return ""


def _expected(row: Row, written: Mapping[int, str]) -> list[str]:
    texts = {column: cell.text for column, cell in enumerate(row.split.cells)} | dict(written)
    return [texts.get(column, "") for column in range(max(texts) + 1)]


def _lost_anchor(before: Document, after: Document) -> str:
    lost = problems(after)
    known = {problem.message for problem in problems(before)} if lost else set()
    return next((problem.message for problem in lost if problem.message not in known), "")
