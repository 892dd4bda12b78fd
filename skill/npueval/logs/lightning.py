"""PyTorch Lightning ``metrics.csv``; its ``hparams.yaml`` lies beside it.

Trap: training and validation values stand in rows of their own, the other cells empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from npueval.logs.base import TableFormat
from npueval.logs.logbook import Logbook


class Lightning(TableFormat):
    name = "Lightning metrics.csv"
    needles = (",step", "step,")
    header = ("epoch", "step")
    samples = ("epoch,step,train_loss,val_acc", "step,val_loss,epoch")

    def row(self, values: Mapping[str, str], book: Logbook) -> None:
        held_out = any(value.strip() for key, value in values.items() if key.startswith(("val", "test")))
        self.write(values, book, phase="eval" if held_out else "train")
