"""Megatron-LM and MindSpeed: one line an iteration, fields between bars.

Traps: the first iteration compiles and allocates; TFLOP/s per GPU changed its meaning between versions and is not read;
a validation stands on a line of its own between bars of dashes; ``INFO … >>`` is how MindSpeed-LLM prints, which trains
on Ascend.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.shapes import Spans

_FIELD = re.compile(r"\| *([^|:]{1,60}): *([^\s|]{1,40})")
_ITERATION = re.compile(r"\biteration +(\d+)/ *(\d+) \|")

_VALIDATION = re.compile(r"\b(?P<set>validation|test) loss at .{0,80}?\| *lm loss value: (?P<loss>\S{1,40})")
_PERPLEXITY = re.compile(r"\| *lm loss PPL: (\S{1,40})")
_MINDSPEED = re.compile(r"INFO {1,4}(?:\[[^\]]{1,40}\] {1,4})?>> ")


class Megatron(LineFormat):
    name = "Megatron-LM"
    needles = ("elapsed time per iteration", "lm loss value")
    samples = (
        " iteration       12/     500 | consumed samples:          768 | elapsed time per iteration (ms): 812.4 | "
        "learning rate: 1.2E-05 | global batch size:    64 | lm loss: 7.31E+00 | grad norm: 2.10 |",
        "INFO >>  iteration   3/  200 | elapsed time per iteration (ms): 99.5 | lm loss: 1.1E+00 |",
    )
    columns: ClassVar = {
        "elapsed time per iteration (ms)": Column("step_time", "ms"),
        "lm loss": Column("lm_loss"),
        "samples per second": Column("throughput", "samples/s", per="total"),
        "tokens per gpu per second (tgs)": Column("token_throughput", "tokens/s", per="card"),
        "tokens per gpu per second": Column("token_throughput", "tokens/s", per="card"),
        "loss scale": None,
        **{f"{of} loss": Column(f"{of}_lm_loss", phase="eval") for of in ("validation", "test")},
        **{f"{of} ppl": Column(f"{of}_ppl", phase="eval") for of in ("validation", "test")},
    }

    def read(self, text: str, book: Logbook) -> bool:
        found = _ITERATION.search(text)
        if not found:
            return self._validation(text, book)
        fields = [field.strip().partition(":") for field in text[found.end() :].split("|")]
        pairs = [(key, value.strip()) for key, _, value in fields]
        run = book.record(pairs, step=float(found[1]))
        if "batch" not in run.facts:
            self._facts(dict(pairs), found[2], book)
        if _MINDSPEED.search(text, 0, found.start()):
            run.doubts.setdefault("像是 MindSpeed-LLM 的输出，它在昇腾上训练，很可能不是 GPU 的基线")
        return True

    def _validation(self, text: str, book: Logbook) -> bool:
        found, perplexity = _VALIDATION.search(text), _PERPLEXITY.search(text)
        if not found:
            return False
        named = [("loss", found["loss"]), ("ppl", perplexity[1] if perplexity else "")]
        book.record([(f"{found['set']} {name}", value) for name, value in named], phase="eval")
        return True

    def spans(self, text: str) -> Spans | None:
        found = _ITERATION.search(text)
        fields = _FIELD.finditer(text, found.end() - 1) if found else ()
        values = [(column, field.span(2)) for field in fields if (column := self.column(field[1])) is not None]
        return Spans(None, found.span(1), values, fixed=(found.span(2),), last=float(found[2])) if found else None

    def _facts(self, fields: dict[str, str], iterations: str, book: Logbook) -> None:
        book.fact("batch", fields.get("global batch size", ""))
        book.fact("iterations", iterations)
