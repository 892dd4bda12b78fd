"""DeepSpeed's throughput timer and its step lines.

Trap: ``RunningAvgSamplesPerSec`` still holds the slow first steps; ``CurrSamplesPerSec`` is the interval since the last
line. Both count the samples of all ranks. ``world_size = 1`` in the log says how many ranks there were.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_POSITION = re.compile(r"(?:epoch=(\d+)/micro_step=\d+/global_step=(\d+)|\] (\d+)/(\d+)), RunningAvg")
_RATE = re.compile(r"(RunningAvgSamplesPerSec|CurrSamplesPerSec)=([\w.+-]+)")
_STEP = re.compile(r"step=(\d+), skipped=(\d+), lr=")
_LOSS = re.compile(r"\bLoss: ([\w.+-]+)")


class DeepSpeed(LineFormat):
    name = "DeepSpeed"
    needles = ("RunningAvgSamplesPerSec", "skipped=", "log_dist")
    samples = (
        "[2023-05-01 10:00:00,000] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, "
        "RunningAvgSamplesPerSec=51.2, CurrSamplesPerSec=52.9, MemAllocated=4.3GB, MaxMemAllocated=38.5GB",
        "2023-05-01 10:00:00.000 | INFO | __main__:log_dist:54 - [Rank 0] Loss: 9.8124",
    )
    columns: ClassVar = {
        "RunningAvgSamplesPerSec": Column("running_throughput", "samples/s", per="total"),
        "CurrSamplesPerSec": Column("throughput", "samples/s", per="total"),
        "loss": Column("loss"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        rates = _RATE.findall(text)
        if rates:
            self._timer(text, rates, book)
            return True
        skipped = _STEP.search(text)
        if skipped:
            run = book.record([], step=float(skipped[1]))
            if int(skipped[2]):
                run.doubts.setdefault("到第 {} 步有 {} 步因溢出被跳过".format(*skipped.groups()))
            return True
        loss = _LOSS.search(text)
        if loss and "log_dist" in text:
            book.record([("loss", loss[1])])
            return True
        return False

    def _timer(self, text: str, rates: list[tuple[str, str]], book: Logbook) -> None:
        found = _POSITION.search(text)
        epoch, step = (found[1], found[2]) if found and found[2] else (found[3], found[4]) if found else (None, None)
        # The old form prints epoch/micro-step, which starts again at every epoch.
        book.record(rates, epoch=float(epoch or -1), step=float(step or -1))
