"""Hugging Face Trainer: ``trainer_state.json`` and the dicts it prints.

Traps: the summary is printed twice (as ``TrainOutput`` too); ``train_loss`` is the mean of the run, not the last loss;
``train_samples_per_second`` counts all samples over the time since a resume, so a resumed run looks faster than it was;
numbers may be strings; a dict may span many lines. Samples per second times seconds is the number of samples, which may
tell a fraction from a percent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from npueval.logs.base import ObjectFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, LoggedRun
from npueval.logs.shapes import Spans

_RATE = re.compile(r"(?:eval|test)_(?:\w+_)?samples_per_second")
_ROUNDED_RATE, _ROUNDED_TIME = 5e-4, 5e-5
_FOREIGN = {"current_steps", "mode", "iter", "iteration", "num_updates"}
_SKIPPED = re.compile(r"(?:eval|test)_(?:\w+_)?(?:runtime|steps_per_second)")


class HuggingFaceTrainer(ObjectFormat):
    name = "Hugging Face Trainer"
    needles = ('"log_history"', "'loss': ", '"loss": ', "'train_runtime': ", "_runtime'", '_runtime"')
    samples = (
        "{'loss': 0.4417, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 0.5, 'step': 500}",
        '{"epoch": 1.0, "eval_accuracy": 0.84, "eval_loss": 0.39, "eval_runtime": 9.1, "step": 1000}',
    )
    columns: ClassVar = {
        "loss": Column("loss"),
        "train_loss": Column("mean_train_loss"),
        "train_samples_per_second": Column("throughput", "samples/s", per="total"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._summary: Mapping[str, Any] = {}
        self._ended = -1.0

    def guess(self, key: str) -> Column | None:
        if _SKIPPED.fullmatch(key):
            return None
        if _RATE.fullmatch(key):
            name = key.removeprefix("eval_").removeprefix("test_").removesuffix("samples_per_second")
            return Column(f"{name}throughput", "samples/s", per="total", phase="eval")
        return super().guess(key)

    def read(self, record: Mapping[str, Any], book: Logbook) -> bool:
        epoch, step = position(record.get("epoch")), position(record.get("step"))
        if "train_runtime" in record:
            if record == self._summary:
                return True
            self._summary = record
            run = book.record(record.items())
            _doubt_resume(run)
            if 0 <= epoch < 1:
                run.doubts.setdefault(f"整个训练只有 {epoch:g} 个 epoch，指标不是最终值")
            # It may still be evaluated.
            run.finished, self._ended = True, epoch
            return True
        trained = "loss" in record and ("learning_rate" in record or "epoch" in record)
        held_out = not trained and any(key.startswith(("eval_", "test_")) for key in record)
        if not held_out and (not trained or record.keys() & _FOREIGN):
            return False
        if held_out and epoch < self._ended:
            # Of other weights than those that were trained last.
            book.end()
        self._ended = self._ended if held_out else -1.0
        book.record(record.items(), phase="eval" if held_out else "train", epoch=epoch, step=step)
        if held_out and (samples := _samples(record)):
            book.counted(record.items(), samples)
        return True

    def spans(self, text: str) -> Spans | None:
        return self.row(text, "epoch", "step") if "'loss'" in text or '"loss"' in text else None


def _samples(record: Mapping[str, Any]) -> int | None:
    """On how many samples it was evaluated: its rate times its time, where that is a whole number."""
    rate, taken = (
        next((position(value) for key, value in record.items() if key.endswith(ending)), 0.0)
        for ending in ("_samples_per_second", "_runtime")
    )
    if rate <= 0 or taken <= 0:
        return None
    samples = rate * taken
    exact = samples * (_ROUNDED_RATE / rate + _ROUNDED_TIME / taken) < 0.25
    return round(samples) if exact and abs(samples - round(samples)) < 0.05 else None


def _doubt_resume(run: LoggedRun) -> None:
    """A run whose first record stands far from its start was resumed (or the log is cut): its rate is of the rest."""
    losses = run.find("loss", "train")
    if losses and losses.count > 1 and losses.steps[0] > 2 * max(1.0, losses.steps[1] - losses.steps[0]):
        run.doubts.setdefault(f"第一条记录在第 {losses.steps[0]:g} 步：是续训或只有末尾一段，整段吞吐会偏高")
