"""What evalscope's ``perf`` writes: a summary of means, and beside it a list of percentiles. Times are seconds.

Trap: neither holds a sample, and the list does not say of how many requests it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from npueval.baselines.foreign.base import (
    Made,
    Source,
    agree,
    count,
    in_order,
    latency,
    milliseconds,
    number,
    throughput,
)
from npueval.errors import FormatError
from npueval.records import Fact, Figure, Grade

_N, _MEAN, _TOOK = "Succeed requests", "Average latency (s)", "Time taken for tests (s)"
_TIMES = {
    _MEAN: "latency_mean_ms",
    "Average time to first token (s)": "ttft_mean_ms",
    "Average time per output token (s)": "tpot_mean_ms",
    "Average inter-token latency (s)": "itl_mean_ms",
}
_RATES = (
    ("Request throughput (req/s)", "request_throughput", "requests/s"),
    ("Output token throughput (tok/s)", "output_throughput", "tokens/s"),
    ("Total token throughput (tok/s)", "total_token_throughput", "tokens/s"),
)
_OF, _COLUMNS = "Percentiles", {"Latency (s)": "latency", "TTFT (s)": "ttft", "TPOT (s)": "tpot", "ITL (s)": "itl"}
_KNOWN = {"50%": "p50", "90%": "p90", "95%": "p95", "99%": "p99"}


def recognises(source: Source) -> bool:
    """The summary, or the list of percentiles."""
    return source.holds(_N, _MEAN) or _is_percentiles(source)


def read(source: Source) -> Made:
    """Means or percentiles without their samples: grade C."""
    facts = {"scope": Fact("请求端到端（服务）")}
    if _is_percentiles(source):
        return Made(tuple(_percentiles(source)), Grade.C, facts, ("分位数未写明请求数",))
    data = source.data
    n = count(data[_N], _N)
    if data.get(_TOOK) is not None and data.get(_RATES[0][0]) is not None:
        agree(number(data[_RATES[0][0]], _RATES[0][0]), n / number(data[_TOOK], _TOOK), _RATES[0][0])
    if data.get("Number of concurrency") is not None:
        facts["concurrency"] = Fact(str(count(data["Number of concurrency"], "Number of concurrency")))
    failed = data.get("Failed requests")
    doubts = (f"有 {count(failed, 'Failed requests')} 个失败的请求",) if failed else ()
    return Made(tuple(_means(source, n)), Grade.C, facts, doubts)


def _is_percentiles(source: Source) -> bool:
    rows = source.data
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(r, dict) and {_OF, "Latency (s)"} <= r.keys() for r in rows)
    )


def _means(source: Source, n: int) -> Iterator[Figure]:
    for key, metric in _TIMES.items():
        value = source.data.get(key)
        # Without a stream there is no first token to wait for: 0 or -1 stands for that.
        if value is not None and (key == _MEAN or not isinstance(value, int | float) or value > 0):
            yield latency(metric, milliseconds(value, key, "s"), source.cite(key), n, f"{value:g} s")
    for key, metric, unit in _RATES:
        if source.data.get(key) is not None:
            yield throughput(metric, source.data[key], unit, source.cite(key), n)


def _percentiles(source: Source) -> Iterator[Figure]:
    figures = []
    for row in source.data:
        statistic = _KNOWN.get(str(row[_OF]))
        for column, name in _COLUMNS.items():
            value = row.get(column)
            if statistic and value is not None and (column == "Latency (s)" or value != 0):
                found = milliseconds(value, f"{column} {row[_OF]}", "s")
                figures.append(latency(f"{name}_{statistic}_ms", found, source.cite(column), None, f"{value:g} s"))
    if len({figure.metric for figure in figures}) < len(figures):
        raise FormatError("contradicts itself: a percentile stands there twice")
    for name in _COLUMNS.values():
        in_order(figures, *(f"{name}_{statistic}_ms" for statistic in _KNOWN.values()))
    yield from figures
