"""A place in a document: what stands there, in which bytes, and the shortest address that means it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from npueval.documents.labels import fold
from npueval.documents.lines import Span
from npueval.documents.tree import Document, Table

Kind = Literal["document", "section", "row", "cell", "field", "check", "code"]


@dataclass(frozen=True)
class Place:
    """Where an address leads. ``text`` is the Markdown that stands there (``"x"`` or ``""`` for a check box).

    All numbers count from 0. ``span`` is ``None`` for a cell that its short row lacks. ``item`` is the number of the
    field, check box or code block in its section.
    """

    document: Document = field(repr=False)
    kind: Kind
    span: Span | None
    text: str
    section: int = -1
    table: int = -1
    row: int = -1
    column: int = -1
    item: int = -1
    address: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What tells this place from every other one of the document."""
        return self.kind, self.section, self.table, self.row, self.column, self.item

    @property
    def position(self) -> tuple[int, int]:
        """Line and column, from 1; for a missing cell, the end of its row."""
        start = self.span.start if self.span else self.the_table.rows[self.row].end
        return self.document.lines.position(start)

    @property
    def the_table(self) -> Table:
        """The table that a row or cell stands in."""
        return self.document.sections[self.section].tables[self.table]


def section_name(document: Document, section: int) -> str:
    """A section's number, or its title without one; with ``[n]`` where it is the n-th that is called so."""
    part = document.sections[section]
    name = part.number or part.title
    alike = document.sections_by_key.get(fold(name), [section])
    return f"{name}[{alike.index(section) + 1}]" if len(alike) > 1 else name


def of_document(document: Document) -> Place:
    """The whole document."""
    return Place(document, "document", Span(0, len(document.data)), document.read(Span(0, len(document.data))))


def of_section(document: Document, section: int) -> Place:
    """A section's heading and what stands under it up to the next heading."""
    starts = [document.lines.starts[each.line - 1] for each in document.sections]
    span = Span(starts[section], [*starts, len(document.data)][section + 1])
    address = f"{document.name}#{section_name(document, section)}"
    return Place(document, "section", span, document.read(span), section, address=address)


def of_row(document: Document, section: int, table: int, row: int) -> Place:
    """A whole row of a table."""
    line = document.sections[section].tables[table].rows[row]
    span = Span(line.start, line.end)
    address = f"{_in_table(document, section, table, row)}"
    return Place(document, "row", span, document.read(span), section, table, row, address=address)


def of_cell(document: Document, section: int, table: int, row: int, column: int) -> Place:
    """One cell of a table."""
    grid = document.sections[section].tables[table]
    cell = grid.rows[row].cell(column)
    span = Span(cell.start, cell.end) if cell else None
    address = f"{_in_table(document, section, table, row, column)}/{_counted(grid.columns, column)}"
    return Place(document, "cell", span, cell.text if cell else "", section, table, row, column, address=address)


def of_field(document: Document, section: int, item: int) -> Place:
    """The value of a field."""
    value = document.sections[section].fields[item]
    keys = [each.key for each in document.sections[section].fields]
    address = f"{document.name}#{section_name(document, section)}/{_counted(keys, item)}"
    return Place(document, "field", value.span, value.text, section, item=item, address=address)


def of_check(document: Document, section: int, item: int, name: str) -> Place:
    """The mark of a check box; ``name`` is its label or the words it begins with, by which it stays addressed."""
    check = document.sections[section].checks[item]
    address = f"{document.name}#{section_name(document, section)}/{name.strip()}"
    text = "x" if check.checked else ""
    return Place(document, "check", check.span, text, section, item=item, address=address)


def of_code(document: Document, section: int, item: int) -> Place:
    """The content of a code block."""
    block = document.sections[section].code[item]
    address = f"{document.name}#{section_name(document, section)}/code[{item + 1}]"
    return Place(document, "code", block.span, block.text, section, item=item, address=address)


def places_in(document: Document, section: int) -> Iterator[Place]:
    """Every cell (but for the rows' labels), field, check box and code block of a section."""
    part = document.sections[section]
    for number, table in enumerate(part.tables):
        for row in range(len(table.rows)):
            for column in range(1, len(table.columns)):
                yield of_cell(document, section, number, row, column)
    yield from (of_field(document, section, item) for item in range(len(part.fields)))
    yield from (of_check(document, section, item, check.label) for item, check in enumerate(part.checks))
    yield from (of_code(document, section, item) for item in range(len(part.code)))


def count_places_in(document: Document, section: int) -> int:
    """How many :func:`places_in` yields."""
    part = document.sections[section]
    cells = sum(len(table.rows) * (len(table.columns) - 1) for table in part.tables)
    return cells + len(part.fields) + len(part.checks) + len(part.code)


def _in_table(document: Document, section: int, table: int, row: int, column: int | None = None) -> str:
    """The address of a row, with the number of its table where another one in the section would answer to it, too."""
    part = document.sections[section]
    row_label = part.tables[table].labels[row]
    alike = [each for each in part.tables if fold(row_label) in each.rows_by_label]
    if column is not None:
        column_label = part.tables[table].columns[column]
        alike = [each for each in alike if fold(column_label) in each.columns_by_label]
    number = f"[{table + 1}]" if len(alike) > 1 else ""
    same = part.tables[table].rows_by_label[fold(row_label)]
    nth = f"[{same.index(row) + 1}]" if len(same) > 1 else ""
    return f"{document.name}#{section_name(document, section)}{number}/{row_label}{nth}"


def _counted(labels: Sequence[str], position: int) -> str:
    """A label, with its number where others before or after it are alike."""
    same = [place for place, label in enumerate(labels) if fold(label) == fold(labels[position])]
    return labels[position] + (f"[{same.index(position) + 1}]" if len(same) > 1 else "")
