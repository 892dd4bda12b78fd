"""OpenMMLab text logs: MMCV 1.x (``Epoch [1][50/3862]  lr: …``) and MMEngine (``Epoch(train) [1][10/1563]  lr: …``).

Traps: ``time`` is the mean time of an iteration since the last line, data loading included; MMEngine's short form has
no year; a run of five iterations an epoch is a debugging run.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat, Pairs
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase
from npueval.logs.shapes import Spans

_RECORD = re.compile(
    r"\b(?P<unit>Epoch|Iter) ?(?:\((?P<phase>train|val|test)\))? {0,4}\[ {0,9}(?P<one>\d+)(?:/\d+)?\]"
    r"(?:\[ {0,9}(?P<two>\d+)/(?P<of>\d+)\])?"
)
_DEBUG_ITERATIONS = 10


class OpenMMLab(LineFormat):
    name = "OpenMMLab"
    needles = ("Epoch(", "Iter(", "Epoch [", "Iter [")
    samples = (
        "2023/03/01 10:00:00 - mmengine - INFO - Epoch(train)  [2][ 40/320]  lr: 1.0e-03  time: 0.21  loss: 0.95",
        "2023-03-01 10:00:00,000 - mmdet - INFO - Epoch [1][50/640]\tlr: 1e-02, time: 0.412, loss: 1.1",
    )
    columns: ClassVar = {"time": Column("step_time", "s"), "data_time": None, "memory": None, "eta": None, "lr": None}

    def __init__(self) -> None:
        super().__init__()
        self._pairs = Pairs(self)

    def read(self, text: str, book: Logbook) -> bool:
        at = max(text.find("Epoch"), text.find("Iter"))
        found = (_RECORD.match(text, at) or _RECORD.search(text)) if at >= 0 else None
        if not found:
            return False
        pairs = self._pairs.of(text, found.end())
        if not pairs:
            return False
        unit, said, one, two, of = found.groups()
        phase: Phase = "eval" if said in ("val", "test") else "train"
        epoch, step = (float(one), float(two or -1)) if unit == "Epoch" else (-1.0, float(two or one))
        run = book.record(pairs, phase=phase, epoch=epoch, step=step)
        if of and phase == "train":
            run.epoch_length = int(of)
        if of and phase == "train" and int(of) < _DEBUG_ITERATIONS:
            run.doubts.setdefault(f"每个 epoch 只有 {of} 次迭代，像是调试运行")
        return True

    def spans(self, text: str) -> Spans | None:
        found = _RECORD.search(text)
        if not found:
            return None
        by_epoch = found["unit"] == "Epoch"
        phase: Phase = "eval" if found["phase"] in ("val", "test") else "train"
        epoch = found.span("one") if by_epoch else None
        step = found.span("two") if found["two"] else None if by_epoch else found.span("one")
        return Spans(epoch, step, self._pairs.spans(text, found.end()), phase, fixed=(found.span("of"),))

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        if column and column.unit and re.search(r"mAP|AP\d*$|NDS|mIoU", key):
            return Column(column.metric, "fraction" if "mIoU" not in key else "scale?", phase=column.phase)
        return column
