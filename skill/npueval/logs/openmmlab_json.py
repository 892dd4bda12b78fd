"""OpenMMLab records in JSON: MMCV's ``*.log.json`` (``mode``, ``epoch``, ``iter``) and MMEngine's ``scalars.json``.

Trap: every resume writes another file; one that holds no score is a part of a run, not a whole one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from npueval.logs.base import ObjectFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase
from npueval.logs.shapes import Spans


class OpenMMLabJson(ObjectFormat):
    name = "OpenMMLab JSON"
    needles = ('"mode": "train"', '"mode": "val"', '"data_time"')
    samples = (
        '{"mode": "train", "epoch": 1, "iter": 50, "lr": 0.0099, "data_time": 0.05, "loss": 0.91, "time": 0.3}',
        '{"mode": "val", "epoch": 1, "iter": 500, "lr": 0.0099, "bbox_mAP": 0.312}',
    )
    columns: ClassVar = {"time": Column("step_time", "s"), "data_time": None}

    def read(self, record: Mapping[str, Any], book: Logbook) -> bool:
        if "mode" not in record and not {"data_time", "time"} <= record.keys():
            return False
        if "iteration" in record or record.get("mode") not in (None, "train", "val", "test"):
            return False
        step = position(record.get("iter", record.get("step")))
        phase: Phase = (
            "train" if record.get("mode", "train") == "train" and any("loss" in key for key in record) else "eval"
        )
        book.record(record.items(), phase=phase, epoch=position(record.get("epoch")), step=step)
        return True

    def spans(self, text: str) -> Spans | None:
        if "loss" not in text or '"val"' in text or '"test"' in text:
            return None
        return self.row(text, "epoch", "iter" if '"iter"' in text else "step")

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        return Column(key, "fraction", phase="eval") if column and "mAP" in key else column
