"""MLPerf LoadGen ``mlperf_log_summary.txt``.

Traps: in the Offline scenario every latency is that of the whole queue, so none is read; in the Server scenario what
was scheduled is not what was done; a result that is not VALID is no result.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_FIELD = re.compile(r"\s*([A-Za-z\d][\w .%()]{0,80}?)\s{0,40}: {0,40}(\S.*)$")
_LATENCY = re.compile(r"(Mean|(?:50|90|95|99)(?:\.00 |th )percentile) latency \(ns\)")


class MLPerf(LineFormat):
    name = "MLPerf LoadGen"
    needles = ("MLPerf Results Summary", "Scenario :", "er second", "latency (ns)", "Result is :", "SUT name")
    samples = ("Samples per second: 812.4", "50.00 percentile latency (ns)   : 1250000")
    columns: ClassVar = {
        "Samples per second": Column("throughput", "samples/s", per="total"),
        "Completed samples per second": Column("throughput", "samples/s", per="total"),
        "Tokens per second": Column("token_throughput", "tokens/s", per="total"),
        "Completed tokens per second": Column("token_throughput", "tokens/s", per="total"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._offline = False

    def read(self, text: str, book: Logbook) -> bool:
        found = _FIELD.match(text)
        if not found:
            return False
        key, value = found[1], found[2].strip()
        if key == "Scenario":
            self._offline = value == "Offline"
            book.fact("load", value)
        elif key == "Result is":
            book.run().finished = value == "VALID"
            if value != "VALID":
                book.doubt(f"MLPerf 结果为 {value}，不是有效结果")
        elif self.column(key):
            book.record([(key, value)], phase="infer")
        elif (latency := _LATENCY.match(key)) and not self._offline:
            statistic = "mean" if latency[1] == "Mean" else f"p{latency[1][:2]}"
            book.record([(f"latency_{statistic}_ms", value)], phase="infer")
            return True
        return key in ("Scenario", "Result is") or bool(self.column(key))

    def guess(self, key: str) -> Column | None:
        return Column(key, "ns") if key.startswith("latency_") else None
