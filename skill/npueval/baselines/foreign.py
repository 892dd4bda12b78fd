"""Figures that another tool wrote on the user's GPU host, each at the grade that its form deserves."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from npueval.errors import FormatError
from npueval.logs import hardware
from npueval.logs.assessing import NoBaseline, assess
from npueval.logs.extracting import extract
from npueval.plan import Plan
from npueval.records import Baseline, Citation, Fact, Figure, Grade
from npueval.statistics import PERCENTILES, least_samples, percentile

CSV_FORMAT = "npueval/comparison-csv/1"
_LATENCY = {"mean": "latency_mean_ms", "median": "latency_p50_ms", "p95": "latency_p95_ms", "p99": "latency_p99_ms"}


def read(raw: bytes, data: Any, file: Path, plan: Plan, stated: Mapping[str, str]) -> Baseline:
    """The Baseline of a file (``data``: its JSON, ``None`` where it is none); :class:`FormatError` for unknown forms.

    Knows trtexec's ``--exportTimes``, ais_bench's summary, the result of vLLM's ``bench serve``, our CSV, and every
    log that ``baseline extract`` reads. ``stated`` facts are the user's word, and the doubts say so.
    """
    for recognise, make in _FORMS:
        if recognise(data, raw):
            facts, figures, grade, doubts = make(data, raw, file, plan)
            break
    else:
        return _log(file, stated)
    word = (f"{'、'.join(stated)} 由用户声明",) if stated else ()
    known = {**_stated(stated), **facts}
    if not figures:
        raise FormatError("holds no figure that can be used", path=file)
    return Baseline("gpu", grade, known, tuple(figures), doubts=(*doubts, *word), path=file.name)


Made = tuple[dict[str, Fact], list[Figure], Grade, tuple[str, ...]]


def _log(file: Path, stated: Mapping[str, str]) -> Baseline:
    found = extract(file, file.name)
    for run in found.runs:
        run.facts = {**_stated(stated), **run.facts}
        try:
            judged = assess(run, found.doubts)
        except NoBaseline as error:
            raise FormatError(f"no baseline: {error}", path=file) from None
        return Baseline(
            "gpu", judged.grade, judged.facts, judged.figures, judged.missing, judged.doubts, path=file.name
        )
    raise FormatError(f"of no known form: {found.rejected}", path=file)


def _trtexec(data: Any, _raw: bytes, file: Path, _plan: Plan) -> Made:
    """Raw latencies of every query: H2D + compute + D2H. Percentiles as ours, with n: grade B."""
    latencies = [float(entry["latencyMs"]) for entry in data]
    if min(latencies) <= 0:
        raise FormatError("a latency of zero or less", path=file)
    figures = [
        _latency(f"latency_{name}_ms", percentile(latencies, p), file, n=len(latencies))
        for name, p in PERCENTILES.items()
        if len(latencies) >= least_samples(p)
    ]
    mean = _latency("latency_mean_ms", sum(latencies) / len(latencies), file, n=len(latencies))
    return (
        {"device_kind": Fact("gpu"), "scope": Fact("h2d+infer+d2h")},
        [*figures, mean],
        Grade.B,
        ("trtexec 不给出 batch，需由用户声明",),
    )


def _ais_bench(data: Any, _raw: bytes, file: Path, _plan: Plan) -> Made:
    """Statistics of the device's compute time on an Ascend card: no GPU baseline, and no end-to-end latency."""
    times = data["NPU_compute_time"]
    named = {"mean": "compute_mean_ms", "median": "compute_p50_ms"}
    figures = [_latency(metric, float(times[key]), file) for key, metric in named.items() if key in times]
    doubts = ("ais_bench 是昇腾卡上的设备计算时间，不能填入 GPU 列，也不含数据搬运",)
    return {"device_kind": Fact("npu"), "scope": Fact("infer（仅设备计算）")}, figures, Grade.C, doubts


def _vllm(data: Any, _raw: bytes, file: Path, _plan: Plan) -> Made:
    """The client's view of a server: latencies of requests, throughput in tokens."""
    n = int(data.get("completed") or 0) or None
    figures = [
        _latency(metric, float(data[f"{key}_e2el_ms"]), file, n=n)
        for key, metric in _LATENCY.items()
        if data.get(f"{key}_e2el_ms") is not None
    ]
    for key, metric in (("output_throughput", "output_throughput"), ("request_throughput", "request_throughput")):
        if data.get(key) is not None:
            unit = "tokens/s" if metric == "output_throughput" else "requests/s"
            figures.append(Figure(metric, float(data[key]), unit, "higher", _cite(file), per="total", n=n))
    failed = int(data.get("num_prompts") or n or 0) - (n or 0)
    facts = {"scope": Fact("请求端到端（服务）"), "model": Fact(str(data.get("model_id", "")))}
    return facts, figures, Grade.B if n else Grade.C, (f"有 {failed} 个失败的请求",) if failed > 0 else ()


def _own_csv(_data: Any, raw: bytes, file: Path, plan: Plan) -> Made:
    """The GPU side of a comparison that was exported elsewhere: percentiles with n, without the samples."""
    target = (str(plan.target_batch), str(plan.concurrency[0]), "", "gpu", "performance")
    keys = ("batch", "concurrency", "arrival_rate", "side", "kind")
    rows = [row for row in csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))) if row.get("value")]
    chosen = [row for row in rows if tuple(row.get(key) or "" for key in keys) == target]
    figures = [
        Figure(
            metric=row["metric"],
            value=float(row["value"]),
            unit=row["unit"],
            direction="higher" if row["direction"] == "higher" else "lower",
            source=_cite(file),
            per="total" if row["metric"] == "throughput" else "",
            n=int(row["n"]) if row.get("n") else None,
        )
        for row in chosen
    ]
    facts = {"device_kind": Fact("gpu"), "batch": Fact(target[0]), "precision": Fact(plan.precision)}
    return facts, figures, Grade.B, ("来自导出的 CSV，没有原始样本",)


def _stated(facts: Mapping[str, str]) -> dict[str, Fact]:
    """The user's word; a device's name says its kind too."""
    kind = hardware.kind(facts.get("device", ""))
    return {key: Fact(value) for key, value in {"device_kind": kind or "", **facts}.items() if value}


def _latency(metric: str, value: float, file: Path, n: int | None = None) -> Figure:
    return Figure(metric, value, "ms", "lower", _cite(file), n=n)


def _cite(file: Path) -> Citation:
    return Citation(file.name, 1, "")


def _is_trtexec(data: Any, _raw: bytes) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(e, dict) and "latencyMs" in e for e in data)


def _is_ais_bench(data: Any, _raw: bytes) -> bool:
    return isinstance(data, dict) and isinstance(data.get("NPU_compute_time"), dict)


def _is_vllm(data: Any, _raw: bytes) -> bool:
    return isinstance(data, dict) and "request_throughput" in data and "output_throughput" in data


def _is_own_csv(_data: Any, raw: bytes) -> bool:
    return CSV_FORMAT.encode() in raw[:4096]


_FORMS: Sequence[tuple[Callable[[Any, bytes], bool], Callable[[Any, bytes, Path, Plan], Made]]] = (
    (_is_trtexec, _trtexec),
    (_is_ais_bench, _ais_bench),
    (_is_vllm, _vllm),
    (_is_own_csv, _own_csv),
)
