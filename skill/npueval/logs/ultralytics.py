"""Ultralytics ``results.csv`` (scores are fractions) and the ``args.yaml`` beside it.

Traps: headers may be padded with blanks; a row is repeated where no validation ran; ``save_dir`` is a folder's name and
no evidence (``train3`` is a counter); the console's bars are mojibake where UTF-8 was read as GBK.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from npueval.logs.base import TableFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column


class Ultralytics(TableFormat):
    name = "Ultralytics results.csv"
    needles = ("metrics/mAP50", "metrics/accuracy_top1")
    header = ("epoch", "metrics/")
    samples = (
        "epoch,time,train/box_loss,metrics/mAP50(B),metrics/mAP50-95(B),val/box_loss",
        "                  epoch,      train/loss,  metrics/accuracy_top1,  metrics/accuracy_top5,  val/loss",
    )
    columns: ClassVar = {"time": None}

    def __init__(self) -> None:
        super().__init__()
        self._validated: dict[str, str] = {}

    def row(self, values: Mapping[str, str], book: Logbook) -> None:
        """Write a row; validation values that are those of the row before it were not taken anew."""
        validated = {key: value for key, value in values.items() if key.startswith(("metrics/", "val/"))}
        repeated = validated.keys() if validated == self._validated else ()
        self._validated = validated
        self.write({key: value for key, value in values.items() if key not in repeated}, book)

    def guess(self, key: str) -> Column | None:
        if key.startswith("metrics/"):
            name = key.removeprefix("metrics/").removesuffix("(B)")
            return Column(
                {"mAP50-95": "map", "accuracy_top1": "top1", "accuracy_top5": "top5"}.get(name, name),
                "fraction",
                phase="eval",
            )
        return Column(key.replace("/", "_"), phase="eval" if key.startswith("val") else None) if "loss" in key else None
