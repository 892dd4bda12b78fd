"""MindSpeed's ``baseline.json``: lists of ``lm loss`` and ``time info`` (ms), and ``memo info`` of every rank.

Trap: MindSpeed trains on Ascend; without a device's name its ``baseline`` is not a GPU's.
"""

from __future__ import annotations

from typing import Any, ClassVar

from npueval.logs.base import DocumentFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column


class MindSpeedJson(DocumentFormat):
    name = "MindSpeed baseline.json"
    needles = ('"lm loss"',)
    samples = (
        '{"lm loss": [2.31, 2.12, 1.94], "time info": [9120.0, 801.5, 799.2]}',
        '{"lm loss": [2.31], "memo info": [{"rank": 0, "allocated memory": 1.5}]}',
    )
    columns: ClassVar = {"lm loss": Column("lm_loss"), "time info": Column("step_time", "ms")}

    def read(self, document: Any, book: Logbook) -> bool:
        if not isinstance(document, dict) or not isinstance(document.get("lm loss"), list):
            return False
        lists = {key: values for key in self.columns if isinstance(values := document.get(key), list)}
        for step in range(max(map(len, lists.values()))):
            for key, values in lists.items():
                if step < len(values):
                    book.seek(key, step)
                    book.record([(key, values[step])], step=float(step + 1))
        ranks = document.get("memo info")
        if isinstance(ranks, list) and ranks:
            book.seek("memo info", None)
            book.fact("cards", str(len(ranks)))
        book.run().doubts.setdefault("MindSpeed 是昇腾上的训练框架，文件没有写设备，很可能不是 GPU 的基线")
        return True
