"""PaddleClas, PaddleDetection, PaddleOCR, PaddleRec: ``ips`` and ``batch_cost`` beside losses and scores.

Traps: ``ips`` is per card in most of them and the sum in some; a score in the midst of an evaluation is that of its
beginning; in the first line of an epoch the averages have just been reset, so that it is far off in either direction;
``use_gpu: True`` in the dump of the configuration is the device.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase

_EPOCH = re.compile(r"\b[Ee]poch:? *\[?(\d+)(?:/(\d+))?\]?")
_STEP = re.compile(r"(?:\[?Iter(?:ation)?: *|iter: |batch_id: |\]\s*\[\s*(?!\d{4}[/-]\d\d))(\d+)(?:/(\d+))?")
_PAIR = re.compile(r"(?<![\w@.-])([A-Za-z][\w@.-]{0,40}) ?: {0,4}([-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|(?i:nan|inf)))")
_RECORD = re.compile(r"\bips:|batch_cost:|\[Avg\]|epoch: \d+ done|cur metric")
_TIMING = ("ips", "batch_cost", "avg_batch_cost")
_CARDS = re.compile(r"\s*(单|\d+) ?卡")
_WHEN = re.compile(r"\[Eval\]|\bEval\b|\beval\b|cur metric|best metric")


class Paddle(LineFormat):
    name = "Paddle"
    needles = ("ips: ", "batch_cost: ", "[Avg]", " done, ", "cur metric,", "common.configs", "infer_batch_size")
    samples = (
        "[2022/05/01 10:00:00] ppcls INFO: [Train][Epoch 3/120][Iter: 40/500]lr(CosineAnnealingLR): 0.09, top1: 0.41, "
        "CELoss: 2.87, loss: 2.87, batch_cost: 0.31s, reader_cost: 0.01, ips: 205.1 images/s, eta: 6:01:02",
        "2022-05-01 10:00:00,000 - INFO - epoch: 0, batch_id: 200, AUC:0.71, loss:0.29, ips: 910.2",
    )
    columns: ClassVar = {
        "ips": Column("throughput", "samples/s", per="?"),
        "batch_cost": Column("step_time", "s"),
        "avg_batch_cost": Column("step_time", "s"),
        "loss": Column("loss"),
        "AUC": Column("auc", "fraction"),
        "ACC": Column("acc", "fraction"),
        "acc": Column("acc", "fraction"),
        "hmean": Column("hmean", "fraction"),
        "norm_edit_dis": Column("norm_edit_dis", "fraction"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._inferring = False

    def read(self, text: str, book: Logbook) -> bool:
        if "common.configs" in text or "infer_batch_size" in text:
            return self._configuration(text, book)
        pairs = _PAIR.findall(text) if _RECORD.search(text) else []
        epoch, step = _EPOCH.search(text), _STEP.search(text)
        if not any(self.column(key) for key, _ in pairs) or not (epoch or step or "metric" in text):
            return False
        if (cards := _CARDS.match(text)) and book.run().fact("cards") not in (None, _cards(cards)):
            book.end()
        phase: Phase = "infer" if self._inferring else "eval" if _WHEN.search(text) else "train"
        done = " done" in text or "[Avg]" in text
        first = not done and step is not None and int(step[1]) == 0
        underway = phase != "train" and step is not None and not done
        run = book.record(
            [(key, value) for key, value in pairs if not (first if key in _TIMING else underway)],
            phase=phase,
            epoch=float(epoch[1]) if epoch else -1.0,
            step=float("inf") if done else float(step[1]) if step else -1.0,
        )
        if step and step[2] and phase == "train":
            run.epoch_length = int(step[2])
        if first:
            run.doubts.setdefault("每个 epoch 的首条 ips/batch_cost 刚被清零，不采用")
        if cards:
            book.fact("cards", _cards(cards))
        if epoch and epoch[2] and run.fact("epochs") is None:
            book.fact("epochs", epoch[2])
        return True

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        return Column(column.metric, "fraction", phase=column.phase) if column and column.unit else column

    def _configuration(self, text: str, book: Logbook) -> bool:
        """A dump of the configuration begins another program: training, or inference with saved weights."""
        if "batch_size" in text:
            book.section()
        self._inferring = "infer_batch_size" in text or (self._inferring and "train_batch_size" not in text)
        return False


def _cards(found: re.Match[str]) -> str:
    return "1" if found[1] == "单" else found[1]
