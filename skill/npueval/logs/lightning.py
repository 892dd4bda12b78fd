"""PyTorch Lightning ``metrics.csv``; its ``hparams.yaml`` lies beside it.

Traps: training and validation values stand in rows of their own, the other cells empty, or share the last row of an
epoch; a plain ``loss`` in a row of validation is that of the validation.
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
        trained = {key: value for key, value in values.items() if key.startswith("train")}
        if not held_out:
            self.write(values, book)
            return
        place = {key: values[key] for key in (self.epoch, self.step)}
        if any(value.strip() for value in trained.values()):
            self.write(place | trained, book)
        self.write({key: value for key, value in values.items() if key not in trained}, book, phase="eval")
