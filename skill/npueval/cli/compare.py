"""``skill compare``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from npueval.cli.base import Reply, verb
from npueval.errors import Exit, FormatError

if TYPE_CHECKING:
    from npueval.records import AccuracyRow, Comparison, ComparisonRow, Value
    from npueval.runs import Run

_SHORT = "Hold a Run against its baseline: comparability, ratios, verdict."


@verb("compare", short_help=_SHORT)
@click.argument("plan", type=click.Path(path_type=Path))
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--cpu", type=click.Path(path_type=Path), help="A Run of the CPU, for the CPU column.")
def command(plan: Path, base: Path, run: Path, cpu: Path | None) -> Reply:
    """Compare RUN (the NPU's) with BASE: a baseline.json, or a Run that came back from a GPU.

    PLAN holds the targets. Exit status 1 where a verdict is 不通过; no ratio is formed of what does not compare.

    \b
    Example:  npueval compare npueval.yaml runs/baseline.json runs/20260101T000000Z-npu-0000.json
    """
    from npueval import baselines, comparing
    from npueval import plan as plans

    baseline, gpu_run = baselines.load_any(base)
    if gpu_run:
        _refuse_unbelievable(gpu_run, base)
    comparison = comparing.compare(
        plans.load(plan),
        [_load(run)],
        baseline,
        cpu=[_load(cpu)] if cpu else (),
        gpu=[gpu_run] if gpu_run else (),
    )
    failed = "不通过" in (comparison.performance.verdict, comparison.accuracy.verdict)
    return Reply(
        comparing.to_data(comparison), _text(comparison), Exit.FINDINGS if failed else Exit.OK, comparison.doubts
    )


def _load(path: Path) -> Run:
    from npueval import runs

    run = runs.load(path)
    _refuse_unbelievable(run, path)
    return run


def _refuse_unbelievable(run: Run, path: Path) -> None:
    from npueval.possible import unbelievable

    if reason := unbelievable(run):
        raise FormatError(reason, path=path, hint="measure again; a Run is never edited by hand")


def _text(comparison: Comparison) -> str:
    parts = [_row(row) for row in (*comparison.rows, *comparison.stages)]
    parts += [_score(score) for score in comparison.accuracy_rows]
    parts += [f"{column}: {line}" for column in comparison.points for line in _points(comparison, column)]
    verdicts = (("性能", comparison.performance), ("精度", comparison.accuracy), ("总体", comparison.total))
    return "\n".join([*parts, *(f"{name}：{each.verdict}（{each.reason}）" for name, each in verdicts)])


def _row(row: ComparisonRow) -> str:
    from npueval.statistics import apart

    change = row.against_cpu if row.gpu.value is None and row.cpu.value is not None else row.against_gpu
    interval = f" [{', '.join(apart(*change.interval))}]" if change.interval else f" {change.no_interval}"
    ratio = change.refusal if change.ratio is None else f"{change.ratio:.3g} ×{interval}（{change.grade.value} 级）"
    judged = f"  {row.judgement} {row.reason}".rstrip() if row.judgement else ""
    return f"{row.label}: NPU {_value(row.npu)}, GPU {_value(row.gpu)}, CPU {_value(row.cpu)}; {ratio}{judged}"


def _score(score: AccuracyRow) -> str:
    sides = f"NPU {_value(score.npu)}, 基线 {_value(score.baseline)}"
    return f"{score.label}: {sides}, {score.judgement or '无目标'} {score.reason}".rstrip()


def _value(value: Value) -> str:
    return f"N/A（{value.reason}）" if value.value is None else f"{value.value:.4g}"


def _points(comparison: Comparison, column: str) -> Iterator[str]:
    for point in comparison.points[column]:
        if point.agreement != "same":
            yield f"{point.agreement} {point.name}: NPU {point.npu}, {column.upper()} {point.other}"
