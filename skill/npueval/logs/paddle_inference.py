"""The last lines of Paddle's inference tests: ``Average latency: 15.67 ms, throughput: 63.82 samples/sec``."""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_LATENCY = re.compile(r"[Aa]verage latency ?[:=] ?([\d.]+) ?(ms|s)\b")
_RATE = re.compile(r"throughput ?[:=] ?([\d.]+) ?(samples|images|tokens)/s(?:ec)?")


class PaddleInference(LineFormat):
    name = "Paddle inference"
    needles = ("verage latency",)
    samples = (
        "Average latency: 12.31 ms, throughput: 81.2 samples/sec",
        "[INFO] average latency = 0.0123 s, throughput = 81.2 images/s",
    )
    columns: ClassVar = {
        "ms": Column("latency_mean_ms", "ms"),
        "s": Column("latency_mean_ms", "s"),
        "samples": Column("throughput", "samples/s", per="?"),
        "images": Column("throughput", "images/s", per="?"),
        "tokens": Column("throughput", "tokens/s", per="?"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        latency, rate = _LATENCY.search(text), _RATE.search(text)
        if not latency:
            return False
        pairs = [(found[2], found[1]) for found in (latency, rate) if found]
        run = book.record(pairs, phase="infer")
        run.doubts.setdefault("延迟或吞吐是程序自己打印的，看不出计时前后是否同步了设备")
        return True
