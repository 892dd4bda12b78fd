"""From addressed edits to what is to happen to one document: whose text stands there, and what comes in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from npueval.documents.addresses import Address, ambiguous, resolve, slot_for
from npueval.documents.labels import fold
from npueval.documents.markdown import render
from npueval.documents.matching import exactly
from npueval.documents.places import Place, of_cell, of_row
from npueval.documents.tree import Document, Table
from npueval.documents.values import checked_line, checked_lines, is_placeholder
from npueval.errors import DocumentError
from npueval.patching.ledger import Ledger
from npueval.patching.ownership import kept_because
from npueval.patching.revision import Conflict, Grid, NewRow, Revision, Write
from npueval.records import Edit

_TICKS = {"x": "x", "X": "x", "true": "x", "": "", " ": "", "false": ""}


def revise(document: Document, ledger: Ledger, edits: Iterable[Edit], *, force: Collection[str] = ()) -> Revision:
    """Decide for each edit whether it is applied, changes nothing, meets a person's text, or cannot be made.

    ``force`` holds the addresses at which a person's text may go.
    """
    revision = Revision(document, ledger, frozenset(map(fold, force)))
    for edit in edits:
        with revision.refusing(edit.address):
            _take(revision, edit)
    return revision


def _take(revision: Revision, edit: Edit) -> None:
    address = Address(revision.document.name, Address.parse(edit.address).path)
    if isinstance(edit.value, tuple):
        _take_row(revision, edit, address, edit.value)
    else:
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
    if reason and not _forced(revision, place, edit):
        revision.conflicts.append(Conflict(place.address, reason, place.text))
        return
    revision.writes[place.key] = write
    revision.applied.append(edit.address)
    if place.kind == "cell" and (beyond := _cells_beyond(place)):
        revision.notes.append(f"{place.address}: the row goes on after the last column; kept: {beyond}")


def _forced(revision: Revision, place: Place, edit: Edit) -> bool:
    return not revision.forced.isdisjoint({fold(edit.address), fold(place.address)})


def _cells_beyond(place: Place) -> str:
    cells = place.the_table.rows[place.row].split.cells[len(place.the_table.columns) :]
    return " | ".join(cell.text for cell in cells)


def _take_row(revision: Revision, edit: Edit, address: Address, given: tuple[str, ...]) -> None:
    after = _standing_row(revision, edit.after)
    slot = slot_for(revision.document, address, after=after, cells=len(given))
    grid, table = (slot.section, slot.table), slot.of(revision.document)
    row = _row_called(revision, grid, address, slot.label)
    if not given:
        _remove(revision, row, edit)
        return
    cells = _cells(table, slot.label, given)
    if row is not None:
        # Its label stays as a person may have decorated it.
        _fill(revision, row, cells, edit, first=1)
    elif edit.after is None and (blank := _blank_row(revision, grid)):
        _fill(revision, blank, cells, edit, first=0)
    else:
        _insert(revision, grid, slot.label, cells, edit)


def _row_called(revision: Revision, grid: Grid, address: Address, label: str) -> Place | None:
    found = exactly(revision.table(grid).rows_by_label, label)
    rows = [of_row(revision.document, *grid, row) for row in found]
    if len(rows) > 1:
        raise ambiguous(revision.document, address, [row.address for row in rows])
    return rows[0] if rows else None


def _fill(revision: Revision, row: Place, cells: tuple[str, ...], edit: Edit, *, first: int) -> None:
    for column in range(first, len(cells)):
        place = of_cell(revision.document, row.section, row.table, row.row, column)
        _put(revision, place, cells[column], edit)


def _cells(table: Table, label: str, given: tuple[str, ...]) -> tuple[str, ...]:
    columns, line = len(table.columns), table.header.line
    if len(given) > columns:
        raise DocumentError(f"{len(given)} cells for a table of {columns} columns", code="EDIT_REFUSED", line=line)
    cells = tuple(map(checked_line, given))
    if fold(render(cells[0])) != fold(label):
        message = f"the row is addressed as {label!r} and begins with {cells[0]!r}"
        raise DocumentError(message, code="EDIT_REFUSED", line=line, hint="let both be the same")
    return cells + ("",) * (columns - len(cells))


def _standing_row(revision: Revision, label: str | None) -> str | None:
    """The row of the document that ``label`` follows or is: a row may come after one that the same edits bring."""
    for grid, rows in revision.new_rows.items():
        for row in rows:
            if label is not None and fold(row.label) == fold(label):
                return revision.table(grid).labels[row.anchor] if row.anchor >= 0 else None
    return label


def _blank_row(revision: Revision, grid: Grid) -> Place | None:
    """The first row that is only there to be filled in, and that no other edit has taken."""
    taken = revision.written(grid)
    for number, row in enumerate(revision.table(grid).rows):
        if number not in taken and all(is_placeholder(cell.text) for cell in row.split.cells):
            return of_row(revision.document, *grid, number)
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


def _remove(revision: Revision, row: Place | None, edit: Edit) -> None:
    if row is None:
        revision.unchanged.append(edit.address)
    elif not _forced(revision, row, edit) and (reason := _why_row_stays(revision, row, edit.source)):
        revision.conflicts.append(Conflict(row.address, reason, row.text))
    else:
        revision.removed.add((row.section, row.table, row.row))
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
