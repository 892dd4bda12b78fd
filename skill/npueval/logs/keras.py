"""Keras progress lines: ``1563/1563 [====] - 5s 3ms/step - loss: 0.64 - accuracy: 0.90 - val_loss: …``.

Traps: an accuracy beside a NaN loss means nothing; scores are fractions; all values are means since the epoch's start.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import MILLISECONDS, Column

_EPOCH = re.compile(r"^\s*Epoch (\d+)/(\d+)")
_RECORD = re.compile(r"\b(\d+)/(\d+) (?:\[[=>.]*\]|━+) ?-? ?(?P<rest>.*)|\b(\d+)/(\d+) - (?P<plain>\d+s.*)")
_STEP_TIME = re.compile(r"(\d+)(us|ms|s)/(?:step|sample|epoch)")
_PAIR = re.compile(r"([A-Za-z_]\w*): ([-+\w.]+)")


class Keras(LineFormat):
    name = "Keras"
    needles = ("/step - ", "s - loss: ", "Epoch ", "/sample - ")
    samples = (
        "469/469 [==============================] - 4s 8ms/step - loss: 0.2532 - accuracy: 0.9261 - val_loss: 0.1315",
        "313/313 - 1s - loss: 0.0841 - accuracy: 0.9730",
    )
    columns: ClassVar = {
        "step_time": Column("step_time", "ms"),
        "loss": Column("loss"),
        "val_loss": Column("val_loss", phase="eval"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._epoch = -1.0

    def read(self, text: str, book: Logbook) -> bool:
        if head := _EPOCH.match(text):
            self._epoch = float(head[1])
            return True
        found = _RECORD.search(text)
        rest = (found["rest"] or found["plain"]) if found else ""
        pairs: list[tuple[str, float | str]] = [*_PAIR.findall(rest)]
        if not found or not pairs:
            return False
        if taken := _STEP_TIME.search(rest):
            pairs.append(("step_time", float(taken[1]) * MILLISECONDS[taken[2]]))
        evaluated = found["plain"] is not None
        book.record(pairs, phase="eval" if evaluated else "train", epoch=self._epoch)
        return True

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        return Column(column.metric, "fraction", phase=column.phase) if column and column.unit else column
