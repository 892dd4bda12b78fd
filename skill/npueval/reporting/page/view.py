"""What is on the page: the columns that are held against each other, and the cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from npueval.commands import Template
from npueval.records import Change, ComparisonRow, Value
from npueval.reporting.dossier import Dossier
from npueval.runs import Run
from npueval.runs.cases import Case

Column = Literal["npu", "gpu", "cpu"]
Key = tuple[int, int, float | None]
"""Batch, concurrency, arrival rate."""

_MOST_POINTS, _FEWEST_POINTS, _POINTS_IN_ALL = 400, 60, 9_000
_SERIES_IN_ALL = 150


@dataclass(frozen=True)
class Side:
    """One column: its Run where it has one, else why there are no samples of it."""

    column: Column
    run: Run | None
    reason: str

    @property
    def name(self) -> str:
        """The column's name; a Run that carries no verdict is marked wherever it is named."""
        return f"{self.column.upper()}{self.mark}"

    @property
    def mark(self) -> str:
        """Why the column's samples are no evidence; empty where they are."""
        if self.run is None:
            return ""
        return "（模拟）" if self.run.simulated else "" if self.run.valid else "（输出错误）"

    def case(self, key: Key) -> Case | None:
        """The column's case under a load, where it has samples."""
        case = self.run.case(*key) if self.run else None
        return case if case is not None and case.n else None


@dataclass(frozen=True)
class View:
    """One evaluation as the page shows it. ``commands`` are those that would fill its gaps."""

    dossier: Dossier
    commands: Sequence[Template] = ()

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """NPU, GPU, and the CPU where the project asked for it or has it."""
        dossier = self.dossier
        runs: dict[Column, Run | None] = {"npu": dossier.npu_run, "gpu": dossier.gpu_run, "cpu": dossier.cpu_run}
        wanted = dossier.plan.baseline.cpu or dossier.cpu_run or dossier.comparison.baseline_column == "cpu"
        return tuple(Side(name, run, self._gap(name)) for name, run in runs.items() if name != "cpu" or wanted)

    @property
    def measured(self) -> tuple[Side, ...]:
        """The sides that have a Run."""
        return tuple(side for side in self.sides if side.run)

    @property
    def baselines(self) -> tuple[Side, ...]:
        """The sides that the NPU is held against."""
        return self.sides[1:]

    @property
    def simulated(self) -> bool:
        """Whether any Run on the page was made by a simulated device."""
        return any(side.run.simulated for side in self.sides if side.run)

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


def key_of(row: ComparisonRow) -> Key:
    """The case of a row."""
    return row.batch, row.concurrency, row.rate


def value_of(row: ComparisonRow, column: Column) -> Value:
    """The value of a column."""
    return {"npu": row.npu, "gpu": row.gpu, "cpu": row.cpu}[column]


def case_name(key: Key) -> str:
    """A case in words: ``batch=32 · 顺序单请求``."""
    batch, concurrency, rate = key
    if rate is not None:
        return f"batch={batch} · 开环 {rate:g} 请求/s"
    return f"batch={batch} · " + ("顺序单请求" if concurrency == 1 else f"闭环并发 {concurrency}")


def change_of(row: ComparisonRow, column: Column) -> Change:
    """The NPU against a baseline column."""
    return row.against_gpu if column == "gpu" else row.against_cpu
