"""What a logged run is worth as a baseline: its figures in normal form, what is missing, what is doubtful."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from math import inf
from statistics import median

from npueval import metrics
from npueval.logs.logged import MILLISECONDS, UNKNOWN_LENGTH, LoggedRun, Series
from npueval.logs.quoting import quote
from npueval.logs.timings import UNSTATED
from npueval.records import Baseline, Citation, Figure, Grade

CONDITIONS = {
    "数据集或划分": ("dataset", "split"),
    "环境（设备型号）": ("device",),
    "batch 或超参数": ("batch", "learning_rate"),
}
"""What a complete baseline holds beside a metric: any one fact of each row."""

INFERENCE = {"推理延迟 p50": "latency_p50_ms", "推理延迟 p95": "latency_p95_ms", "推理吞吐": "throughput"}

_FAR = 2.0
_MOST_WARMUP = 0.25
_CROWD = 2

_PER_CARD = re.compile(
    r"per[ _-]?(?:device|gpu|card)[ _-](?:\w+[ _-])?batch|samples_per_gpu"
    r"|batch[ _-]?size[ _(]{0,2}per[ _](?:device|gpu|card)|[每单]卡 ?batch",
    re.IGNORECASE,
)


class NoBaseline(Exception):
    """The run can be no baseline at all; the message says why, in Chinese."""


def assess(run: LoggedRun, doubts: tuple[str, ...] = ()) -> Baseline:
    """A run as a baseline. :class:`NoBaseline` where its losses are not finite or it holds no figure."""
    _refuse_broken(run)
    figures = tuple(_figures(run))
    if not figures:
        raise NoBaseline("没有可用的数值：全部缺失、为负或不适用")
    missing = tuple(name for name, keys in CONDITIONS.items() if not any(key in run.facts for key in keys))
    lacking = tuple(name for name, metric in INFERENCE.items() if all(figure.metric != metric for figure in figures))
    return Baseline(
        source="log",
        grade=Grade.D if missing else run.grade,
        facts=dict(run.facts),
        figures=figures,
        missing=missing + lacking,
        doubts=(*doubts, *run.doubts, *_doubts(run)),
        path=run.path,
    )


def is_complete(baseline: Baseline) -> bool:
    """Whether it holds a metric, a data set or split, an environment, and a batch or hyper-parameters."""
    return bool(baseline.figures) and not any(name in baseline.missing for name in CONDITIONS)


def steady(series: Series) -> tuple[list[float], int]:
    """The values after the warm-up, and how many were left out: the first of the run and of each epoch, and leading
    values that are more than twice or less than half of what follows."""
    values = list(series.values)
    if len(values) < 2:
        return values, 0
    firsts = {0, *(i for i in range(1, len(values)) if series.epochs[i] != series.epochs[i - 1])}
    each_epoch = len(firsts) * 2 < len(values)
    kept = [i for i in range(1, len(values)) if not (each_epoch and i in firsts)]
    chosen = [values[i] for i in kept]
    later = median(chosen[len(chosen) // 2 :])
    most = int(len(chosen) * _MOST_WARMUP)
    slow = 0
    while slow < most and not later / _FAR <= chosen[slow] <= later * _FAR:
        slow += 1
    return chosen[slow:], len(values) - len(chosen) + slow


def _refuse_broken(run: LoggedRun) -> None:
    for series in run.series.values():
        if series.column.kind in ("score", "latency", "throughput"):
            continue
        where = series.first_not_finite
        if where and (series.ends_not_finite or series.not_finite * 20 > series.count):
            total = series.count + series.not_finite
            raise NoBaseline(f"{series.column.metric} 出现 NaN/Inf（{series.not_finite}/{total} 次，首次在 {where}）")
        if series.column.kind == "loss" and series.count and not any(series.values):
            why = "没有真正算出" if series.phase == "eval" else "训练已失效"
            raise NoBaseline(f"{series.column.metric} 恒为 0.0（{run.path}:{series.last_at[0]}），{why}")


def _figures(run: LoggedRun) -> Iterator[Figure]:
    for series in run.series.values():
        if not series.count:
            continue
        timed = series.column.kind in ("latency", "throughput")
        figure = _timed(run, series) if timed else _valued(run, series)
        if figure:
            yield figure


def _timed(run: LoggedRun, series: Series) -> Figure | None:
    column = series.column
    values, left_out = steady(series)
    middle = median(values)
    if middle <= 0:
        return None
    rate = column.kind == "throughput"
    prefix = "" if series.phase == "infer" else f"{series.phase}_"
    how = f"{len(values)} 个打印值的中位数 {middle:g} {column.unit}，去掉预热 {left_out} 个" if left_out else ""
    return Figure(
        metric=f"{prefix}{_statistic(series)}",
        value=middle * (1.0 if rate else MILLISECONDS[column.unit]),
        unit=column.unit if rate else "ms",
        direction=column.direction,
        source=_cite(run, series),
        original=how or f"{middle:g} {column.unit}",
        per="total" if column.per and run.fact("cards") == "1" else column.per,
    )


def _statistic(series: Series) -> str:
    """The name of a time or a rate; the median of single latencies is a p50, one alone passes as a mean."""
    name = series.column.metric
    return name if name != UNSTATED else "latency_p50_ms" if series.count > 1 else "latency_mean_ms"


def _valued(run: LoggedRun, series: Series) -> Figure | None:
    column = series.column
    if column.kind in ("score", "error") and series.last < 0:
        return None
    unit, why = _scale(run, series)
    factor = 0.01 if unit == "percent" else 1.0
    best = f"；全程最好 {series.best:g}（行 {series.best_at[0]}）" if series.best != series.last else ""
    return Figure(
        metric=_name(series),
        value=series.last * factor,
        unit="fraction" if unit == "percent" else unit,
        direction=column.direction,
        source=_cite(run, series),
        original=f"末次 {series.last:g}{best}{f'；{why}' if why else ''}",
        n=run.counts.get(column.metric),
    )


def _name(series: Series) -> str:
    """The metric's name, which says on what it was taken where that is not the usual: scores held out, losses not."""
    name, kind = series.column.metric, series.column.kind
    if series.phase == "train":
        return f"train_{name}" if kind == "score" and not name.startswith("train") else name
    return name if kind == "score" or metrics.is_held_out(name) else f"eval_{name}"


