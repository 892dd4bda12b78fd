"""Where samples go while they are taken: columns made beforehand, in a file that outlives the process."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from npueval.runs.cases import Nanoseconds

UNWRITTEN = -1
_WIDTH = 8


class Tape:
    """``rows`` int64 slots for each named column, all :data:`UNWRITTEN`.

    With a path the slots are a mapped file: what was measured is there even when the process is killed. Without one
    they are memory only.
    """

    def __init__(self, columns: Sequence[str], rows: int, path: Path | None = None) -> None:
        self.rows = rows
        size = _size(columns, rows)
        if path is None:
            self._map = mmap.mmap(-1, size)
        else:
            path.write_bytes(b"")
            with path.open("r+b") as file:
                file.truncate(size)
                self._map = mmap.mmap(file.fileno(), size)
        whole = memoryview(self._map).cast("q") if columns and rows else memoryview(bytearray()).cast("q")
        self.columns: Mapping[str, memoryview] = {
            name: whole[place * rows : (place + 1) * rows] for place, name in enumerate(columns)
        }
        np.frombuffer(whole, np.int64).fill(UNWRITTEN)

    def clear(self, row: int) -> None:
        """Forget what stands in a row: its iteration failed."""
        for column in self.columns.values():
            column[row] = UNWRITTEN

    def series(self) -> dict[str, Nanoseconds]:
        """The rows that were written to their end, column by column."""
        return complete_rows({name: np.frombuffer(column, np.int64) for name, column in self.columns.items()})


def read(path: Path, columns: Sequence[str], rows: int) -> dict[str, Nanoseconds]:
    """The complete rows of a tape that another process left behind; none of one that is not as it was made."""
    if path.stat().st_size != _size(columns, rows):
        return {}
    raw = np.fromfile(path, np.int64)
    return complete_rows(dict(zip(columns, raw.reshape(len(columns), -1), strict=True)))


def _size(columns: Sequence[str], rows: int) -> int:
    return max(1, len(columns) * rows * _WIDTH)


def complete_rows(columns: Mapping[str, Nanoseconds]) -> dict[str, Nanoseconds]:
    """Copies of the columns, without the rows in which one of them was never written."""
    if not columns:
        return {}
    whole = np.all([column != UNWRITTEN for column in columns.values()], axis=0)
    return {name: column[whole] for name, column in columns.items()}
