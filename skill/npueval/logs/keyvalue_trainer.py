"""Hand-written training loops: ``epoch 1/8 step 20/45 loss 0.8123`` and one closing line an epoch.

Trap: a score printed beside its sample count is a fraction exactly when score × count is a whole number.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.shapes import Spans

_RECORD = re.compile(
    r"\b[Ee]poch\s*[:\[]?\s*(?P<epoch>\d+)\s*/\s*(?P<epochs>\d+)\]?[\s,|:-]*"
    r"(?:(?:step|iter|batch)\s*[:\[]?\s*(?P<step>\d+)\s*/\s*(?P<steps>\d+)\]?|(?P<done>done))(?P<rest>.*)"
)
_PAIR = re.compile(
    r"(?<![A-Za-z_])([A-Za-z_][\w@./-]{0,80})[ =:]+"
    r"([-+]?(?:\d(?:\w|\.(?=\w)|[+-](?=\d))*|\.\d+|(?i:nan|inf))%?)(?![\w~～]|\.\w|\s?[:=]\s?\d)"
)
_AFTER_EVERY_STEP = float("inf")
_COUNT = re.compile(r"\(n=(\d+)\)")


class KeyValueTrainer(LineFormat):
    name = "key-value trainer"
    needles = ("epoch ", "Epoch ")
    samples = (
        "epoch 1/8 step 20/45 loss 0.8123",
        "epoch 1/8 done: train_loss 0.7104 val_accuracy 0.9139 (n=360) 1.9 s",
    )
    columns: ClassVar = {"train_loss": Column("train_loss"), "loss": Column("loss")}

    def read(self, text: str, book: Logbook) -> bool:
        found = _RECORD.search(text)
        pairs = _PAIR.findall(found["rest"]) if found else []
        if not found or not pairs:
            return False
        step = float(found["step"]) if found["step"] else _AFTER_EVERY_STEP
        run = book.record(pairs, epoch=float(found["epoch"]), step=step)
        run.epoch_length = int(found["steps"] or run.epoch_length)
        if run.fact("epochs") is None:
            book.fact("epochs", found["epochs"])
        counted = _COUNT.search(found["rest"])
        if counted:
            book.counted(pairs, int(counted[1]))
        if found["done"] and found["epoch"] == found["epochs"]:
            book.end(finished=True)
        return True

    def spans(self, text: str) -> Spans | None:
        found = _RECORD.search(text)
        if not found or not found["step"]:
            return None
        pairs = [(self.column(pair[1]), pair.span(2)) for pair in _PAIR.finditer(text, found.start("rest"))]
        values = [(column, span) for column, span in pairs if column is not None]
        return Spans(found.span("epoch"), found.span("step"), values, fixed=(found.span("epochs"), found.span("steps")))
