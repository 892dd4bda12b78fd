"""MXNet: ``Epoch[145] Batch [20]\\tSpeed: 36.22 samples/sec\\tTrain-Acc=0.774`` and ``Epoch[145] Validation-…``.

Traps: one file holds many starts, on other numbers of GPUs; each metric of a batch stands on a line of its own.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import UNKNOWN_LENGTH, Column, Phase

_START = re.compile(r"(Resume|Start) training with \(([^)]*\)(?:,gpu\(\d+\))*)\)?")
_RECORD = re.compile(r"Epoch\[(\d+)\](?: Batch \[(\d+)(?:-\d+)?\])?\s+(.*)")
_SPEED = re.compile(r"Speed: ([\d.]+) samples/sec")
_PAIR = re.compile(r"((?:Train|Validation)-[\w-]+)=([-\w.+]+)")


class MXNet(LineFormat):
    name = "MXNet"
    needles = ("Epoch[", " training with (")
    samples = (
        "Epoch[3] Batch [40]\tSpeed: 512.1 samples/sec\tTrain-accuracy=0.41",
        "Epoch[3] Validation-accuracy=0.52",
    )
    columns: ClassVar = {"speed": Column("throughput", "samples/s", per="total")}

    def read(self, text: str, book: Logbook) -> bool:
        if start := _START.search(text):
            book.divide()
            run = book.begin()
            book.fact("cards", str(start[2].count("gpu(") or 1))
            book.fact("device_kind", "gpu" if "gpu(" in start[2] else "cpu")
            run.restarted = start[1] == "Resume"
            run.epoch_length = UNKNOWN_LENGTH
            return True
        found = _RECORD.search(text)
        pairs = _PAIR.findall(found[3]) if found else []
        if not found or not pairs:
            return False
        if speed := _SPEED.search(found[3]):
            pairs.append(("speed", speed[1]))
        phase: Phase = "eval" if pairs[0][0].startswith("Validation") else "train"
        step = float(found[2]) if found[2] else float("inf")
        book.record(pairs, phase=phase, epoch=float(found[1]), step=step)
        return True

    def guess(self, key: str) -> Column | None:
        side, _, metric = key.partition("-")
        if metric.lower().endswith("acc") or "accuracy" in metric.lower():
            return Column(f"{'val' if side == 'Validation' else 'train'}_{metric}", "fraction")
        return Column(f"{'val' if side == 'Validation' else 'train'}_{metric}")
