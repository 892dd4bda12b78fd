"""Tables drawn with ``+---+`` and ``|``, whose cells hold several columns and whose records span several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cells = list[str]
SHARE = re.compile(r"(\d+)\s*/\s*(\d+)")
_LABELS_THAT_HOLD_BLANKS = ("Name", "Process name")


@dataclass(frozen=True)
class Table:
    """A header (one list of cells a line) and the groups of rows between the rules below it."""

    header: list[Cells]
    groups: list[list[Cells]]

    def has(self, label: str) -> bool:
        """Whether a column of this name is in the header."""
        return any(label in re.split(r"\s{2,}", cell) for row in self.header for cell in row)

    def records(self, height: int) -> Iterator[list[Cells]]:
        """The rows in portions of ``height`` lines; the last of a group may be shorter."""
        for group in self.groups:
            for start in range(0, len(group), height):
                yield group[start : start + height]


def tables(text: str, first_label: str) -> Iterator[Table]:
    """Every table whose header begins with ``first_label`` and ends with a rule of ``=``."""
    rows: list[Cells] = []
    table: Table | None = None
    for line in (line.strip() for line in text.split("\n")):
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif line.startswith("+") and rows:
            if line.startswith("+=") and rows[0][0].split()[:1] == [first_label]:
                table = Table(rows, [])
                yield table
            elif table is not None:
                table.groups.append(rows)
            rows = []
    if rows and table is not None:
        table.groups.append(rows)


def ends_open(text: str) -> bool:
    """Whether the last table of a text has no closing rule, or only the beginning of one."""
    drawn = [line for line in map(str.strip, text.split("\n")) if line.startswith(("|", "+"))]
    rules = [len(line) for line in drawn if line.startswith("+")]
    return bool(drawn) and (drawn[-1].startswith("|") or rules[-1] < max(rules))


def values(header: list[Cells], rows: list[Cells]) -> dict[str, str]:
    """Column by column, cell under cell. Raises ``ValueError`` where columns and values do not match in number."""
    found: dict[str, str] = {}
    for labels, cells in zip(header, rows, strict=False):
        found |= _aligned(labels, cells) if len(labels) == len(cells) else _flat(labels, cells)
    return found


def _aligned(labels: Cells, cells: Cells) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, cell in zip(labels, cells, strict=True):
        names = re.split(r"\s{2,}", label)
        words = _words(cell)
        if names[-1] in _LABELS_THAT_HOLD_BLANKS and len(words) > len(names):
            words = [*words[: len(names) - 1], " ".join(words[len(names) - 1 :])]
        found |= _paired(names, words)
    return found


def _flat(labels: Cells, cells: Cells) -> dict[str, str]:
    """Where the rows are cut into cells otherwise than the header: all words against all labels."""
    names = [name for label in labels for name in label.split()]
    return _paired(names, [word for cell in cells for word in _words(cell)])


def _words(cell: str) -> list[str]:
    """``3373 / 65536`` is one value, however it is spaced."""
    return SHARE.sub(r"\1/\2", cell).split()


def _paired(names: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    if len(names) != len(words):
        raise ValueError(f"{len(words)} values for the columns {', '.join(names)}")
    return dict(zip(names, words, strict=True))
