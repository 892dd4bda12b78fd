"""The last resort: a named metric and a number on a line. Evidence of the lowest grade.

Traps: ``loss`` in an argparse usage, in code or in prose is no value; a score's scale is unknown unless it is over 1.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import MILLISECONDS, Column
from npueval.records import Grade

_PAIR = re.compile(
    r"(?<![\w@%/.-])([A-Za-z\u4e00-\u9fff][\w@%/.-]{0,40}(?: [A-Za-z][\w@%/.-]{0,40}){0,3})\s?(?:=|:|：| is )\s?"
    r"([-+~]?(?:\d[\w.,+-]{0,40}%?|nan|inf(?:inity)?))(?![\w.])",
    re.IGNORECASE,
)
_BLEU = re.compile(r"(BLEU-\d) ([\d.]+)")
_HELD_OUT = re.compile(r"\b(validation|valid|val|dev|test) BLEU:", re.IGNORECASE)
_LATENCY = re.compile(
    r"(?:\blatency|\binference time|延迟|推理耗时)(?: per \w{1,20})?\s?[:=：]\s?([\d.]{1,20}) ?(ms|us|ns|s)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?:\bthroughput|\b(?P<frames>fps)|吞吐率?)\s?[:=：]\s?(?P<value>[\d.,]{1,20})"
    r"(?: ?(?P<unit>[A-Za-z]{1,16}/s(?:ec)?)\b)?",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[a-z?]{1,16}/s")
_REPEATED = re.compile(r"saved|new best|best so far", re.IGNORECASE)
_EPOCH = re.compile(r"\bepoch[ :#]{0,4}\[?(\d{1,9})|第 ?(\d{1,9}) ?轮", re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter(?:ation)?)[ :#=]{0,4}\[?(\d{1,12})|\b(\d{1,12})th step", re.IGNORECASE)
_CODE = re.compile(r"[{}();]\s*$|^\s*(?:#|//|import |def |class |usage:|--)|\[-")


class Generic(LineFormat):
    name = "key: value"
    grade = Grade.D
    needles = (
        "loss",
        "Loss",
        "acc",
        "Acc",
        "ACC",
        "MAE",
        "RMSE",
        "BLEU",
        "atency",
        "hroughput",
        "FPS",
        "fps",
        "mAP",
        "th step",
        "rmse",
        "mae",
        "F1",
        "准确率",
        "精度",
        "损失",
        "分数",
    )
    samples = ("Epoch: 3| train loss: 0.1586", "验证集 MAE: 12.5")
    columns: ClassVar = {
        **{f"latency in {unit}": Column("latency_mean_ms", unit) for unit in MILLISECONDS},
    }

    def guess(self, key: str) -> Column | None:
        """A rate's unit stands for its column: the items that were counted are those that the line names."""
        return Column("throughput", key, per="?") if _UNIT.fullmatch(key) else super().guess(key)

    def __init__(self) -> None:
        super().__init__()
        self._position = (-1.0, -1.0)

    def read(self, text: str, book: Logbook) -> bool:
        if _CODE.search(text) or _REPEATED.search(text):
            return False
        epoch, step = _EPOCH.search(text), _STEP.search(text)
        if epoch:
            self._position = (float(epoch[1] or epoch[2]), -1.0)
        if step:
            self._position = (self._position[0], float(step[1] or step[2]))
        held = _HELD_OUT.search(text)
        prefix = f"{held[1].lower()}_" if held else ""
        pairs = [(f"{prefix}{name.strip()}", value) for name, value in (*_PAIR.findall(text), *_BLEU.findall(text))]
        pairs = [(name, value) for name, value in pairs if self.column(name)]
        timed = [(f"latency in {unit}", value) for value, unit in _LATENCY.findall(text)]
        timed += [(_rate_unit(found), found["value"]) for found in _RATE.finditer(text)]
        if timed:
            run = book.record(timed, phase="infer", step=self._position[1])
            run.doubts.setdefault("延迟或吞吐是程序自己打印的，看不出计时前后是否同步了设备")
        if not pairs:
            return bool(timed)
        held_out = all((column := self.column(name)) and column.phase == "eval" for name, _ in pairs)
        book.record(pairs, phase="eval" if held_out else "train", epoch=self._position[0], step=self._position[1])
        return True


def _rate_unit(found: re.Match[str]) -> str:
    """``images/s`` as the line says it, frames where it says FPS; ``?/s`` where nobody says what is counted."""
    if found["unit"]:
        return found["unit"].lower().removesuffix("ec")
    return "frames/s" if found["frames"] else "?/s"
