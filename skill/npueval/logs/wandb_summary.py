"""Weights & Biases ``wandb-summary.json``: the last value of everything that a run logged."""

from __future__ import annotations

from typing import Any, ClassVar

from npueval.logs.base import DocumentFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column


class WandbSummary(DocumentFormat):
    name = "wandb summary"
    needles = ('"_wandb"', '"_runtime"')
    samples = (
        '{"train/loss": 0.42, "train/train_samples_per_second": 12.5, "_step": 900, "_wandb": {"runtime": 71}}',
        '{"eval/accuracy": 0.81, "_runtime": 812.4, "_step": 40}',
    )
    columns: ClassVar = {
        "train/loss": Column("loss"),
        "train/train_loss": Column("mean_train_loss"),
        "train/train_samples_per_second": Column("throughput", "samples/s", per="total"),
        "eval/samples_per_second": Column("throughput", "samples/s", per="total", phase="eval"),
    }

    def read(self, document: Any, book: Logbook) -> bool:
        if not isinstance(document, dict) or not document.keys() & {"_wandb", "_runtime"}:
            return False
        values = [(key, value) for key, value in document.items() if isinstance(value, int | float | str)]
        for key, value in values:
            if self.column(key):
                book.seek(key)
                book.record([(key, value)], step=position(document.get("_step")))
        return True
