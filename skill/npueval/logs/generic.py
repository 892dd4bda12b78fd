"""The last resort: a named metric and a number on a line. Evidence of the lowest grade.

Traps: ``loss`` in an argparse usage, in code or in prose is no value; a score's scale is unknown unless it is over 1.
"""

from __future__ import annotations

import re

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.sentences import Named, is_code, named
from npueval.logs.timings import Timing, timings
from npueval.records import Grade

_REPEATED = re.compile(r"saved|new best|best so far", re.IGNORECASE)
_EPOCH = re.compile(r"\bepoch[ :#]{0,4}\[?(\d{1,9})|第 ?(\d{1,9}) ?轮", re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter(?:ation)?)[ :#=]{0,4}\[?(\d{1,12})|\b(\d{1,12})th step", re.IGNORECASE)
_BATCH = re.compile(r"\b(?:batch[ _-]?size|bs)\s?[:= ]\s?(\d{1,9})\b", re.IGNORECASE)


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
        self._batch, self._batch_said = "", (0, "")
        self._measured = False

    def read(self, text: str, book: Logbook) -> bool:
        if is_code(text) or _REPEATED.search(text):
            return False
        if batch := _BATCH.search(text):
            self._measured_with(batch[1], book)
        epoch, step = _EPOCH.search(text), _STEP.search(text)
        if epoch:
            self._position = (float(epoch[1] or epoch[2]), -1.0)
        if step:
            self._position = (self._position[0], float(step[1] or step[2]))
        found = [each for each in named(text, in_order=bool(epoch or step)) if self.column(each.name)]
        timed = list(timings(text))
        if timed:
            self._timed(timed, book)
        if found:
            self._named(found, book)
        return bool(found or timed)

    def _named(self, found: list[Named], book: Logbook) -> None:
        unsaid = self._of_no_set([each.name for each in found])
        epoch, step = self._position
        if said := [(each.name, each.value) for each in found if each.name not in unsaid]:
            held_out = all((column := self.column(name)) and column.phase == "eval" for name, _ in said)
            book.record(said, phase="eval" if held_out else "train", epoch=epoch, step=step)
        if unsaid:
            pairs = [(each.name, each.value) for each in found if each.name in unsaid]
            run = book.record(pairs, phase="eval", epoch=epoch, step=step)
            for name in sorted(unsaid):
                run.doubts.setdefault(f"{name} 没有写明取自训练集还是验证集")
        for each in found:
            if each.n:
                book.run().counts[each.name] = each.n
                book.scale(each.name, "fraction", f"{each.told} 个样本")

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
        self._batch, self._batch_said = batch, (book.line, book.text)

    def _timed(self, timed: list[Timing], book: Logbook) -> None:
        pairs = [(f"{each.metric} in {each.unit}", each.value) for each in timed]
        run = book.record(pairs, phase="infer", step=self._position[1])
        self._measured = True
        book.fact("batch", self._batch, self._batch_said)
        run.doubts.setdefault("延迟或吞吐是程序自己打印的，看不出计时前后是否同步了设备")
        for each in timed:
            if each.doubt:
                run.doubts.setdefault(each.doubt)
