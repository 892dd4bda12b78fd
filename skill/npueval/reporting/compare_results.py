"""Compare: verdicts, accuracy, performance, stages and the paths of the records."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.records import AccuracyRow, Change, ComparisonRow, Edit, Value
from npueval.reporting import profiled
from npueval.reporting.cells import SEGMENT_NAMES, joined, literal, missing, number, row, said, values
from npueval.reporting.compare_baseline import doubted, why_this_baseline
from npueval.reporting.dossier import Dossier
from npueval.runs.cases import SEGMENTS
from npueval.statistics import apart

PERFORMANCE = "Compare#4"
ACCURACY = "Compare#3"


def edits(dossier: Dossier) -> list[Edit]:
    """§1, §3, §4, §4.1 and §6."""
    comparison = dossier.comparison
    verdicts = {
        "精度是否达标": said(comparison.accuracy),
        "性能是否达标": said(comparison.performance),
        "总体结论": said(comparison.total),
    }
    return [
        *values("Compare#1", verdicts),
        *_accuracy(dossier),
        *_performance(dossier),
        *_stages(dossier),
        *values("Compare#6", _paths(dossier)),
    ]


def _accuracy(dossier: Dossier) -> Iterator[Edit]:
    """One row each: in the template's example row, or at the end."""
    for score in dossier.comparison.accuracy_rows:
        cells = (
            literal(score.label),
            _quoted(score.baseline),
            _shown(score.npu),
            score.refusal or missing("两侧不全") if score.difference is None else f"{score.difference:+.4g}",
            score.target or missing("计划未设阈值"),
            _judged(score),
        )
        yield Edit(f"{ACCURACY}/{score.label}", cells, score.npu.source)


def _judged(entry: AccuracyRow | ComparisonRow) -> str:
    if entry.judgement is None:
        return missing("计划未对此设目标")
    return f"{entry.judgement}（{entry.reason}）" if entry.reason else entry.judgement


def _performance(dossier: Dossier) -> Iterator[Edit]:
    yield from values(PERFORMANCE, _performance_basis(dossier))
    after = TEMPLATE_ROWS["throughput"]
    plan = dossier.plan
    target = plan.precision, plan.target_batch, plan.concurrency[0], None
    for entry in dossier.comparison.rows:
        label = TEMPLATE_ROWS.get(entry.metric)
        if label and (entry.precision, entry.batch, entry.concurrency, entry.rate) == target:
            yield from row(PERFORMANCE, label, dict(zip(COLUMNS, _cells(entry), strict=True)), entry.npu.source)
        else:
            yield Edit(f"{PERFORMANCE}/{entry.label}", (entry.label, *_cells(entry)), entry.npu.source, after=after)
            after = entry.label


TEMPLATE_ROWS = {
    "latency_p50_ms": "延迟 p50 (ms)",
    "latency_p95_ms": "延迟 p95 (ms)",
    "throughput": "吞吐 (samples/s 或 images/s)",
}
COLUMNS = ("CPU 基线", "GPU 基线", "NPU（迁移后）", "对 CPU 提升/回退", "对 GPU 提升/回退", "目标", "是否达标")


def _cells(entry: ComparisonRow) -> tuple[str, ...]:
    return (
        _shown(entry.cpu),
        _shown(entry.gpu),
        _shown(entry.npu),
        _changed(entry.against_cpu),
        _changed(entry.against_gpu),
        entry.target or missing("计划未对此设目标"),
        _judged(entry),
    )


def _performance_basis(dossier: Dossier) -> dict[str, str]:
    done = dossier.npu_run and dossier.comparison.performance.verdict != "待定"
    return {
        "本次性能结论所依据的 baseline": why_this_baseline(dossier),
        "与归档对齐": "见 Summary §5，数字以本表为准" if done else missing("性能尚无结论，不归档"),
    }


def _shown(value: Value) -> str:
    return missing(value.reason) if value.value is None else number(value.value)


def _quoted(value: Value) -> str:
    return f"{_shown(value)}（{value.source}）" if value.value is not None and value.source else _shown(value)


_NO_DIRECTION = {"same": "在容许范围内", "undecided": "尚不能分辨"}


def _changed(change: Change) -> str:
    if change.ratio is None:
        return change.refusal
    moved = f"{'提升' if change.ratio >= 1 else '回退'} {abs(change.ratio - 1):.1%}"
    said = _NO_DIRECTION.get(change.outcome or "", moved)
    bounds = f"95% 区间 {'–'.join(apart(*change.interval))}" if change.interval else change.no_interval
    return f"{said}（{change.ratio:.3g} 倍，{bounds}）"


TEMPLATE_STAGES = ("preprocess", "infer", "postprocess")


def _stages(dossier: Dossier) -> Iterator[Edit]:
    stages = {stage.segment: stage for stage in dossier.comparison.stages}
    after = ""
    for segment in SEGMENTS:
        name, stage = SEGMENT_NAMES[segment], stages.get(segment)
        source = stage.npu.source if stage else ""
        if segment in TEMPLATE_STAGES:
            cells = _stage(dossier, stage) if stage else (missing("计划未测该环节"),) * len(STAGE_COLUMNS)
            yield from row("Compare#4.1", name, dict(zip(STAGE_COLUMNS, cells, strict=True)), source)
        elif stage:
            yield Edit(f"Compare#4.1/{name}", (name, *_stage(dossier, stage)), source, after=after)
        else:
            continue
        after = name


def _stage(dossier: Dossier, stage: ComparisonRow) -> tuple[str, ...]:
    column = dossier.comparison.baseline_column or "gpu"
    baseline = stage.gpu if column == "gpu" else stage.cpu
    return _shown(baseline), _shown(stage.npu), f"p50，batch {stage.batch}，基线为 {column.upper()} 列"


STAGE_COLUMNS = ("基线 (ms)", "迁移后 (ms)", "备注")


def _paths(dossier: Dossier) -> dict[str, str]:
    npu = "；".join(joined([dossier.file_of(run), doubted(run)], "，") for run in dossier.runs_of("npu"))
    gpu = [*map(dossier.file_of, dossier.runs_of("gpu"))] or [dossier.brought.path if dossier.brought else None]
    sources = [_cited(dossier) if dossier.baseline.path else None, *gpu]
    return {
        "基线来源日志": "；".join(filter(None, sources)) or missing(dossier.baseline.reason),
        "昇腾评测日志": npu or missing(dossier.no_npu),
        "Profiling 结果（如有）": profiled.path(dossier),
    }


def _cited(dossier: Dossier) -> str:
    lines = sorted({figure.source.line for figure in dossier.baseline.figures if figure.source})
    return f"{dossier.baseline.path}（第 {'、'.join(map(str, lines))} 行）" if lines else str(dossier.baseline.path)
