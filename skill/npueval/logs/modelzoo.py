"""Ascend ModelZoo result files: ``ActualFPS = ``, ``TrainAccuracy = `` …, and ``FPS@all 1234.5`` in its training logs.

Traps: ``DeviceType`` is ``uname -m``, not the accelerator; a value may be empty, stale (``>>`` over reruns), or carry a
hard-coded factor of the card count.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs import hardware
from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_FIELD = re.compile(
    r"^\s*(Network|RankSize|BatchSize|DeviceType|CaseName|Actual\w+|Train\w+|TrainingTime) ?[=:] ?(.*)$"
)
_ALL = re.compile(r"(FPS|TIME)@all[ :=]+([\d.]+)")
_FACTS = {"Network": "model", "RankSize": "cards", "BatchSize": "batch", "CaseName": "case"}


class ModelZoo(LineFormat):
    name = "Ascend ModelZoo"
    needles = (
        "ActualFPS",
        "Network",
        "BatchSize",
        "ActualLoss",
        "TrainAccuracy",
        "TrainingTime",
        "DeviceType",
        "RankSize",
        "FPS@all",
        "CaseName",
    )
    samples = ("ActualFPS = 1821.5", "Epoch 3 FPS@all 1480.2, TIME@all 0.138")
    columns: ClassVar = {
        "ActualFPS": Column("throughput", "samples/s", per="?"),
        "FPS": Column("throughput", "samples/s", per="total"),
        "TIME": Column("step_time", "s"),
        "TrainAccuracy": Column("accuracy", "scale?", phase="eval"),
        "ActualLoss": Column("loss"),
        "TrainingTime": Column("step_time", "ms"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        everywhere = _ALL.findall(text)
        if everywhere:
            book.record(everywhere)
            return True
        field = _FIELD.match(text)
        return self._field(field[1], field[2].strip(), book) if field else False

    def _field(self, key: str, value: str, book: Logbook) -> bool:
        run = book.run()
        if key == "Network" and run.series:
            run = book.begin()
        elif key == "ActualFPS" and run.find("throughput"):
            run.doubts.setdefault("ActualFPS 写了多次（重跑追加），无法确定哪一个属于这次运行")
        if key in _FACTS:
            book.fact(_FACTS[key], value)
        elif key == "DeviceType":
            self._device(value, book)
        elif not value:
            run.doubts.setdefault(f"{key} 为空，没有记录到数值（{book.path}:{book.line}）")
        elif self.column(key):
            book.record([(key, value)])
            if key == "ActualFPS":
                run.doubts.setdefault("ActualFPS 可能由脚本乘以固定卡数得到，单卡还是总和未知")
        return True

    def _device(self, value: str, book: Logbook) -> None:
        if hardware.is_architecture(value):
            book.fact("host_architecture", value)
            book.doubt(f"DeviceType = {value} 是主机架构（uname -m），不是加速卡型号")
        elif hardware.kind(value):
            book.fact("device", value)
