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


Judgement = Literal["达标", "不达标", "无法判定"]
Overall = Literal["通过", "有条件通过", "不通过", "待定"]
Agreement = Literal["same", "differs", "unknown"]


@dataclass(frozen=True)
class Value:
    """What one side has for one row, in the row's unit, or the reason (Chinese) why it has nothing.

    ``low`` and ``high`` are the 95 % interval where raw samples allow one; ``source`` is a Run's id or ``path:line``.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str = ""
    source: str = ""


@dataclass(frozen=True)
class ComparisonPoint:
    """One condition held against that of the other side. One that ``refuses`` forbids every ratio where it differs."""

    name: str
    npu: str
    other: str
    agreement: Agreement
    refuses: bool = False


@dataclass(frozen=True)
class Change:
    """The NPU held against one column. ``ratio`` is oriented: above 1 the NPU is the better one, whatever the metric.

    Without a ratio, ``refusal`` is the cell's text (``不可比：…`` or ``N/A（…）``). ``outcome`` is judged by the whole
    interval and the plan's margin; where there is neither, ``no_interval`` says why (Chinese).
    """

    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    outcome: Literal["better", "worse", "same", "undecided"] | None = None
    refusal: str = ""
    no_interval: str = ""
    grade: Grade = Grade.NONE

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the 95 % interval, where there is one."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class ComparisonRow:
    """One performance metric of one case. ``judgement`` is ``None`` where the plan sets no target for it."""

    metric: str
    label: str
    unit: str
    direction: Direction
    segment: str
    precision: str
    batch: int
    concurrency: int
    rate: float | None
    npu: Value
    gpu: Value
    cpu: Value
    against_gpu: Change
    against_cpu: Change
    target: str = ""
    judgement: Judgement | None = None
    reason: str = ""


@dataclass(frozen=True)
class AccuracyRow:
    """One accuracy metric at one precision. ``difference`` is NPU − baseline.

    A share that a log states is a fraction, whatever it prints; one that a check states stays on its own scale.
    """

    metric: str
    label: str
    precision: str
    direction: Direction
    baseline: Value
    npu: Value
    difference: float | None = None
    refusal: str = ""
    target: str = ""
    judgement: Judgement | None = None
    reason: str = ""
    grade: Grade = Grade.NONE


@dataclass(frozen=True)
class Conclusion:
    """An overall verdict and what it rests on (Chinese)."""

    verdict: Overall
    reason: str

    @property
    def passed(self) -> bool:
        """Whether it is an unconditional pass."""
        return self.verdict == "通过"


@dataclass(frozen=True)
class Comparison:
    """The NPU against its baseline. ``rows`` begin with the target case; ``stages`` are its segments.

    ``baseline_column`` is the column that the verdict rests on (``None``: there is no performance baseline), ``grade``
    the evidence of that comparison, ``points`` the conditions by column.
    """

    run_id: str | None
    baseline_column: Literal["gpu", "cpu"] | None
    grade: Grade
    rows: tuple[ComparisonRow, ...]
    stages: tuple[ComparisonRow, ...]
    accuracy_rows: tuple[AccuracyRow, ...]
    points: Mapping[str, tuple[ComparisonPoint, ...]]
    performance: Conclusion
    accuracy: Conclusion
    total: Conclusion
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """One addressed change to one document.

    ``value`` is the text of a cell, a field or a code block, ``True``/``False`` for a check box, or the cells of a row
    that is inserted or updated (with ``after``: the label of the row that it follows); ``()`` removes a row of ours.
    ``source`` names the Run or Baseline it came from.
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
