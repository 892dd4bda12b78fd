"""A revision as bytes, and as entries of the ledger once the new document has been proven."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from npueval.documents.addresses import resolve
from npueval.documents.places import of_cell
from npueval.documents.tree import Document
from npueval.errors import DocumentError
from npueval.patching.ledger import Entry
from npueval.patching.revision import Grid, NewRow, Revision, Write
from npueval.patching.writing import Splice, insert_rows, remove_rows, write_cells, write_check, write_code, write_field


def splices(revision: Revision) -> list[Splice]:
    """The bytes to be put in, in their order. What cannot be written joins the revision's refusals."""
    found: list[Splice] = []
    for grid in revision.touched():
        found += _in_table(revision, grid)
    for write in revision.writes.values():
        with revision.refusing(write.place.address):
            found += _in_item(revision.document, write)
    found.sort()
    if any(left.end > right.start for left, right in pairwise(found)):
        raise DocumentError("two of the edits overlap", code="EDIT_REFUSED", path=revision.document.path)
    return found


def _in_table(revision: Revision, grid: Grid) -> Iterator[Splice]:
    table, fresh = revision.table(grid), revision.new_rows.get(grid, [])
    for number, texts in revision.written(grid).items():
        with revision.refusing(f"row {table.labels[number]}"):
            yield from write_cells(table.rows[number], texts)
    for anchor in dict.fromkeys(row.anchor for row in fresh):
        yield insert_rows(revision.document, table, anchor, [row.cells for row in fresh if row.anchor == anchor])
    gone = [table.rows[number] for section, place, number in revision.removed if (section, place) == grid]
    yield from remove_rows(revision.document, gone)


def _in_item(document: Document, write: Write) -> Iterator[Splice]:
    section, item = document.sections[write.place.section], write.place.item
    if write.place.kind == "field":
        yield write_field(document, section.fields[item], write.text)
    elif write.place.kind == "check":
        yield write_check(section.checks[item], write.text)
    elif write.place.kind == "code":
        yield write_code(document, section.code[item], write.text)


def entries(revision: Revision, after: Document) -> Iterator[Entry]:
    """What the ledger is to hold for every text of the revision, under its address in the new document."""
    moved = {grid: _moves(revision, grid) for grid in revision.touched()}
    for write in (*revision.confirmed, *revision.writes.values()):
        place, address = write.place, write.place.address
        if place.kind == "cell":
            number = moved.get((place.section, place.table), {}).get(place.row, place.row)
            address = of_cell(after, place.section, place.table, number, place.column).address
        yield Entry.of(address, write.text, write.source)
    for grid in revision.new_rows:
        for number, row in enumerate(revision.arrangement(grid)):
            if isinstance(row, NewRow):
                for column, text in enumerate(row.cells):
                    if text:
                        yield Entry.of(of_cell(after, *grid, number, column).address, text, row.source)


def orphans(revision: Revision, after: Document) -> Iterator[str]:
    """Addresses that the ledger holds for this document and that lead nowhere in the new one."""
    for entry in revision.ledger.entries.values():
        if entry.address.startswith(f"{after.name}#"):
            try:
                resolve(after, entry.address)
            except DocumentError:
                yield entry.address


def _moves(revision: Revision, grid: Grid) -> dict[int, int]:
    """Where the old rows of a table stand afterwards."""
    return {row: number for number, row in enumerate(revision.arrangement(grid)) if isinstance(row, int)}
