"""From addressed edits to what is to happen to one document: whose text stands there, and what comes in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from npueval.addresses import Address, TableSlot, ambiguous, resolve, slot_for
from npueval.errors import DocumentError
from npueval.labels import fold
from npueval.ledger import Ledger
from npueval.markdown import render
from npueval.matching import exactly
from npueval.ownership import kept_because
from npueval.places import Place, of_cell, of_row
from npueval.records import Edit
from npueval.revision import Conflict, Grid, NewRow, Revision, Write
from npueval.tree import Document, Table
from npueval.values import checked_line, checked_lines, is_placeholder

_TICKS = {"x": "x", "X": "x", "true": "x", "": "", " ": "", "false": ""}


def revise(document: Document, ledger: Ledger, edits: Iterable[Edit], *, force: Collection[str] = ()) -> Revision:
    """Decide for each edit whether it is applied, changes nothing, meets a person's text, or cannot be made.

    ``force`` holds the addresses at which a person's text may go.
    """
    revision = Revision(document, ledger, {fold(address) for address in force})
    for edit in edits:
        with revision.refusing(edit.address):
            _take(revision, edit)
    return revision


def _take(revision: Revision, edit: Edit) -> None:
    address = Address(revision.document.name, Address.parse(edit.address).path)
    if isinstance(edit.value, tuple):
        after = _standing_row(revision, edit.after)
        _take_row(revision, edit, address, slot_for(revision.document, address, after=after, cells=len(edit.value)))
        return
    place = resolve(revision.document, address)
    _put(revision, place, _text(place, edit.value), edit)


def _text(place: Place, value: str | bool) -> str:
    if place.kind == "check":
        if (tick := _TICKS.get(str(value).lower() if isinstance(value, bool) else value)) is None:
            raise _refused(place, f"a check box is ticked by 'x' and unticked by '', not by {value!r}")
        return tick
    if isinstance(value, bool):
        raise _refused(place, f"{value} is for check boxes, and this is a {place.kind}")
    if place.kind == "code":
        return checked_lines(value)
    if place.kind in ("cell", "field"):
        return checked_line(value)
    raise _refused(
        place, f"a {place.kind} is not written as a whole", "address one cell, field, check box or code block"
    )


def _put(revision: Revision, place: Place, text: str, edit: Edit) -> None:
    write = Write(place, text, edit.source)
    earlier = revision.writes.get(place.key)
    if earlier and earlier.text != text:
        raise _refused(place, f"two values for one place: {earlier.text!r} and {text!r}")
    entry = revision.ledger.get(place.address)
    if place.text == text or earlier:
        revision.unchanged.append(edit.address)
        if entry and entry.holds(text) and entry.source != edit.source:
            revision.confirmed.append(write)
        return
    reason = kept_because(place, entry, edit.source)
    if reason and not {fold(edit.address), fold(place.address)} & {*revision.forced}:
        revision.conflicts.append(Conflict(place.address, reason, place.text))
        return
    revision.writes[place.key] = write
    revision.applied.append(edit.address)


def _take_row(revision: Revision, edit: Edit, address: Address, slot: TableSlot) -> None:
    table, grid = slot.of(revision.document), (slot.section, slot.table)
    found = exactly(table.rows_by_label, slot.label)
    if len(found) > 1:
        places = [of_row(revision.document, *grid, row).address for row in found]
        raise ambiguous(revision.document, address, places)
    if not edit.value:
        for number in found:
            _remove(revision, of_row(revision.document, *grid, number), edit)
        if not found:
            revision.unchanged.append(edit.address)
        return
    cells = _cells(table, slot, edit)
    row = found[0] if found else _blank_row(revision, grid) if edit.after is None else None
    if row is None:
        _insert(revision, grid, slot.label, cells, edit)
        return
    for column, text in enumerate(cells):
        # The label of a row that is there stays as a person may have decorated it.
        if column or not found:
            _put(revision, of_cell(revision.document, *grid, row, column), text, edit)


def _cells(table: Table, slot: TableSlot, edit: Edit) -> tuple[str, ...]:
    assert isinstance(edit.value, tuple)
    columns = len(table.columns)
    if len(edit.value) > columns:
        message = f"{len(edit.value)} cells for a table of {columns} columns"
        raise DocumentError(message, code="EDIT_REFUSED", line=table.header.line)
    cells = tuple(checked_line(value) for value in edit.value)
    if fold(render(cells[0])) != fold(slot.label):
        message = f"the row is addressed as {slot.label!r} and begins with {cells[0]!r}"
        raise DocumentError(message, code="EDIT_REFUSED", line=table.header.line, hint="let both be the same")
    return cells + ("",) * (columns - len(cells))


def _standing_row(revision: Revision, label: str | None) -> str | None:
    """The row of the document that ``label`` follows or is: a row may come after one that the same edits bring."""
    for grid, rows in revision.new_rows.items():
        for row in rows:
            if label is not None and fold(row.label) == fold(label):
                return revision.table(grid).labels[row.anchor] if row.anchor >= 0 else None
    return label


def _blank_row(revision: Revision, grid: Grid) -> int | None:
    """The first row that is only there to be filled in."""
    for number, row in enumerate(revision.table(grid).rows):
        taken = ("cell", *grid, number, 0, -1) in revision.writes
        if not taken and all(is_placeholder(cell.text) for cell in row.split.cells):
            return number
    return None


def _insert(revision: Revision, grid: Grid, label: str, cells: tuple[str, ...], edit: Edit) -> None:
    fresh = revision.new_rows.setdefault(grid, [])
    twin = next((row for row in fresh if fold(row.label) == fold(label)), None)
    if twin and twin.cells != cells:
        raise DocumentError(f"two values for the new row {label!r}", code="EDIT_REFUSED")
    if twin:
        revision.unchanged.append(edit.address)
        return
    anchor, place = _position(revision.table(grid), fresh, edit.after)
    fresh.insert(place, NewRow(anchor, label, cells, edit.source, edit.after))
    revision.applied.append(edit.address)


def _position(table: Table, fresh: list[NewRow], after: str | None) -> tuple[int, int]:
    """The old row that a new one comes after, and its place among the new rows: rows after the same one keep order."""
    if after is None:
        return len(table.rows) - 1, len(fresh)
    for place, row in enumerate(fresh):
        if fold(row.label) == fold(after):
            behind = place + 1
            while behind < len(fresh) and fold(fresh[behind].after or "") == fold(after):
                behind += 1
            return row.anchor, behind
    found = exactly(table.rows_by_label, after)
    if len(found) != 1:
        raise DocumentError(f"{len(found)} rows are called {after!r}", code="ADDRESS_AMBIGUOUS", line=table.header.line)
    return found[0], len(fresh)


def _remove(revision: Revision, row: Place, edit: Edit) -> None:
    forced = {fold(edit.address), fold(row.address)} & {*revision.forced}
    if not forced and (reason := _why_row_stays(revision, row, edit.source)):
        revision.conflicts.append(Conflict(row.address, reason, row.text))
        return
    revision.removed[row.section, row.table, row.row] = row
    revision.applied.append(edit.address)


def _why_row_stays(revision: Revision, row: Place, source: str) -> str:
    columns = len(row.the_table.rows[row.row].split.cells)
    cells = [of_cell(revision.document, row.section, row.table, row.row, column) for column in range(columns)]
    entries = [revision.ledger.get(cell.address) for cell in cells]
    if not entries or entries[0] is None or not entries[0].holds(cells[0].text):
        return "the row was not inserted by us"
    reasons = (kept_because(cell, entry, source) for cell, entry in zip(cells, entries, strict=True))
    return next(filter(None, reasons), "")


def _refused(place: Place, message: str, hint: str = "") -> DocumentError:
    return DocumentError(message, code="EDIT_REFUSED", line=place.position[0], hint=hint or None)
