"""The nouns that travel between verbs. Raw data is frozen; everything else is derived from it.

Nothing here imports numpy: the linter reads findings without it. The measured samples live in :mod:`npueval.runs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal


class Grade(str, Enum):
    """How much a piece of evidence may carry (A: raw samples of the same kit … D: a quoted number)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    NONE = "N/A"


class Gate(str, Enum):
    """May tests run on this machine? (4.0.3 of the migration rules.)"""

    AUTO = "AUTO"
    MANUAL_STOP = "MANUAL_STOP"
    UNKNOWN = "UNKNOWN"


Direction = Literal["lower", "higher"]
"""Whether a smaller or a larger value is the better one; a property of the metric, never of the number."""


@dataclass(frozen=True)
class Citation:
    """Where a value stands: path relative to the project, 1-based line, and the text of that line."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Fact:
    """One statement about the conditions of a measurement (device, dataset, batch …) with its source."""

    value: str
    source: Citation | None = None


@dataclass(frozen=True)
class Figure:
    """One number in its normal form (ms, items per second, fraction), with the original beside it."""

    metric: str
    value: float
    unit: str
    direction: Direction
    source: Citation | None = None
    original: str = ""


@dataclass(frozen=True)
class Baseline:
    """What a Run is held against: a project's log, a GPU result the user brought, or nothing with a reason.

    ``facts`` are keyed ``device``, ``device_kind`` (gpu, cpu, npu), ``framework``, ``dataset``, ``split``, ``batch``,
    ``precision``, ``cards``, ``date``, ``epochs``, ``learning_rate`` …; a key that is absent is unknown.
    ``missing`` names what a complete baseline would also hold.
    """

    source: Literal["log", "gpu", "none"]
    grade: Grade
    facts: Mapping[str, Fact] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    reason: str = ""
    path: str | None = None

    def fact(self, key: str) -> str | None:
        """The value of a fact, or ``None`` where it is unknown."""
        found = self.facts.get(key)
        return found.value if found else None

    def figure(self, metric: str) -> Figure | None:
        """The figure of a metric, or ``None`` where the baseline has none."""
        return next((figure for figure in self.figures if figure.metric == metric), None)


@dataclass(frozen=True)
class Edit:
    """One addressed change to one document.

    ``value`` is the text of a cell, a field or a code block, ``"x"``/``""`` for a check box, or the cells of a new row
    (with ``after``: the label of the row that it follows). ``source`` names the Run or Baseline it came from.
    """

    address: str
    value: str | bool | tuple[str, ...]
    source: str = ""
    after: str | None = None


@dataclass(frozen=True)
class Finding:
    """One lint result: a code, a place (1-based line and column), what is wrong and how to mend it."""

    code: str
    path: str
    line: int
    column: int
    message: str
    hint: str = ""
