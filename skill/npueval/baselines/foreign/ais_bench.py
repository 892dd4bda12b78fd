"""ais_bench's summary: the compute time on an Ascend card, which is no GPU baseline and no end-to-end latency.

Trap: ``throughput`` is 1000 × batch ÷ mean compute time; it tells the batch, and is no wall-clock rate.
"""

from __future__ import annotations

from npueval.baselines.foreign.base import Made, Source, count, in_order, latency, milliseconds, rate
from npueval.errors import FormatError
from npueval.records import Fact, Figure, Grade

TIMES = "NPU_compute_time"
_NAMES = {"mean": "compute_mean_ms", "median": "compute_p50_ms", "P95": "compute_p95_ms", "P99": "compute_p99_ms"}
_WHOLE = 0.01


def recognises(source: Source) -> bool:
    """An object with the table of compute times."""
    return source.holds(TIMES) and isinstance(source.data[TIMES], dict)


def read(source: Source) -> Made:
    """Statistics with n where it is told: grade C, for an Ascend card fills no baseline column."""
    times = source.data[TIMES]
    n = count(times["count"], f"{TIMES}.count") if "count" in times else None
    figures = [
        latency(metric, milliseconds(times[key], f"{TIMES}.{key}"), source.cite(TIMES), n)
        for key, metric in _NAMES.items()
        if times.get(key) is not None
    ]
    in_order(figures, "compute_p50_ms", "compute_p95_ms", "compute_p99_ms")
    facts = {"device_kind": Fact("npu"), "scope": Fact("infer（仅设备计算）"), **_batch(source, figures)}
    doubt = "ais_bench 是昇腾卡上的设备计算时间，不能填入 GPU 列，也不含数据搬运"
    return Made(tuple(figures), Grade.C, facts, (doubt,))


def _batch(source: Source, figures: list[Figure]) -> dict[str, Fact]:
    mean = next((figure.value for figure in figures if figure.metric == "compute_mean_ms"), None)
    if mean is None or source.data.get("throughput") is None:
        return {}
    batch = rate(source.data["throughput"], "throughput") * mean / 1e3
    if round(batch) < 1 or abs(batch - round(batch)) > _WHOLE * batch:
        raise FormatError(f"contradicts itself: throughput × mean ÷ 1000 is a batch of {batch:g}")
    return {"batch": Fact(str(round(batch)), source.cite("throughput"))}
