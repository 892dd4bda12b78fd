"""LLaMA-Factory ``trainer_log.jsonl``: one object a line, with ``current_steps`` of ``total_steps``.

Trap: a loss of exactly 0.0 beside ``eval_loss: NaN`` is a run in which fp16 has overflowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from npueval.logs.base import ObjectFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase


class LlamaFactory(ObjectFormat):
    name = "LLaMA-Factory"
    needles = ('"current_steps"',)
    samples = (
        '{"current_steps": 10, "total_steps": 900, "loss": 1.31, "lr": 1e-05, "epoch": 0.03, "percentage": 1.1}',
        '{"current_steps": 50, "total_steps": 900, "eval_loss": 1.22, "epoch": 0.16, "percentage": 5.5}',
    )
    columns: ClassVar = {"loss": Column("loss"), "eval_loss": Column("eval_loss", phase="eval")}

    def read(self, record: Mapping[str, Any], book: Logbook) -> bool:
        if "current_steps" not in record:
            return False
        step = position(record["current_steps"])
        phase: Phase = "eval" if "eval_loss" in record else "train"
        run = book.record(record.items(), phase=phase, epoch=position(record.get("epoch")), step=step)
        run.finished = step == position(record.get("total_steps"))
        return True
