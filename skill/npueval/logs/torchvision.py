"""torchvision: ``Epoch: [8]  [500/506]  … img/s: …`` and ``Test:  Acc@1 70.3 Acc@5 89.8``.

Traps: a meter prints the median of its window, the mean in brackets; accuracies are percents; ``img/s`` is of one card.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_TRAIN = re.compile(r"Epoch: \[(\d+)\] +\[ *(\d+)/(\d+)\]")
_TEST = re.compile(r"Test:.{0,100}?Acc@1 ([\d.]+)(?: Acc@5 ([\d.]+))?(?![\w@])")
_METER = re.compile(r"\b(img/s|samples/s|clips/s|loss|time): +([-\w.+]+)")
_OVER = re.compile(r"\bTraining time \d+(?: days?, )?[\d:]")
_DEBUG_ITERATIONS = 10


class Torchvision(LineFormat):
    name = "torchvision reference"
    needles = ("Epoch: [", "Acc@1", "Training time ")
    samples = (
        "Epoch: [3]  [200/625]  eta: 0:01:31  lr: 0.1  img/s: 1802.1  loss: 2.31 (2.44)  acc1: 48.0 (46.2)  time: 0.14",
        "Test:  Acc@1 69.120 Acc@5 88.310",
    )
    columns: ClassVar = {
        "img/s": Column("throughput", "images/s", per="card"),
        "samples/s": Column("throughput", "samples/s", per="card"),
        "clips/s": Column("throughput", "samples/s", per="card"),
        "loss": Column("loss"),
        "time": Column("step_time", "s"),
        "Acc@1": Column("top1", "percent", phase="eval"),
        "Acc@5": Column("top5", "percent", phase="eval"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._tested = False

    def read(self, text: str, book: Logbook) -> bool:
        if _OVER.search(text):
            book.end(finished=True)
            return True
        if score := _TEST.search(text):
            pairs = [("Acc@1", score[1])] + ([("Acc@5", score[2])] if score[2] else [])
            # Two tests without training between them are of two models.
            if self._tested:
                book.end()
            self._tested = True
            book.record(pairs, phase="eval")
            return True
        found = _TRAIN.search(text)
        pairs = _METER.findall(text, found.end()) if found else []
        if not found or not pairs:
            return False
        if self._tested and "train" not in book.run().positions:
            # What was tested before the first step were other weights.
            book.end()
        self._tested = False
        run = book.record(pairs, epoch=float(found[1]), step=float(found[2]))
        run.epoch_length = int(found[3])
        if run.epoch_length < _DEBUG_ITERATIONS:
            run.doubts.setdefault(f"每个 epoch 只有 {found[3]} 次迭代，像是调试运行")
        return True
