"""fairseq: ``| train_inner | {json}`` and the older ``| epoch 001 | loss 9.12 | ppl 556.1 | wps 31200 …``.

Trap: the numbers in its JSON are strings; ``loss`` is in base 2; ``wps`` counts the words of all workers.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from npueval.logs.base import LineFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase

_JSON = re.compile(r"\| (train_inner|train|valid|test) \| (\{.*\})")
_BARS = re.compile(r"\| epoch (\d+)(?:[: ]+(\d+) / (\d+))? \| (.*)")
_PAIR = re.compile(r"(?<![a-z_])([a-z_]{1,80})[ =]([-\d.e+]+)")


class Fairseq(LineFormat):
    name = "fairseq"
    needles = ("| train", "| valid", "| epoch ")
    samples = (
        '2021-01-01 10:00:00 | INFO | train_inner | {"epoch": 1, "loss": "9.82", "wps": "3124", "num_updates": "9"}',
        "| epoch 002 | valid on 'valid' subset | loss 5.31 | nll_loss 3.90 | ppl 14.93 | num_updates 4200",
    )
    columns: ClassVar = {
        "loss": Column("loss"),
        "nll_loss": Column("nll_loss"),
        "ppl": Column("ppl"),
        "wps": Column("token_throughput", "tokens/s", per="total"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        found = _JSON.search(text)
        if found:
            return self._json(found[1], found[2], book)
        bars = _BARS.search(text)
        pairs = _PAIR.findall(bars[4]) if bars else []
        if not bars or not any(self.column(key) for key, _ in pairs):
            return False
        values = dict(pairs)
        phase: Phase = "eval" if "valid" in bars[4] else "train"
        book.record(pairs, phase=phase, epoch=float(bars[1]), step=position(values.get("num_updates")))
        return True

    def _json(self, phase: str, text: str, book: Logbook) -> bool:
        try:
            record: Any = json.loads(text)
        except (ValueError, RecursionError):
            return False
        pairs = [(key.removeprefix(f"{phase}_"), value) for key, value in record.items()]
        values = dict(pairs)
        book.record(
            pairs,
            phase="train" if phase.startswith("train") else "eval",
            epoch=position(values.get("epoch")),
            step=position(values.get("num_updates")),
        )
        return True