def _scale(run: LoggedRun, series: Series) -> tuple[str, str]:
    """``fraction``, ``percent`` or ``scale?`` of a score, and how one can tell."""
    if series.column.unit != "scale?":
        return series.column.unit, {"percent": "该格式按百分数打印", "fraction": ""}.get(series.column.unit, "")
    if series.column.metric in run.scales:
        return run.scales[series.column.metric]
    highest = max(series.values)
    if highest > 1:
        return "percent", f"出现过大于 1 的值 {highest:g}，按百分数"
    return "scale?", "取值都不大于 1，无法区分百分数与小数"


def _cite(run: LoggedRun, series: Series) -> Citation:
    return quote(run.path, *series.last_at, series.last)


def _doubts(run: LoggedRun) -> Iterator[str]:
    if run.restarted:
        yield f"从第 {run.first_line} 行起是重新开始（或续训）的一次运行，续训后的吞吐可能偏高"
    batch = run.facts.get("batch")
    if batch and batch.source and run.fact("cards") != "1" and _PER_CARD.search(batch.source.text):
        yield f"batch {batch.value} 是每卡的（{batch.source}），总数取决于卡数"
    for key, facts in run.conflicts.items():
        yield f"{key} 前后不一致：" + "；".join(f"{fact.value}（{fact.source}）" for fact in facts[:3])
    yield from islice(filter(None, map(_crowd, run.series.values())), 1)
    for series in run.series.values():
        if series.first_not_finite:
            where = f"首次在 {series.first_not_finite}"
            yield f"{series.column.metric} 有 {series.not_finite} 个 NaN/Inf（{where}），未计入"
        if series.column.metric == UNSTATED:
            taken = "逐次打印，取中位数作 p50" if series.count > 1 else "没有写明是平均还是分位数，按平均记"
            yield f"延迟{taken}（{run.path}:{series.last_at[0]}）"
        if series.thinned:
            yield f"{series.column.metric} 共 {series.count} 个值，中位数取自均匀抽取的 {len(series.values)} 个"
    yield from _unfinished(run)


def _crowd(series: Series) -> str:
    """Whether most steps bear several values, as where every rank writes and none says which it is."""
    places = list(zip(series.epochs, series.steps, strict=True))
    again = sum(here == before and 0 <= here[1] < inf for before, here in pairwise(places))
    if series.phase != "train" or again * 2 < len(places) or again < _CROWD:
        return ""
    return f"{series.column.metric} 在同一步有多个不同的值，像是几个进程写进了同一个文件，末次的值属于哪个进程未知"


def _unfinished(run: LoggedRun) -> Iterator[str]:
    if run.finished:
        return
    reached = run.positions.get("train", (-1.0, -1.0))
    for key, name, at in zip(("epochs", "iterations"), (" epoch {:g}", "第 {:g} 次迭代"), reached, strict=True):
        planned = run.fact(key)
        # Many count from 0.
        if planned and 0 <= at < float(planned) - 1:
            yield f"只到{name.format(at)}，配置为 {planned}：未跑完，指标不是最终值"
    if _is_cut_in_first_epoch(run):
        of = "" if run.epoch_length == UNKNOWN_LENGTH else f"，共 {run.epoch_length} 步"
        yield f"第一个 epoch 就中断了（第 {reached[1]:g} 步{of}），指标不是最终值"


def _is_cut_in_first_epoch(run: LoggedRun) -> bool:
    """Whether it neither evaluated nor came to a second epoch, with more steps to go than lie between two records."""
    if any(phase == "eval" for phase, _ in run.series) or "train" not in run.positions:
        return False
    epoch, step = run.positions["train"]
    trained = next((series for (phase, _), series in run.series.items() if phase == "train" and series.count), None)
    if trained is None or epoch != trained.epochs[0] or step < 0:
        return False
    stride = step - trained.steps[-2] if len(trained.steps) > 1 else step
    return run.epoch_length - step > max(stride, 1.0)
