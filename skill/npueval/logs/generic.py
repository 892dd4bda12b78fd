"""The last resort: a named metric and a number on a line. Evidence of the lowest grade.

Traps: ``loss`` in an argparse usage, in code or in prose is no value; a score's scale is unknown unless it is over 1.
"""

from __future__ import annotations

import re

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.timings import Timing, timings
from npueval.records import Grade

_PAIR = re.compile(
    r"(?<![\w@%/.-])([A-Za-z\u4e00-\u9fff][\w@%/.-]{0,40}(?: [A-Za-z][\w@%/.-]{0,40}){0,3})\s?(?:=|:|：| is )\s?"
    r"([-+~]?(?:\d(?:\w|\.(?=\w)|[+-](?=\d)|,(?=\d{3}(?!\d))){0,40}%?|nan|inf(?:inity)?))(?!\w|\.\w)",
    re.IGNORECASE,
)
_BLEU = re.compile(r"(BLEU-\d) ([\d.]+)")
_HELD_OUT = re.compile(r"\b(validation|valid|val|dev|test) BLEU:", re.IGNORECASE)
_SPACED = re.compile(
    r"(?<![\w@%/.-])((?:(?:train|training|val|valid|validation|test|eval)[ _])?(?:loss|acc(?:uracy)?)) "
    r"(\d{1,9}\.\d{1,20}(?:e[-+]?\d{1,3})?%?|nan|inf)(?!\w|\.\w)",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"saved|new best|best so far", re.IGNORECASE)
_EPOCH = re.compile(r"\bepoch[ :#]{0,4}\[?(\d{1,9})|第 ?(\d{1,9}) ?轮", re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter(?:ation)?)[ :#=]{0,4}\[?(\d{1,12})|\b(\d{1,12})th step", re.IGNORECASE)
_BATCH = re.compile(r"\b(?:batch[ _-]?size|bs)\s?[:= ]\s?(\d{1,9})\b", re.IGNORECASE)
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
        "nference time",
        "延迟",
        "时延",
        "推理",
        "吞吐",
        "atch size",
        "atch_size",
        "bs=",
    )
    samples = ("Epoch: 3| train loss: 0.1586", "验证集 MAE: 12.5")

    def guess(self, key: str) -> Column | None:
        """A time or a rate bears its unit behind its name."""
        metric, timed, unit = key.partition(" in ")
        if not timed or not metric.startswith(("latency_", "throughput")):
            return super().guess(key)
        return Column(metric, unit, per="?" if metric == "throughput" else "")

    def __init__(self) -> None:
        super().__init__()
        self._position = (-1.0, -1.0)
        self._batch = ""
        self._measured = False

    def read(self, text: str, book: Logbook) -> bool:
        if _CODE.search(text) or _REPEATED.search(text):
            return False
        if batch := _BATCH.search(text):
            self._measured_with(batch[1], book)
        epoch, step = _EPOCH.search(text), _STEP.search(text)
        if epoch:
            self._position = (float(epoch[1] or epoch[2]), -1.0)
        if step:
            self._position = (self._position[0], float(step[1] or step[2]))
        held = _HELD_OUT.search(text)
        prefix = f"{held[1].lower()}_" if held else ""
        found = [*_PAIR.findall(text), *_BLEU.findall(text), *(_SPACED.findall(text) if epoch or step else ())]
        pairs = [(f"{prefix}{name.strip()}", value) for name, value in found]
        pairs = [(name, value) for name, value in pairs if self.column(name)]
        timed = list(timings(text))
        if timed:
            self._timed(timed, book)
        if not pairs:
            return bool(timed)
        unsaid = self._of_no_set([name for name, _ in pairs])
        epoch_and_step = dict(zip(("epoch", "step"), self._position, strict=True))
        if said := [pair for pair in pairs if pair[0] not in unsaid]:
            held_out = all((column := self.column(name)) and column.phase == "eval" for name, _ in said)
            book.record(said, phase="eval" if held_out else "train", **epoch_and_step)
        if unsaid:
            run = book.record([pair for pair in pairs if pair[0] in unsaid], phase="eval", **epoch_and_step)
            for name in sorted(unsaid):
                run.doubts.setdefault(f"{name} 没有写明取自训练集还是验证集")
        return True

    def _of_no_set(self, names: list[str]) -> set[str]:
        """The scores that may be of any set: a name is plain, and no loss of training alone stands beside it."""
        columns = {name: column for name in names if (column := self.column(name))}
        plain = {name for name, column in columns.items() if column.phase is None and "train" not in name.lower()}
        scores = {name for name in plain if columns[name].kind == "score"}
        trained = any(columns[name].kind == "loss" and columns[name].phase is None for name in names)
        held_out = any(column.phase == "eval" for column in columns.values())
        return scores if held_out or not trained else set()

    def _measured_with(self, batch: str, book: Logbook) -> None:
        """Times of another batch are of another run."""
        if self._batch not in ("", batch) and self._measured:
            book.end()
            self._measured = False
        self._batch = batch

    def _timed(self, timed: list[Timing], book: Logbook) -> None:
        pairs = [(f"{each.metric} in {each.unit}", each.value) for each in timed]
        run = book.record(pairs, phase="infer", step=self._position[1])
        self._measured = True
        book.fact("batch", self._batch)
        run.doubts.setdefault("延迟或吞吐是程序自己打印的，看不出计时前后是否同步了设备")
        for each in timed:
            if each.doubt:
                run.doubts.setdefault(each.doubt)
