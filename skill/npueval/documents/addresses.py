"""Names of places: ``Compare#4/延迟 p50 (ms)/NPU（迁移后）``, and the place in a document that such a name means.

A label may itself hold a slash, so every way of cutting the path is tried; a name that fits two places is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npueval.documents.labels import fold, split_number
from npueval.documents.matching import TIERS, Tier, exactly, nearest, nth
from npueval.documents.places import (
    Place,
    of_cell,
    of_check,
    of_code,
    of_document,
    of_field,
    of_row,
    of_section,
    section_name,
)
from npueval.documents.tree import Document, Suspect, Table
from npueval.errors import DocumentError

_LONGEST = 1000
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Address:
    """``document#path``; without a path it means the whole document."""

    document: str
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address; raises :class:`DocumentError` where it names no document or is absurdly long."""
        document, _, path = (part.strip() for part in text.partition("#"))
        if not document or len(text) > _LONGEST or not _encodable(text):
            raise DocumentError(
                f"not an address: {text[:80]!r}",
                code="ADDRESS_INVALID",
                hint="write DOCUMENT#SECTION/ROW/COLUMN, for example 'Compare#4/延迟 p50 (ms)/NPU（迁移后）'",
            )
        return cls(document, path)

    def __str__(self) -> str:
        return f"{self.document}#{self.path}" if self.path else self.document


@dataclass(frozen=True)
class TableSlot:
    """A table in which a row is to stand, and that row's label."""

    section: int
    table: int
    label: str

    def of(self, document: Document) -> Table:
        """The table itself."""
        return document.sections[self.section].tables[self.table]

    def key(self, document: Document) -> str:
        """How an address names it."""
        return f"{section_name(document, self.section)}[{self.table + 1}]"


def resolve(document: Document, address: Address | str) -> Place:
    """The one place that an address means. A row's label alone means its value where the table has two columns.

    Raises :class:`DocumentError` with code ``ADDRESS_AMBIGUOUS`` (naming the places) or ``ADDRESS_MISSING`` (naming the
    nearest there are).
    """
    address = Address.parse(address) if isinstance(address, str) else address
    if not address.path:
        return of_document(document)
    for tier in TIERS:
        found = list(_candidates(document, address.path, tier))
        if len(found) == 1:
            return found[0]
        if found:
            raise ambiguous(document, address, list(map(_in_full, found)))
    raise _missing(document, address)


def slot_for(document: Document, address: Address, *, after: str | None, cells: int) -> TableSlot:
    """The table that holds, or is to hold, the row of this address.

    Of several tables it is the one that has the row, or the row ``after``, or ``cells`` columns. Raises
    :class:`DocumentError` as :func:`resolve` does.
    """
    slots = list(_slots(document, address.path))
    if not slots:
        raise _missing(document, address)
    having = [slot for slot in slots if exactly(slot.of(document).rows_by_label, slot.label)]
    beside = [slot for slot in slots if after is not None and exactly(slot.of(document).rows_by_label, after)]
    wide = [slot for slot in slots if len(slot.of(document).columns) == cells]
    if after is not None and not having and not beside:
        raise _missing(document, address, wanted=after)
    for narrower in (having, beside, wide):
        slots = [slot for slot in slots if slot in narrower] or slots
    if len(slots) > 1:
        raise ambiguous(document, address, [f"{document.name}#{slot.key(document)}" for slot in slots])
    return slots[0]


def _encodable(text: str) -> bool:
    """Whether a command line's text is whole; bytes that are no UTF-8 come as halves of surrogate pairs."""
    return _HALF_PAIR.search(text) is None


def _in_full(place: Place) -> str:
    """A place's address; a check box by all its words, because fewer may mean several."""
    if place.kind != "check":
        return place.address
    section = place.document.sections[place.section]
    return of_check(place.document, place.section, place.item, section.checks[place.item].label).address


def _slots(document: Document, path: str) -> Iterator[TableSlot]:
    for head, rest in _cuts(path):
        for section, only in _sections(document, head) if rest else ():
            for table in range(len(document.sections[section].tables)):
                if only in (None, table):
                    yield TableSlot(section, table, rest)


def _candidates(document: Document, path: str, tier: Tier) -> Iterator[Place]:
    for head, rest in (*_cuts(path), (path, "")):
        for section, table in _sections(document, head):
            if rest:
                yield from _within(document, section, table, rest, tier)
            elif table is None:
                yield of_section(document, section)


