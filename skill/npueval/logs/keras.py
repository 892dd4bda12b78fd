"""Keras progress lines: ``1563/1563 [====] - 5s 3ms/step - loss: 0.64 - accuracy: 0.90 - val_loss: …``.

Traps: an accuracy beside a NaN loss means nothing; scores are fractions; all values are means since the epoch's start,
so that only the last record of an epoch counts; ``evaluate`` prints the same line, of another number of batches; where
the bar was written to a file, backspaces glue all its states together.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import MILLISECONDS, Column

_EPOCH = re.compile(r"(?:^|.{0,60}[\s\]])Epoch (\d+)/(\d+)\s*$")
_RECORD = re.compile(r"\b(?P<done>\d+)/(?P<batches>\d+) (?:(?P<bar>\[[=>.]*\]|━+) ?-? ?|- (?=\d+s))(?P<rest>.*)")
_STEP_TIME = re.compile(r"(?<!\d)(\d+)(us|ms|s)/step")
_PAIR = re.compile(r"(?<![A-Za-z_])([A-Za-z_]\w{0,80}): ([-+\w.]+)")


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
        self._head = (-1.0, "")
        self._batches = ""

    def read(self, text: str, book: Logbook) -> bool:
        if head := _EPOCH.match(text):
            self._head, self._batches = (float(head[1]), head[2]), ""
            return True
        found = _RECORD.search(text, text.rfind("\b") + 1)
        pairs: list[tuple[str, float | str]] = [*_PAIR.findall(found["rest"])] if found else []
        if not found or not pairs or found["done"] != found["batches"]:
            return False
        if taken := _STEP_TIME.search(found["rest"]):
            pairs.append(("step_time", float(taken[1]) * MILLISECONDS[taken[2]]))
        evaluated = self._evaluated(found, book)
        epoch, epochs = self._head
        run = book.record(pairs, phase="eval" if evaluated else "train", epoch=epoch)
        if epochs and run.fact("epochs") is None:
            book.fact("epochs", epochs)
        run.finished = run.finished or f"{epoch:g}" == epochs
        return True

    def _evaluated(self, found: re.Match[str], book: Logbook) -> bool:
        """Whether a record is of no epoch: of other batches than the epoch's, or without an epoch and a bar."""
        batches = found["batches"]
        if self._batches in ("", batches):
            self._batches = batches
            return self._head[0] < 0 and found["bar"] is None
        if "val_" not in found["rest"]:
            return True
        # Only training validates: the file goes on with another one.
        book.end()
        self._head, self._batches = (-1.0, ""), batches
        return False

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        return Column(column.metric, "fraction", phase=column.phase) if column and column.unit else column
