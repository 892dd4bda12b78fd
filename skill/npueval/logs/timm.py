"""timm ``summary.csv``. Its top-1 and top-5 are percents, even 0.872."""

from __future__ import annotations

from typing import ClassVar

from npueval.logs.base import TableFormat
from npueval.logs.logged import Column


class Timm(TableFormat):
    name = "timm summary.csv"
    needles = ("eval_top1",)
    header = ("epoch", "eval_loss", "eval_top1")
    samples = ("epoch,train_loss,eval_loss,eval_top1,eval_top5,lr", "epoch,train_loss,eval_loss,eval_top1,eval_top5")
    columns: ClassVar = {
        "train_loss": Column("train_loss"),
        "eval_loss": Column("eval_loss", phase="eval"),
        "eval_top1": Column("top1", "percent", phase="eval"),
        "eval_top5": Column("top5", "percent", phase="eval"),
    }