def _cuts(path: str) -> Iterator[tuple[str, str]]:
    place = path.find("/")
    while place >= 0:
        yield path[:place], path[place + 1 :]
        place = path.find("/", place + 1)


def _sections(document: Document, name: str) -> Iterator[tuple[int, int | None]]:
    """Sections that ``name`` may mean, each with the table that it picks.

    ``2.1[2]`` is the second table of 2.1; where several sections are called 2.1 it is the second of them, and
    ``2.1[2][1]`` that one's first table.
    """
    found = _sections_named(document, name)
    if found:
        yield from ((section, None) for section in found)
        return
    base, number = nth(name)
    if number is None:
        return
    sections = list(_sections(document, base))
    if len(sections) > 1:
        yield from sections[number : number + 1]
    elif sections and sections[0][1] is None and number < len(document.sections[sections[0][0]].tables):
        yield sections[0][0], number


def _sections_named(document: Document, name: str) -> list[int]:
    number, title = split_number(name)
    if number is None or not title:
        return list(document.sections_by_key.get(fold(number or name), ()))
    numbered = document.sections_by_key.get(fold(number), ())
    return [section for section in numbered if fold(document.sections[section].title) == fold(title)]


def _within(document: Document, number: int, only: int | None, name: str, tier: Tier) -> Iterator[Place]:
    section = document.sections[number]
    for index, table in enumerate(section.tables):
        if only not in (None, index):
            continue
        for row in tier.labels(table.rows_by_label, name):
            # A table of two columns is a list of names and values; the name alone means the value.
            pair = len(table.columns) == 2
            yield of_cell(document, number, index, row, 1) if pair else of_row(document, number, index, row)
        for left, right in _cuts(name):
            for row in tier.labels(table.rows_by_label, left):
                for column in tier.labels(table.columns_by_label, right):
                    yield of_cell(document, number, index, row, column)
    if only is None:
        for item in tier.labels(section.fields_by_key, name):
            yield of_field(document, number, item)
        for item in tier.checks(section.checks_by_label, name):
            yield of_check(document, number, item, name)
        for item in tier.labels(section.code_by_name, name):
            yield of_code(document, number, item)


def ambiguous(document: Document, address: Address, fits: Sequence[str]) -> DocumentError:
    """The error for an address that fits several places."""
    shown = ", ".join(fits[:5]) + (f" and {len(fits) - 5} more" if len(fits) > 5 else "")
    return DocumentError(
        f"address {address} fits {len(fits)} places: {shown}",
        code="ADDRESS_AMBIGUOUS",
        path=document.path,
        hint="add [n] to the section (its n-th table) or to the label (its n-th occurrence)",
    )


def _missing(document: Document, address: Address, wanted: str | None = None) -> DocumentError:
    reached = [(head, rest, found) for head, rest in _cuts(address.path) for found in _sections(document, head)]
    if not reached:
        name = address.path.partition("/")[0]
        near = nearest(name, [label for section in document.sections for label in (section.key, section.title)])
        return _absent(document, f"no section {name!r} in {document.name}", near)
    _, rest, (number, only) = reached[-1]
    section = document.sections[number]
    tables = [table for index, table in enumerate(section.tables) if only in (None, index)]
    for table in tables:
        for left, right in _cuts(rest):
            if exactly(table.rows_by_label, left) and not wanted:
                message = f"no column {right!r} in the table at line {table.header.line}"
                return _absent(document, message, nearest(right, table.columns), table.header.line)
    rows = [label for table in tables for label in table.labels]
    items = [item.key for item in section.fields] + [check.label for check in section.checks]
    row = wanted or rest.rpartition("/")[0] or rest
    near = nearest(row, rows) + nearest(wanted or rest, items)
    broken = [each.line for each in document.suspects if each.kind == "table" and _holds(document, number, each)]
    hint = f"line {broken[0]} is no table: its header and delimiter row differ in number of cells" if broken else ""
    return _absent(document, f"no {wanted or rest!r} in section {section.key}", near, section.line, hint)


def _holds(document: Document, number: int, suspect: Suspect) -> bool:
    following = document.sections[number + 1 : number + 2]
    return document.sections[number].line < suspect.line and not any(suspect.line >= each.line for each in following)


def _absent(
    document: Document, message: str, near: Sequence[str], line: int | None = None, hint: str = ""
) -> DocumentError:
    nearby = f"nearest: {', '.join(near)}" if near else f"'npueval show {document.name}' lists what there is"
    return DocumentError(message, code="ADDRESS_MISSING", path=document.path, line=line, hint=hint or nearby)
