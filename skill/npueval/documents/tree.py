"""What a document is made of. Offsets are bytes of the file as it was read; lines and columns count from 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from npueval.documents.labels import fold
from npueval.documents.lines import Lines, Span
from npueval.documents.rows import Cell, Split, first_text, split

FORMAT = "npueval/document/1"


@dataclass(frozen=True, eq=False)
class Row:
    """One line of a table, without the prefix of the quote or list it stands in. Split when first asked for."""

    data: bytes = field(repr=False)
    line: int
    start: int
    end: int

    @cached_property
    def split(self) -> Split:
        """Cells and outer pipes."""
        return split(self.data, self.start, self.end)

    def cell(self, column: int) -> Cell | None:
        """The cell of a column (from 0), or ``None`` where the row is too short."""
        cells = self.split.cells
        return cells[column] if column < len(cells) else None

    def text(self, column: int) -> str:
        """The text of a column's cell; empty where the row is too short."""
        cell = self.cell(column)
        return cell.text if cell else ""


@dataclass(frozen=True, eq=False)
class Table:
    """A GFM table. ``render`` turns Markdown text into what a reader sees."""

    header: Row
    delimiter: Row
    rows: tuple[Row, ...]
    render: Callable[[str], str] = field(repr=False)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The header cells as a reader sees them."""
        return tuple(self.render(cell.text) for cell in self.header.split.cells)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The first cell of each row as a reader sees it."""
        return tuple(self.render(first_text(row.data, row.start, row.end)) for row in self.rows)

    @cached_property
    def rows_by_label(self) -> Mapping[str, list[int]]:
        """Row numbers (from 0) by folded label."""
        return _positions(self.labels)

    @cached_property
    def columns_by_label(self) -> Mapping[str, list[int]]:
        """Column numbers (from 0) by folded label."""
        return _positions(self.columns)


@dataclass(frozen=True)
class Field:
    """A list item ``key：value``; ``span`` is the value's, which ends with its paragraph (nested text is outside)."""

    key: str
    line: int
    start: int
    span: Span
    text: str
    colon: str


@dataclass(frozen=True)
class CheckBox:
    """A list item ``[ ] label``; ``span`` is the one character between the brackets."""

    label: str
    line: int
    span: Span
    checked: bool


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block; ``span`` holds its content lines with their endings, ``prefix`` what precedes each of them."""

    info: str
    line: int
    start: int
    span: Span
    text: str
    fence: str
    prefix: bytes
    closed: bool


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it up to the next heading. ``key`` is its number, or its title without one."""

    key: str
    number: str | None
    title: str
    level: int
    parent: str
    line: int
    span: Span
    tables: tuple[Table, ...] = ()
    fields: tuple[Field, ...] = ()
    checks: tuple[CheckBox, ...] = ()
    code: tuple[CodeBlock, ...] = ()

    @cached_property
    def fields_by_key(self) -> Mapping[str, list[int]]:
        """Field numbers (from 0) by folded key."""
        return _positions(item.key for item in self.fields)

    @cached_property
    def checks_by_label(self) -> Mapping[str, list[int]]:
        """Check box numbers (from 0) by folded label."""
        return _positions(check.label for check in self.checks)

    @cached_property
    def code_by_name(self) -> Mapping[str, list[int]]:
        """All code blocks' numbers (from 0) under the one name they have, ``code``."""
        return _positions("code" for _ in self.code)


@dataclass(frozen=True)
class Suspect:
    """Text that its writer surely meant as structure and that no parser takes for it, with the safe mend."""

    kind: str
    line: int
    span: Span
    replacement: str


@dataclass(frozen=True, eq=False)
class Document:
    """A parsed document. ``preamble`` precedes the first heading; ``shape`` is every block with its depth and lines."""

    path: str
    name: str
    data: bytes = field(repr=False)
    lines: Lines = field(repr=False)
    preamble: Section
    sections: tuple[Section, ...]
    suspects: tuple[Suspect, ...]
    shape: tuple[tuple[str, int, int, int], ...] = field(repr=False)

    @cached_property
    def sections_by_key(self) -> Mapping[str, list[int]]:
        """Section numbers (from 0) by folded number, and by folded title."""
        found: dict[str, list[int]] = {}
        for place, section in enumerate(self.sections):
            for name in {fold(section.number or ""), fold(section.title)} - {""}:
                found.setdefault(name, []).append(place)
        return found

    def read(self, span: Span) -> str:
        """The text of a span."""
        return self.data[span.start : span.end].decode()

    def as_json(self, spelling: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
        """The structure, for a JSON Schema; ``spelling`` gives by folded label what is written instead of a variant."""
        keys = _keys(self.sections, spelling)
        sections = {key: _section(section, spelling) for key, section in zip(keys, self.sections, strict=True)}
        return {"format": FORMAT, "document": self.name, "sections": sections}

    def locate(
        self, pointer: Sequence[str | int], spelling: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int, int]:
        """Line and column of a place in :meth:`as_json`, or of the nearest place around it."""
        if len(pointer) < 2:
            return self.lines.position(self.lines.starts[0])
        section = self.sections[_keys(self.sections, spelling).index(str(pointer[1]))]
        return self.lines.position(_offset(section, list(pointer[2:]), spelling))


def _keys(things: Iterable[Section | Field], spelling: Mapping[str, str]) -> list[str]:
    return counted(_spelled(thing.key, spelling) for thing in things)


def _spelled(label: str, spelling: Mapping[str, str]) -> str:
    return spelling.get(fold(label), label) if spelling else label


def _section(section: Section, spelling: Mapping[str, str]) -> dict[str, Any]:
    return {
        "title": _spelled(section.title, spelling),
        "level": section.level,
        "parent": _spelled(section.parent, spelling),
        "line": section.line,
        "tables": [_table(table, spelling) for table in section.tables],
        "fields": dict(zip(_keys(section.fields, spelling), (item.text for item in section.fields), strict=True)),
        "checks": [{"text": _spelled(check.label, spelling), "checked": check.checked} for check in section.checks],
        "code": [block.info for block in section.code],
    }


def _table(table: Table, spelling: Mapping[str, str]) -> dict[str, Any]:
    columns, rows = ([_spelled(label, spelling) for label in labels] for labels in (table.columns, table.labels))
    return {"columns": columns, "rows": rows, "line": table.header.line}


def _offset(section: Section, parts: list[str | int], spelling: Mapping[str, str]) -> int:
    match parts:
        case ["tables", int(number), "rows", int(row), *_]:
            return section.tables[number].rows[row].start
        case ["tables", int(number), "columns", int(column), *_]:
            return section.tables[number].header.split.cells[column].start
        case ["tables", int(number), *_]:
            return section.tables[number].header.start
        case ["fields", str(key), *_]:
            return section.fields[_keys(section.fields, spelling).index(key)].start
        case ["checks", int(number), *_]:
            return section.checks[number].span.start
        case ["code", int(number), *_]:
            return section.code[number].start
    return section.span.start


def counted(names: Iterable[str]) -> list[str]:
    """``names`` made unique: the second ``a`` is ``a[2]``."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}[{seen[name]}]")
    return unique


def _positions(names: Iterable[str]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(fold(name), []).append(place)
    return found
