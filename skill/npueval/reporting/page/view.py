"""What is on the page: the columns that are held against each other, and the cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from npueval.commands import Template
from npueval.records import Change, ComparisonRow, Value
from npueval.reporting.dossier import Column, Dossier
from npueval.runs import Run
from npueval.runs.cases import Case


class Key(NamedTuple):
    """Which case: a precision, a batch, and a load."""

    precision: str
    batch: int
    concurrency: int
    rate: float | None

    @property
    def curve(self) -> tuple[str, int, float | None]:
        """What the cases of one curve share: all but the batch."""
        return self.precision, self.concurrency, self.rate


_MOST_POINTS, _FEWEST_POINTS, _POINTS_IN_ALL = 400, 60, 9_000
_SERIES_IN_ALL = 150


@dataclass(frozen=True)
class Side:
    """One column: a Run for each precision; ``run`` is the one that is judged, or there is a ``reason`` why not."""

    column: Column
    runs: tuple[Run, ...]
    run: Run | None
    reason: str

    @property
    def name(self) -> str:
        """The column's name; a Run that carries no verdict is marked wherever it is named."""
        return f"{self.column.upper()}{self.mark}"

    @property
    def mark(self) -> str:
        """Why the column's samples are no evidence; empty where they are."""
        return mark_of(self.run) if self.run else ""

    def case(self, key: Key) -> Case | None:
        """The column's case under a load, where it has samples."""
        run = self.at(key.precision)
        case = run.case(key.batch, key.concurrency, key.rate) if run else None
        return case if case is not None and case.n else None

    def at(self, precision: str) -> Run | None:
        """The column's Run at a precision."""
        return next((run for run in self.runs if run.precision == precision), None)


@dataclass(frozen=True)
class View:
    """One evaluation as the page shows it. ``commands`` are those that would fill its gaps.

    ``home`` is the way from the page's folder to the project.
    """

    dossier: Dossier
    commands: Sequence[Template] = ()
    home: str = ""

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """NPU, GPU, and the CPU where the project asked for it or has it."""
        dossier = self.dossier
        wanted = dossier.plan.baseline.cpu or dossier.cpu_run or dossier.comparison.baseline_column == "cpu"
        columns: tuple[Column, ...] = ("npu", "gpu", *(("cpu",) if wanted else ()))
        return tuple(Side(name, dossier.runs_of(name), dossier.run(name), self._gap(name)) for name in columns)

    @property
    def measured(self) -> tuple[Side, ...]:
        """The sides that have a Run."""
        return tuple(side for side in self.sides if side.runs)

    @property
    def records(self) -> tuple[tuple[str, Run], ...]:
        """Every Run with its name: the column and the precision."""
        named = ((f"{side.column.upper()} {run.precision}", run) for side in self.sides for run in side.runs)
        return tuple((f"{name}{mark_of(run)}", run) for name, run in named)

    @property
    def baselines(self) -> tuple[Side, ...]:
        """The sides that the NPU is held against."""
        return self.sides[1:]

    @property
    def simulated(self) -> bool:
        """Whether any Run on the page was made by a simulated device."""
        return any(run.simulated for run in self.dossier.runs)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The cases, the target case first."""
        return tuple(dict.fromkeys(key_of(row) for row in self.dossier.comparison.rows))

    @property
    def target(self) -> Key:
        """The case that the targets speak of."""
        return self.keys[0]

    @property
    def drawn(self) -> tuple[Key, ...]:
        """The cases whose samples are drawn: all, as long as the page stays small."""
        return self.keys[: _SERIES_IN_ALL // max(1, len(self.measured))]

    @property
    def points(self) -> int:
        """How many points a drawn series may have: the more cases the page holds, the fewer."""
        share = _POINTS_IN_ALL // max(1, len(self.drawn) * len(self.measured))
        return max(_FEWEST_POINTS, min(_MOST_POINTS, share))

    def _gap(self, column: Column) -> str:
        first = value_of(self.dossier.comparison.rows[0], column)
        return first.reason if first.value is None else "只有日志中的统计值，没有原始样本"


def mark_of(run: Run) -> str:
    """Why the samples of a Run are no evidence; empty where they are."""
    return "（模拟）" if run.simulated else "" if run.valid else "（输出错误）"


def key_of(row: ComparisonRow) -> Key:
    """The case of a row."""
    return Key(row.precision, row.batch, row.concurrency, row.rate)


def value_of(row: ComparisonRow, column: Column) -> Value:
    """The value of a column."""
    return {"npu": row.npu, "gpu": row.gpu, "cpu": row.cpu}[column]


def case_name(key: Key) -> str:
    """A case in words: ``fp16 · batch=32 · 顺序单请求``."""
    load = "顺序单请求" if key.concurrency == 1 else f"闭环并发 {key.concurrency}"
    if key.rate is not None:
        load = f"开环 {key.rate:g} 请求/s"
    return f"{key.precision} · batch={key.batch} · {load}"


def change_of(row: ComparisonRow, column: Column) -> Change:
    """The NPU against a baseline column."""
    return row.against_gpu if column == "gpu" else row.against_cpu
