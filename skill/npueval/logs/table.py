"""Tables in documents that set two sides against each other: ``| 8p-竞品A | 76.3 | 9120 |``. A quoted number, no more.

Traps: 竞品A and 竞品V mean an A100 and a V100 by custom only; ``-`` and ``/`` say missing; ``0.647/0.655`` is a result
and its target; FPS is often that of all cards, without saying so.
"""

from __future__ import annotations

import re

from npueval import metrics
from npueval.logs import hardware
from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.records import Grade

_BASELINE = re.compile(r"竞品[A-Z]?|标杆|基线|baseline", re.IGNORECASE)
_CARDS = re.compile(r"(?<![\dA-Za-z])(\d{1,3}) ?[pP](?![\w])|(\d{1,3}) ?卡")
_RULE = re.compile(r"[\s|:-]+")
_FACTS = {
    "epochs": "epochs",
    "batch": "batch",
    "batchsize": "batch",
    "torchversion": "framework",
    "amptype": "precision",
}


class Table(LineFormat):
    name = "table"
    grade = Grade.D
    needles = ("|",)
    samples = ("| NAME | Acc@1 | FPS | Epochs |", "| 名称 | 精度 | 性能(FPS) |")

    def read(self, text: str, book: Logbook) -> bool:
        names = _cells(text)
        if len(names) < 2 or not any(self.column(name) for name in names[1:]):
            return False
        book.divide()

        def row(line: str) -> bool:
            cells = _cells(line)
            if not cells:
                return False
            book.at(book.line, book.text, self)
            if len(cells) == len(names) and not _RULE.fullmatch(line):
                self._row(dict(zip(names[1:], cells[1:], strict=True)), cells[0], book)
            return True

        book.follow(row)
        return True

    def _row(self, values: dict[str, str], label: str, book: Logbook) -> None:
        rival = _BASELINE.search(label)
        kind = "gpu" if rival else hardware.kind(label)
        if kind is None:
            return
        book.begin()
        book.fact("device", label)
        book.fact("device_kind", kind)
        if cards := _CARDS.search(label):
            book.fact("cards", cards[1] or cards[2])
        for name, value in values.items():
            if key := _FACTS.get(re.sub(r"[\s_]", "", name).lower()):
                book.fact(key, value)
        book.record(values.items(), phase="eval")
        if rival:
            book.doubt(f"{rival[0]} 没有写明设备型号")
        book.end(finished=True)

    def guess(self, key: str) -> Column | None:
        kind = metrics.kind(key)
        if kind == "throughput":
            return Column("throughput", "samples/s", per="?")
        return None if kind in (None, "latency") else Column(key, "scale?" if kind == "score" else "")


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
