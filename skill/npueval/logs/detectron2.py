"""detectron2 ``metrics.json``: one object a line with ``iteration``. COCO scores there are percents (``bbox/AP``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from npueval.logs.base import ObjectFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.shapes import Spans


class Detectron2(ObjectFormat):
    name = "detectron2 metrics.json"
    needles = ('"iteration": ',)
    samples = (
        '{"data_time": 0.003, "iteration": 19, "lr": 0.0002, "time": 0.21, "total_loss": 1.92}',
        '{"bbox/AP": 37.9, "bbox/AP50": 58.8, "iteration": 89999, "total_loss": 0.61}',
    )
    columns: ClassVar = {"time": Column("step_time", "s"), "total_loss": Column("loss"), "data_time": None}

    def read(self, record: Mapping[str, Any], book: Logbook) -> bool:
        if "iteration" not in record or not ("total_loss" in record or "bbox/AP" in record):
            return False
        book.record(record.items(), step=position(record["iteration"]))
        return True

    def spans(self, text: str) -> Spans | None:
        return self.row(text, "", "iteration")

    def guess(self, key: str) -> Column | None:
        if "/AP" in key:
            return Column(key, "percent", phase="eval")
        return super().guess(key)
