"""Loops with meters: ``Loss 6.9012e+00 (6.9500e+00)`` of PyTorch's ImageNet example, ``Train: 0 [ 100/5004 …`` of timm.

Traps: a meter prints its latest value and, in brackets, its mean; in the midst of an evaluation both are of its
beginning; accuracies are percents; timm's rate counts the samples of all processes, and the averaged weights (EMA) are
another model.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_TRAIN = re.compile(
    r"\bEpoch: ?\[(?P<epoch>\d+)\] ?\[ {0,8}(?P<step>\d+)/(?P<of>\d+)\]"
    r"|\bTrain: (?P<epoch_>\d+) \[ {0,8}(?P<step_>\d+)/(?P<of_>\d+)\b"
)
_TEST = re.compile(r"\bTest(?: \((?P<of>\w{1,20})\))?: ?\[ {0,8}(?P<done>\d+)/(?P<batches>\d+)\]")
_METER = re.compile(r"\b(Time|Loss|(?:Acc|Prec)@[15]):?\s{1,8}(\d[\d.e+-]*)s?\s{0,4}\(\s{0,8}(\d[\d.e+-]*)s?\)")
_RATED = re.compile(r"\bTime: (\d[\d.]*)s, {1,8}(\d[\d.]*)/s")
_RESULT = re.compile(r"(?:^|\s)\*\s{1,8}((?:Acc|Prec)@1)\s{1,8}(\d[\d.]*)\s{1,8}((?:Acc|Prec)@5)\s{1,8}(\d[\d.]*)")


class Meters(LineFormat):
    name = "PyTorch meters"
    needles = ("Epoch: [", "Epoch:[", "Train: ", "Test: [", "Acc@1", "Prec@1")
    samples = (
        "Epoch: [2][ 50/1000]\tTime  0.310 (  0.402)\tLoss 5.12e+00 (5.40e+00)\tAcc@1   9.41 (  7.20)",
        " *   Acc@1 61.250 Acc@5 83.500",
    )
    columns: ClassVar = {
        "Time": Column("step_time", "s"),
        "rate": Column("throughput", "samples/s", per="total"),
        "Loss": Column("loss"),
        **{f"{name}@{k}": Column(f"top{k}", "percent") for name in ("Acc", "Prec") for k in (1, 5)},
    }

    def read(self, text: str, book: Logbook) -> bool:
        if result := _RESULT.search(text):
            book.record([(result[1], result[2]), (result[3], result[4])], phase="eval")
            return True
        if test := _TEST.search(text):
            means = [(name, mean) for name, _, mean in _METER.findall(text) if name != "Time"]
            if test["done"] == test["batches"] and means and test["of"] is None:
                book.record(means, phase="eval")
            return bool(means)
        found = _TRAIN.search(text)
        pairs = [(name, latest) for name, latest, _ in _METER.findall(text)] if found else []
        if not found or not pairs:
            return False
        if rated := _RATED.search(text):
            pairs += [("Time", rated[1]), ("rate", rated[2])]
        epoch, step, of = (found[key] or found[f"{key}_"] for key in ("epoch", "step", "of"))
        run = book.record(pairs, epoch=float(epoch), step=float(step))
        run.epoch_length = int(of)
        return True
