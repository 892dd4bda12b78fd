"""Figures that cannot be: what a Run or a Baseline claims held against itself. Each answer is a doubt, in Chinese."""

from __future__ import annotations

import math
from collections.abc import Iterator

from npueval.records import Baseline
from npueval.runs import Run
from npueval.runs.cases import Case

TOLERATED = 0.2
SHORTEST_LATENCY_MS = 0.005
"""Below what any launch of a kernel takes: such a figure timed the launch, or nothing."""

SHORTEST_SYNCHRONISED_MS = 0.05
"""Below what a program needs to launch the kernels of one inference on a card and to wait for them."""


def implausible(run: Run) -> Iterator[str]:
    """What contradicts itself in a Run."""
    for case in run.cases:
        yield from (f"{case.name}：{doubt}" for doubt in implausible_case(case))


def implausible_case(case: Case) -> Iterator[str]:
    """What contradicts itself in a case: nothing is met by such figures."""
    if not case.n:
        return
    mean = float(case.milliseconds().mean())
    if case.load != "open" and case.batch and (rate := case.throughput()):
        yield from _rate(rate, case.batch * case.concurrency * case.cards, mean)
    if mean < SHORTEST_LATENCY_MS:
        yield f"平均延迟 {mean:.2g} ms，短于一次内核下发"


def implausible_figures(baseline: Baseline) -> Iterator[str]:
    """What contradicts itself in the inference figures of a log or a foreign result."""
    found = {figure.metric: figure.value for figure in baseline.figures}
    p50, p95, p99 = (found.get(f"latency_{name}_ms") for name in ("p50", "p95", "p99"))
    for low, high, names in ((p50, p95, "p95 < p50"), (p95, p99, "p99 < p95"), (p50, p99, "p99 < p50")):
        if low is not None and high is not None and high < low:
            yield f"{names}（{high:g} < {low:g}），不可能"
    latency = found.get("latency_mean_ms", p50)
    shortest = SHORTEST_LATENCY_MS if baseline.fact("device_kind") == "cpu" else SHORTEST_SYNCHRONISED_MS
    if latency is not None and latency < shortest:
        yield f"延迟 {latency:g} ms，短于下发并等待一次内核所需的 {shortest:g} ms，可能没有同步"
    rate, batch = found.get("throughput"), baseline.fact("batch") or ""
    if rate and latency and batch.isdigit():
        yield from _rate(rate, int(batch), latency)


def _rate(rate: float, items: float, latency_ms: float) -> Iterator[str]:
    """``rate`` (items/s) against what ``items`` finished in each ``latency_ms`` amount to."""
    expected = items / (latency_ms / 1e3)
    ratio = rate / expected
    if 1 / (1 + TOLERATED) <= ratio <= 1 + TOLERATED:
        return
    slip = round(math.log10(ratio) / 3)
    cause = "，像是单位差 1000 倍" if slip and abs(math.log10(ratio) / 3 - slip) < 0.05 else ""
    whole = round(max(ratio, 1 / ratio))
    cards = f"，像是 {whole} 卡总和与单卡之差" if not cause and whole in (2, 4, 8, 16) else ""
    yield f"吞吐 {rate:.4g}/s 与 batch ÷ 延迟 = {expected:.4g}/s 相差 {ratio:.3g} 倍{cause}{cards}"
