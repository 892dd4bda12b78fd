"""What is to happen to one document: texts that come into places, new rows, rows that go, texts that stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from npueval.documents.places import Place
from npueval.documents.tree import Document, Table
from npueval.errors import DocumentError, Problem
from npueval.patching.ledger import Ledger

Grid = tuple[int, int]
"""A table: the number of its section, and its number there."""


@dataclass(frozen=True)
class Conflict:
    """A text that is kept because a person wrote it."""

    address: str
    reason: str
    kept: str


@dataclass(frozen=True)
class Write:
    """A text that comes to a place of the document as it was read."""

    place: Place
    text: str
    source: str


@dataclass(frozen=True)
class NewRow:
    """A row that comes after the old row ``anchor`` (-1: before all), behind the other new rows there."""

    anchor: int
    label: str
    cells: tuple[str, ...]
    source: str
    after: str | None


@dataclass
class Revision:
    """What is to happen to one document. ``confirmed`` are our texts that stay and now have another source."""

    document: Document
    ledger: Ledger
    forced: frozenset[str]
    writes: dict[tuple[object, ...], Write] = field(default_factory=dict)
    new_rows: dict[Grid, list[NewRow]] = field(default_factory=dict)
    removed: set[tuple[int, int, int]] = field(default_factory=set)
    confirmed: list[Write] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    refusals: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def arrangement(self, grid: Grid) -> list[int | NewRow]:
        """The rows of a table afterwards: numbers of old rows, and the new ones."""
        fresh = self.new_rows.get(grid, [])
        rows: list[int | NewRow] = [row for row in fresh if row.anchor < 0]
        anchors = {row.anchor for row in fresh}
        for number in range(len(self.table(grid).rows)):
            rows += [number] if (*grid, number) not in self.removed else []
            rows += [row for row in fresh if row.anchor == number] if number in anchors else []
        return rows

    @contextmanager
    def refusing(self, address: str) -> Iterator[None]:
        """Note what is wrong with an edit instead of raising it, so that all mistakes are known at once."""
        try:
            yield
        except DocumentError as error:
            message = f"{address}: {error.message}"
            self.refusals.append(Problem(message, self.document.path, error.line, hint=error.hint))

    def touched(self) -> set[Grid]:
        """The tables in which something changes."""
        cells = {
            (write.place.section, write.place.table) for write in self.writes.values() if write.place.kind == "cell"
        }
        return cells | self.new_rows.keys() | {(section, table) for section, table, _ in self.removed}

    def written(self, grid: Grid) -> dict[int, dict[int, str]]:
        """The texts that come into old rows of a table, by row and column."""
        texts: dict[int, dict[int, str]] = {}
        for write in self.writes.values():
            if write.place.kind == "cell" and (write.place.section, write.place.table) == grid:
                texts.setdefault(write.place.row, {})[write.place.column] = write.text
        return texts

    def table(self, grid: Grid) -> Table:
        """The table as it was read."""
        return self.document.sections[grid[0]].tables[grid[1]]
