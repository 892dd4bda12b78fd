"""ais_bench / msit benchmark: device compute time, transfers apart, and a throughput of its mean.

Trap: ``throughput`` is 1000 × batch ÷ mean NPU compute time: no transfers, no host; it is no wall-clock rate.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_QUANTITY = re.compile(r"(NPU_compute_time|H2D_latency|D2H_latency) \(ms\): (.+)")
_STATISTIC = re.compile(r"(mean|median|percentile\((\d+)%\)) = ([\d.]+)")
_RATE = re.compile(r"throughput 1000\*batchsize(?:\.mean)?\((\d+)\)/NPU_compute_time(?:\.mean)?\(([\d.]+)\): ?([\d.]+)")
_NAMES = {"NPU_compute_time": "compute", "H2D_latency": "h2d", "D2H_latency": "d2h"}


class AisBench(LineFormat):
    name = "ais_bench"
    needles = ("NPU_compute_time", "H2D_latency", "D2H_latency")
    samples = (
        "[INFO] NPU_compute_time (ms): min = 1.2, max = 1.9, mean = 1.3, median = 1.28, percentile(99%) = 1.8",
        "[INFO] throughput 1000*batchsize.mean(8)/NPU_compute_time.mean(1.3): 6153.8",
    )
    columns: ClassVar = {"rate": Column("compute_throughput", "samples/s", per="total")}

    def read(self, text: str, book: Logbook) -> bool:
        if text.lstrip().startswith(("#", "|", ">")):
            return False
        if rate := _RATE.search(text):
            run = book.record([("rate", rate[3])], phase="infer")
            run.doubts.setdefault("throughput = 1000 × batch ÷ 平均设备计算时间，不含数据搬运，不能与墙钟吞吐相比")
            book.fact("batch", rate[1])
            book.fact("scope", "infer（仅设备计算）")
            book.end(finished=True)
            return True
        found = _QUANTITY.search(text)
        if not found:
            return False
        book.fact("device_kind", "npu")
        values = _STATISTIC.findall(found[2])
        pairs = [(f"{_NAMES[found[1]]}_{_statistic(which, rank)}_ms", value) for which, rank, value in values]
        book.record(pairs, phase="infer")
        return bool(pairs)

    def guess(self, key: str) -> Column | None:
        return Column(key, "ms")


def _statistic(which: str, rank: str) -> str:
    return f"p{rank}" if rank else {"median": "p50"}.get(which, which)
