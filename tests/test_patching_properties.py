"""What holds for every document and every edit, however hard both are."""

import re
from collections.abc import Callable

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from npueval.documents.addresses import Address, resolve
from npueval.documents.markdown import parse
from npueval.documents.places import Place, of_section, places_in
from npueval.documents.tree import Document
from npueval.documents.values import checked_line
from npueval.errors import DocumentError
from npueval.patching import applied
from npueval.patching.ledger import Ledger
from npueval.patching.revising import revise
from npueval.records import Edit
from support.pages import pages, texts

many = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def page(data: bytes) -> Document:
    return parse(data, path="Compare.md")


def all_places(document: Document) -> list[Place]:
    return [place for section in range(len(document.sections)) for place in places_in(document, section)]


def value_for(place: Place, draw: Callable[[st.SearchStrategy[str]], str]) -> str:
    return draw(st.sampled_from(["x", ""])) if place.kind == "check" else draw(texts)


def unique(document: Document, place: Place) -> bool:
    try:
        return resolve(document, place.address).key == place.key
    except DocumentError:
        return False


def region(place: Place) -> tuple[int, int]:
    """The bytes that an edit of this place may touch: the cell between its pipes, or what the item's value takes."""
    if place.kind == "cell":
        row = place.the_table.rows[place.row]
        cell = row.cell(place.column)
        parts = row.split
        return (cell.left, cell.right) if cell and parts.leading and parts.trailing else (parts.start, parts.end)
    assert place.span
    return place.span


@many
@given(data=st.data())
def test_one_edit_changes_its_own_bytes_and_reads_back(data: st.DataObject) -> None:
    before = page(data.draw(pages()))
    here = [place for place in all_places(before) if unique(before, place)]
    assume(here)
    place = data.draw(st.sampled_from(here))
    value = value_for(place, data.draw)
    note(f"{place.address!r} := {value!r}\n{before.data.decode()}")
    edit = Edit(place.address, value)

    revision = revise(before, Ledger(), [edit], force=[edit.address])
    after = applied(revision)

    if after is None:
        assert revision.refusals or place.text == checked_line(value)
        return
    start, end = region(place)
    assert after.data[:start] == before.data[:start]
    assert after.data[len(after.data) - (len(before.data) - end) :] == before.data[end:]
    assert [section.key for section in after.sections] == [section.key for section in before.sections]
    if place.column != 0:
        wanted = value.rstrip("\n") if place.kind == "code" else checked_line(value)
        assert resolve(after, place.address).text == wanted
    again = revise(after, Ledger(), [edit], force=[edit.address])
    assert applied(again) is None
    assert not again.refusals


@many
@given(data=st.data())
def test_many_edits_at_once_change_no_other_line(data: st.DataObject) -> None:
    before = page(data.draw(pages()))
    here = [place for place in all_places(before) if unique(before, place) and place.kind != "code"]
    assume(here)
    chosen = data.draw(st.lists(st.sampled_from(here), min_size=1, max_size=5, unique_by=lambda place: place.key))
    edits = [Edit(place.address, value_for(place, data.draw)) for place in chosen]

    after = applied(revise(before, Ledger(), edits, force=[edit.address for edit in edits]))

    assume(after)
    assert after
    touched = {place.position[0] for place in chosen}
    multiline = any(re.search(r"[\r\n]", before.read(place.span)) for place in chosen if place.span)
    assert multiline or len(after.lines) == len(before.lines)
    for line in range(1, len(before.lines) + 1):
        if not multiline and line not in touched:
            assert line_of(after, line) == line_of(before, line)


@many
@given(data=st.data())
def test_rows_go_in_and_come_out_without_a_trace(data: st.DataObject) -> None:
    before = page(data.draw(pages()))
    grids = [(number, table) for number, section in enumerate(before.sections) for table in range(len(section.tables))]
    assume(grids)
    section, table = data.draw(st.sampled_from(grids))
    grid = before.sections[section].tables[table]
    after_label = data.draw(st.sampled_from([None, *grid.labels]))
    address = f"{of_section(before, section).address}[{table + 1}]/新行"
    cells = ("新行", *data.draw(st.lists(texts, max_size=len(grid.columns) - 1)))
    note(f"{address!r} after {after_label!r} := {cells!r}\n{before.data.decode()}")
    edit = Edit(address, cells, after=after_label)

    inserting = revise(before, Ledger(), [edit])
    after = applied(inserting)

    assume(after and inserting.new_rows)
    assert after
    new = after.sections[section].tables[table]
    number = new.labels.index("新行")
    assert [new.rows[number].text(column) for column in range(len(cells))] == [checked_line(cell) for cell in cells]
    assert [*new.labels[:number], *new.labels[number + 1 :]] == [*grid.labels]
    taken = applied(revise(after, Ledger(), [Edit(address, ())], force=[address]))
    assert taken
    assert taken.data == before.data


@many
@given(pages(), texts)
def test_what_cannot_be_addressed_changes_nothing(data: bytes, path: str) -> None:
    before = page(data)
    try:
        place = resolve(before, Address("Compare", path))
    except DocumentError as error:
        assert error.code in ("ADDRESS_MISSING", "ADDRESS_AMBIGUOUS")
    else:
        assert place.kind in ("document", "section", "row", "cell", "field", "check", "code")


def line_of(document: Document, line: int) -> bytes:
    return document.data[document.lines.starts[line - 1] : document.lines.stops[line - 1]]
