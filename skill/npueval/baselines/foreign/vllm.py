"""What vLLM's ``bench serve``, ``bench latency`` and ``bench throughput`` write as JSON.

Traps: serve's latencies are of requests and its throughputs three different quantities; latency's numbers are seconds,
of one batch of prompts, whose size stands in the command only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from npueval.baselines.foreign.base import (
    Made,
    Source,
    agree,
    count,
    in_order,
    latency,
    milliseconds,
    number,
    of_samples,
    throughput,
)
from npueval.errors import FormatError
from npueval.records import Fact, Figure, Grade

_SERVE = ("completed", "duration", "request_throughput", "output_throughput")
_LATENCY = ("avg_latency", "latencies", "percentiles")
_THROUGHPUT = ("elapsed_time", "num_requests", "requests_per_second", "tokens_per_second")
_TIME = re.compile(r"(mean|median|p50|p90|p95|p99)_(ttft|tpot|itl|e2el)_ms")
_RATES = (
    ("request_throughput", "request_throughput", "requests/s"),
    ("output_throughput", "output_throughput", "tokens/s"),
    ("total_token_throughput", "total_token_throughput", "tokens/s"),
)
_DATE = re.compile(r"(20\d\d)(\d\d)(\d\d)-")


def recognises(source: Source) -> bool:
    """An object with all that one of the three writes."""
    return any(source.holds(*keys) for keys in (_SERVE, _LATENCY, _THROUGHPUT))


def read(source: Source) -> Made:
    """Each at the grade that its samples allow."""
    if source.holds(*_SERVE):
        return _serve(source)
    return _latency(source) if source.holds(*_LATENCY) else _throughput(source)


def _serve(source: Source) -> Made:
    """The client's view of a server, with n: grade B."""
    data = source.data
    n = count(data["completed"], "completed")
    agree(
        number(data["request_throughput"], "request_throughput"), n / number(data["duration"], "duration"), _RATES[0][0]
    )
    figures = list({figure.metric: figure for figure in _times(source, n)}.values())
    for key, metric, unit in _RATES:
        if data.get(key) is not None:
            figures.append(throughput(metric, data[key], unit, source.cite(key), n))
    for name in ("ttft", "tpot", "itl", "latency"):
        in_order(figures, *(f"{name}_{statistic}_ms" for statistic in ("p50", "p90", "p95", "p99")))
    return Made(tuple(figures), Grade.B, _conditions(source), tuple(_failed(data, n)))


def _times(source: Source, n: int) -> Iterator[Figure]:
    for key, value in source.data.items():
        found = _TIME.fullmatch(key)
        # Without a stream there is no first token to wait for, and vLLM writes 0.
        if found and value is not None and (value != 0 or found[2] == "e2el"):
            name, statistic = {"e2el": "latency"}.get(found[2], found[2]), {"median": "p50"}.get(found[1], found[1])
            yield latency(f"{name}_{statistic}_ms", milliseconds(value, key), source.cite(key), n)


def _conditions(source: Source) -> dict[str, Fact]:
    data = source.data
    facts = {"scope": Fact("请求端到端（服务）")}
    if isinstance(data.get("model_id"), str):
        facts["model"] = Fact(data["model_id"], source.cite("model_id"))
    if isinstance(data.get("date"), str) and (found := _DATE.match(data["date"])):
        facts["date"] = Fact("-".join(found.groups()), source.cite("date"))
    if data.get("max_concurrency") is not None:
        facts["concurrency"] = Fact(str(count(data["max_concurrency"], "max_concurrency")))
    return facts


def _failed(data: dict[str, Any], n: int) -> Iterator[str]:
    asked = count(data["num_prompts"], "num_prompts") if data.get("num_prompts") is not None else n
    if n > asked:
        raise FormatError(f"contradicts itself: {n} requests completed of {asked}")
    if n < asked:
        yield f"有 {asked - n} 个失败的请求"


def _latency(source: Source) -> Made:
    """Raw latencies of whole batches, in seconds: grade B."""
    held = source.data["latencies"]
    if not isinstance(held, list) or not held:
        raise FormatError("latencies holds no samples")
    samples = [milliseconds(value, f"latencies[{place}]", "s") for place, value in enumerate(held)]
    agree(milliseconds(source.data["avg_latency"], "avg_latency", "s"), sum(samples) / len(samples), "avg_latency (ms)")
    return Made(of_samples(samples, source.cite("latencies")), Grade.B, {"scope": Fact("整批生成（离线）")})


def _throughput(source: Source) -> Made:
    """Rates of one run without its samples: grade C."""
    data = source.data
    n = count(data["num_requests"], "num_requests")
    implied = n / number(data["elapsed_time"], "elapsed_time")
    agree(number(data["requests_per_second"], "requests_per_second"), implied, "requests_per_second")
    rates = (
        ("request_throughput", "requests_per_second", "requests/s"),
        ("total_token_throughput", "tokens_per_second", "tokens/s"),
    )
    figures = tuple(throughput(metric, data[key], unit, source.cite(key), n) for metric, key, unit in rates)
    return Made(figures, Grade.C, {"scope": Fact("整批生成（离线）")})
