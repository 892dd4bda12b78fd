"""LightGBM and XGBoost: ``[1250]\\tvalid_0's rmse: 2.38`` and ``[12]\\ttrain-auc:0.91\\teval-auc:0.88``.

Traps: what counts is the best iteration, printed after early stopping, not the last line before it; several sets may be
evaluated, and the first of them is often the training set under another name.
"""

from __future__ import annotations

import re

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_ITERATION = re.compile(r"(?:^|.{0,60}?[\s:\]])\s{0,8}\[(\d+)\]\s{1,8}(?=[A-Za-z_])")
_LIGHTGBM = re.compile(r"(?<!\w)(\w{1,80})'s ([\w@]+): ([-\w.+]+)")
_XGBOOST = re.compile(r"(?<![A-Za-z_])([A-Za-z_]\w{0,80})-([a-z@\d]+):([-\w.+]+)")
_BEST = re.compile(r"[Bb]est iteration is|best iteration: ?(\d+)")


class GradientBoosting(LineFormat):
    name = "LightGBM/XGBoost"
    needles = ("'s ", "-auc:", "-rmse:", "-logloss:", "-error:", "-mae:", "-mlogloss:", "est iteration")
    samples = ("[300]\ttraining's auc: 0.91\tvalid_1's auc: 0.874", "[12]\ttrain-rmse:0.4121\teval-rmse:0.4412")

    def __init__(self) -> None:
        super().__init__()
        self._best_follows = False
        self._held_out = ""

    def read(self, text: str, book: Logbook) -> bool:
        if best := _BEST.search(text):
            self._best_follows = best[1] is None
            if best[1]:
                book.end(finished=True)
            return True
        found = _ITERATION.match(text)
        values = (_LIGHTGBM.findall(text) or _XGBOOST.findall(text)) if found else []
        if not found or not values:
            return False
        # The best iteration is an earlier one: without a position it does not look like a restart.
        step = -1.0 if self._best_follows else float(found[1])
        self._best_follows = False
        book.record([(f"{name}_{metric}", value) for name, metric, value in values], step=step)
        if step < 0:
            book.end(finished=True)
        return True

    def guess(self, key: str) -> Column | None:
        name, _, metric = key.rpartition("_")
        unit = "fraction" if metric in ("auc", "map", "ndcg") else ""
        if name.startswith("train"):
            return Column(f"train_{metric}", unit)
        self._held_out = self._held_out or name
        return Column(f"{'valid' if name == self._held_out else name}_{metric}", unit, phase="eval")
