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
    """One number in its normal form (ms, items per second, fraction), with the original beside it.

    ``unit`` of a score whose scale cannot be told is ``scale?``. ``per`` says whose a rate is: ``card``, ``total``, or
    ``?`` where nobody knows (which forbids a ratio). ``n`` is the number of samples behind the value, where known.
    """

    metric: str
    value: float
    unit: str
    direction: Direction
    source: Citation | None = None
    original: str = ""
    per: str = ""
    n: int | None = None


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
class Point:
    """One condition of a measurement, held against the baseline's: *same*, *differs*, or *unknown*."""

    name: str
    outcome: Literal["same", "differs", "unknown"]
    ours: str | None = None
    theirs: str | None = None


@dataclass(frozen=True)
class Cell:
    """One figure of one device, or ``None`` with the reason (Chinese: it is what the document says).

    ``low`` and ``high`` bound it with 95 % confidence, ``n`` counts the samples behind it, ``source`` is the id of the
    Run or the citation it comes from.
    """

    value: float | None = None
    reason: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    source: str = ""


@dataclass(frozen=True)
class Gain:
    """How many times better the NPU is than a baseline: above 1 is better, whatever the metric's direction.

    ``None`` with the reason where the two cannot be compared; without ``low`` and ``high`` where only means are known.
    """

    value: float | None = None
    reason: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A verdict in the words of the documents; ``passed`` is ``None`` while it is open, which ``text`` explains."""

    passed: bool | None
    text: str


@dataclass(frozen=True)
class Line:
    """One row of the performance table: a metric of one batch under one load, in every column."""

    metric: str
    label: str
    unit: str
    direction: Direction
    batch: int
    concurrency: int
    cpu: Cell
    gpu: Cell
    npu: Cell
    to_cpu: Gain
    to_gpu: Gain
    target: str
    judgement: Judgement


@dataclass(frozen=True)
class Stage:
    """One row of the stage table: median ms of one segment at the target batch."""

    segment: str
    baseline: Cell
    npu: Cell


@dataclass(frozen=True)
class Score:
    """One row of the accuracy table. ``difference`` is the NPU's value less the baseline's."""

    metric: str
    direction: Direction
    baseline: Cell
    npu: Cell
    difference: float | None
    threshold: str
    judgement: Judgement


@dataclass(frozen=True)
class Comparison:
    """The Run held against its baseline: what is comparable, every figure side by side, and three verdicts."""

    grade: Grade
    points: tuple[Point, ...]
    lines: tuple[Line, ...]
    stages: tuple[Stage, ...]
    scores: tuple[Score, ...]
    performance: Judgement
    accuracy: Judgement
    overall: Judgement


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
