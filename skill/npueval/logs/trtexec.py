"""trtexec's performance summary. ``Latency`` is H2D + compute + D2H of one query.

It runs on NVIDIA GPUs only, so that its figures are a GPU's.

Trap: ``qps`` is queries ÷ host time, not samples/s, and newer versions leave the transfers out; the batch stands in the
command. None of its figures is divided by a samples/s.
"""

from __future__ import annotations

import re

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_QUANTITY = re.compile(r"\] (Latency|GPU Compute Time|Enqueue Time|H2D Latency|D2H Latency): (.+)")
_DATE = re.compile(r"\[(\d\d)/(\d\d)/(20\d\d)-")
_STATISTIC = re.compile(r"(mean|median|percentile\((\d+)%\)) = ([\d.]+) ms")
_RATE = re.compile(r"\] Throughput: ([\d.]+) qps")
_NAMES = {
    "Latency": "latency",
    "GPU Compute Time": "compute",
    "Enqueue Time": "enqueue",
    "H2D Latency": "h2d",
    "D2H Latency": "d2h",
}


class Trtexec(LineFormat):
    name = "trtexec"
    needles = ("Throughput: ", "percentile(9", "=== Performance summary ===", "Total GPU Compute")
    samples = (
        "[05/27/2023-12:00:00] [I] Throughput: 240.1 qps",
        "[I] Latency: min = 4.1 ms, max = 5.0 ms, mean = 4.3 ms, median = 4.2 ms, percentile(95%) = 4.8 ms",
    )

    def read(self, text: str, book: Logbook) -> bool:
        if "=== Performance summary ===" in text:
            book.begin()
            book.fact("scope", "h2d+infer+d2h")
            book.fact("device_kind", "gpu")
            if dated := _DATE.search(text):
                book.fact("date", "{2}-{0}-{1}".format(*dated.groups()))
            return True
        if "] Total GPU Compute Time: " in text:
            book.end(finished=True)
            return True
        if rate := _RATE.search(text):
            book.record([("queries_per_second", rate[1])], phase="infer")
            return True
        found = _QUANTITY.search(text)
        if not found:
            return False
        name = _NAMES[found[1]]
        pairs = [(f"{name}_{_statistic(which, rank)}_ms", value) for which, rank, value in _STATISTIC.findall(found[2])]
        book.record(pairs, phase="infer")
        return bool(pairs)

    def guess(self, key: str) -> Column | None:
        return Column(key, "queries/s" if key == "queries_per_second" else "ms")


def _statistic(which: str, rank: str) -> str:
    return f"p{rank}" if rank else {"median": "p50"}.get(which, which)
