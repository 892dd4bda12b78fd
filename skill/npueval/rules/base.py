"""What a rule is, and how it reads the documents: by section number, row, column and key, each value with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from npueval.documents.labels import fold
from npueval.documents.tree import Document, Section
from npueval.errors import DocumentError, Problem
from npueval.records import Finding


@dataclass(frozen=True)
class Value:
    """A text that stands in a document, with the byte offset where it starts; ``label`` is its row's or its key."""

    document: Document
    offset: int
    text: str
    label: str = ""


@dataclass(frozen=True)
class Line:
    """One row of a table: its label and the cells of the columns that were asked for, in that order."""

    label: str
    cells: tuple[Value, ...]


@dataclass(frozen=True)
class Documents:
    """The documents that are linted together, by name (``Compare``, ``Mig_Readme`` …).

    ``unreadable`` holds what the reader refused. Of a folder that is linted as a whole, ``missing`` holds the paths
    where a document is absent, ``misplaced`` what lies where it does not belong.
    """

    readable: Mapping[str, Document]
    unreadable: tuple[DocumentError, ...] = ()
    missing: tuple[str, ...] = ()
    misplaced: tuple[Problem, ...] = ()

    def section(self, name: str, key: str) -> Section | None:
        """A section by its number or title."""
        document = self.readable.get(name)
        places = document.sections_by_key.get(fold(key), ()) if document else ()
        return document.sections[places[0]] if document and places else None

    def lines(self, name: str, key: str, *columns: str) -> Iterator[Line]:
        """The rows of every table of a section that has all ``columns``; a cell that a short row lacks is empty."""
        section = self.section(name, key)
        for table in section.tables if section else ():
            places = [table.columns_by_label.get(fold(column), [None])[0] for column in columns]
            if None in places:
                continue
            for row, label in zip(table.rows, table.labels, strict=True):
                cells = [(row.cell(place), row.text(place)) for place in places if place is not None]
                yield Line(
                    label,
                    tuple(
                        Value(self.readable[name], cell.start if cell else row.start, text, label)
                        for cell, text in cells
                    ),
                )

    def cell(self, name: str, key: str, label: str, column: str) -> Value | None:
        """The cell of a column in the row whose label begins with ``label``."""
        wanted = fold(label)
        lines = self.lines(name, key, column)
        return next((line.cells[0] for line in lines if fold(line.label).startswith(wanted)), None)

    def field(self, name: str, key: str, label: str) -> Value | None:
        """The value of the list item whose key begins with ``label``."""
        section = self.section(name, key)
        for item in section.fields if section else ():
            if fold(item.key).startswith(fold(label)):
                return Value(self.readable[name], item.span.start, item.text, item.key)
        return None

    def check(self, name: str, key: str, label: str) -> tuple[Value, bool] | None:
        """The check box whose words begin with ``label``, and whether it is ticked."""
        section = self.section(name, key)
        for box in section.checks if section else ():
            if fold(box.label).startswith(fold(label)):
                return Value(self.readable[name], box.span.start, box.label, box.label), box.checked
        return None

    def code(self, name: str, key: str) -> Iterator[Value]:
        """The fenced blocks of a section."""
        section = self.section(name, key)
        for block in section.code if section else ():
            yield Value(self.readable[name], block.span.start, block.text)


@dataclass(frozen=True)
class Remark:
    """What a rule has to say about one place; ``path`` stands alone where there is no readable document."""

    path: str
    line: int
    column: int
    message: str
    hint: str = ""


def at(value: Value, message: str, hint: str = "") -> Remark:
    """A remark about a value."""
    line, column = value.document.lines.position(value.offset)
    return Remark(value.document.path, line, column, message, hint)


Example = Mapping[str, "str | bytes"]
"""Documents by name, or the parts of them that matter; bytes where the encoding is the point."""


@dataclass(frozen=True)
class Rule:
    """A law of the documents. ``name`` reads as "allow …"; ``law`` is what holds, in one sentence, ``why`` what for."""

    code: str
    name: str
    since: str
    law: str
    why: str
    bad: Example
    good: Example
    check: Callable[[Documents], Iterator[Remark]] = field(repr=False)

    def findings(self, documents: Documents) -> Iterator[Finding]:
        """Everything in which the documents break this rule."""
        for remark in self.check(documents):
            yield Finding(self.code, remark.path, remark.line, remark.column, remark.message, remark.hint)

    def page(self) -> str:
        """The rule in Markdown: what holds, why, and an example of each kind."""
        return "\n".join(
            [
                f"## {self.code} {self.name}",
                f"\n{self.law}\n{self.why}",
                f"Bad:\n\n{_shown(self.bad)}\n",
                f"Good:\n\n{_shown(self.good)}\n",
                f"Since {self.since}.",
            ]
        )


def _shown(example: Example) -> str:
    return "\n\n".join(f"`{name}`\n\n````markdown\n{_text(content)}\n````" for name, content in example.items())


def _text(content: str | bytes) -> str:
    return content.rstrip("\n") if isinstance(content, str) else repr(content)
