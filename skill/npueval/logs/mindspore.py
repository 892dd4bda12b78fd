"""MindSpore: ``epoch: 1 step: 100, loss is 2.3``, ``per step time: 207.9 ms``, and the evaluation line of its models.

Traps: the first step time holds the graph's compilation (up to 17 × too slow); scores are fractions, and a malformed
one (``0.94.26``) is refused.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_EPOCH = re.compile(r"epoch: ?\[?(\d+)(?:/(\d+))?\]?")
_STEP = re.compile(r"step: ?\[?(\d+)")
_LOSS = re.compile(r"loss(?: is|:) ?([-+\w.]+)")
_STEP_TIME = re.compile(r"per step time: ?([\d.]+) ?(ms|s)\b")
_RESULT = re.compile(r"\bresult: ?\{(.{1,400}?)\}")
_NAMED = re.compile(r"'(?:top_?([15])_?)?acc(?:uracy)?': ?([\d.]+)")
_TOTAL = re.compile(r"Total data: ?(\d+)")
_SCORE = re.compile(r"(top\d[ _]?accuracy|accuracy|acc|mIoU|mAP): ?([\w.%-]*[\w%])", re.IGNORECASE)


class MindSpore(LineFormat):
    name = "MindSpore"
    needles = ("loss is ", "per step time", "Total data:", "result: {", "result:{")
    samples = (
        "2023-01-01 10:00:00,000:INFO:epoch: [2/90] loss: 1.52, epoch time: 12.1 s, per step time: 19.3 ms",
        "Total data: 10000, top1 accuracy: 0.9312, top5 accuracy: 0.9981.",
    )
    columns: ClassVar = {
        "loss": Column("loss"),
        "ms": Column("step_time", "ms"),
        "s": Column("step_time", "s"),
        "top1 accuracy": Column("top1", "fraction"),
        "top5 accuracy": Column("top5", "fraction"),
        "accuracy": Column("accuracy", "fraction"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        total = _TOTAL.search(text)
        if total:
            return self._evaluation(text, int(total[1]), book)
        if result := _RESULT.search(text):
            return self._result(result[1], book)
        epoch, step, loss, taken = (pattern.search(text) for pattern in (_EPOCH, _STEP, _LOSS, _STEP_TIME))
        pairs = [("loss", loss[1])] if loss and (taken or "loss is" in text) else []
        pairs += [(taken[2], taken[1])] if taken else []
        if not pairs:
            return False
        run = book.record(
            pairs, epoch=float(epoch[1]) if epoch else self._epoch(book), step=float(step[1]) if step else -1.0
        )
        if epoch and epoch[2] and run.fact("epochs") is None:
            book.fact("epochs", epoch[2])
        return True

    def _result(self, text: str, book: Logbook) -> bool:
        pairs = [(f"top{top} accuracy" if top else "accuracy", value) for top, value in _NAMED.findall(text)]
        if pairs:
            book.record(pairs, phase="eval")
        return bool(pairs)

    def _epoch(self, book: Logbook) -> float:
        """The step time of an epoch is printed alone, after the epoch's losses."""
        return book.run().positions.get("train", (-1.0, -1.0))[0]

    def _evaluation(self, text: str, total: int, book: Logbook) -> bool:
        pairs = [(name.lower().replace("_", " "), value) for name, value in _SCORE.findall(text)]
        run = book.record(pairs, phase="eval")
        for key, _ in pairs:
            if column := self.column(key):
                run.counts[column.metric] = total
        return bool(pairs)
