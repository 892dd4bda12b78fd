"""Curves in anybody's CSV, Keras's ``CSVLogger`` among them: ``epoch,accuracy,loss,val_accuracy,val_loss``.

Trap: nobody says whether a score is a percent; a table without an epoch or a step is no curve.
"""

from __future__ import annotations

from collections.abc import Mapping

from npueval.logs.base import TableFormat, position
from npueval.logs.logbook import Logbook
from npueval.records import Grade

_EPOCHS, _STEPS = ("epoch", "epochs"), ("step", "steps", "iter", "iteration", "global_step")


class CsvLog(TableFormat):
    name = "CSV log"
    grade = Grade.D
    needles = ("epoch,", "Epoch,", "step,", "Step,", "iteration,", ",epoch", ",step", "iter,loss", "iter,train")
    header = ()
    samples = ("epoch,accuracy,loss,val_accuracy,val_loss", "Step,train_loss")

    def is_header(self, names: list[str]) -> bool:
        """Whether a line names a position and a metric."""
        placed = any(name.lower() in (*_EPOCHS, *_STEPS) for name in names)
        return placed and any(self.column(name) for name in names)

    def row(self, values: Mapping[str, str], book: Logbook) -> None:
        lowered = {key.lower(): value for key, value in values.items()}
        epoch, step = (
            next((position(lowered[name]) for name in words if name in lowered), -1.0) for words in (_EPOCHS, _STEPS)
        )
        book.record(values.items(), epoch=epoch, step=step)
