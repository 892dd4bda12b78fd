"""vLLM ``bench serve`` and evalscope's performance table: one figure a line.

Traps: request, output-token and total-token throughput are three quantities; latencies are of requests, not of batches.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_FIELD = re.compile(r"[\s|]{0,8}([A-Za-z][\w %()./-]{0,60}?)\s{0,60}[:|]\s{1,80}([\d.,]+)\s*\|?\s*$")
_HEAD = re.compile(r"= ?(?:Serving )?Benchmark (?:Result|summary) ?=|Benchmarking summary", re.IGNORECASE)
_STATISTICS = {"Mean": "mean", "Median": "p50", "Average": "mean"}
_TIMES = {
    "TTFT": "ttft",
    "TPOT": "tpot",
    "ITL": "itl",
    "E2EL": "latency",
    "latency": "latency",
    "time to first token": "ttft",
    "time per output token": "tpot",
}
_TIME = re.compile(rf"(Mean|Median|P\d\d|Average) ({'|'.join(_TIMES)}) \((ms|s)\)")
_COUNTS = {
    "Successful requests": "requests",
    "Succeed requests": "requests",
    "Maximum request concurrency": "concurrency",
    "Number of concurrency": "concurrency",
}


class VllmBench(LineFormat):
    name = "vLLM/evalscope benchmark"
    needles = (
        "Benchmark",
        "======",
        "throughput (",
        "TTFT",
        "TPOT",
        "ITL (",
        "E2EL",
        "Successful requests",
        "Failed requests",
        "Succeed requests",
        "concurrency",
        "Average ",
    )
    samples = (
        "Output token throughput (tok/s):         512.40    ",
        "Median TTFT (ms):                        81.20     ",
    )
    columns: ClassVar = {
        "Request throughput (req/s)": Column("request_throughput", "requests/s", per="total"),
        "Output token throughput (tok/s)": Column("output_throughput", "tokens/s", per="total"),
        "Total Token throughput (tok/s)": Column("total_token_throughput", "tokens/s", per="total"),
        "Total token throughput (tok/s)": Column("total_token_throughput", "tokens/s", per="total"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        if "=" in text and text.strip("= \t") == "":
            book.end(finished=True)
            return True
        if _HEAD.search(text):
            book.begin()
            book.fact("scope", "请求端到端（服务）")
            return True
        found = _FIELD.match(text)
        if not found:
            return False
        key, value = found[1].strip(), found[2]
        if key == "Failed requests" or key in _COUNTS:
            self._count(key, value, book)
            return True
        if self.column(key) is None:
            return False
        book.record([(key, value)], phase="infer")
        return True

    def guess(self, key: str) -> Column | None:
        found = _TIME.fullmatch(key)
        if not found:
            return None
        return Column(f"{_TIMES[found[2]]}_{_STATISTICS.get(found[1], found[1].lower())}_ms", found[3])

    def _count(self, key: str, value: str, book: Logbook) -> None:
        if key == "Failed requests" and float(value.replace(",", "")) > 0:
            book.doubt(f"有 {value} 个失败的请求")
        elif key in _COUNTS:
            book.fact(_COUNTS[key], value)
            if _COUNTS[key] == "requests":
                self._few(value, book)

    def _few(self, value: str, book: Logbook) -> None:
        # With numpy: not for every log that is read.
        from npueval.statistics import PERCENTILES, least_samples

        requests = float(value.replace(",", ""))
        poor = "、".join(name for name, p in PERCENTILES.items() if requests < least_samples(p))
        if poor:
            book.run().doubts.setdefault(f"只有 {value} 个请求，{poor} 靠不住")
