"""Loops that count steps only: ``iter 250: loss 1.97, time 12.3ms, mfu 3.2%`` (nanoGPT), ``step 1/100 loss 2.0``.

Traps: nanoGPT's ``step 250: train loss 1.99, val loss 2.05`` is an estimate over many batches, of the same step as the
``iter`` line after it, whose time then holds the evaluation; ``mfu`` depends on how FLOPs are counted and is not read.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.logs.shapes import Spans

_RECORD = re.compile(
    r"(?:^|.{0,80}?[\s\]:|-])(?:[Ss]tep|STEP|[Ii]ter(?:ation)?)s?[ :=]{0,4}"
    r"\[? {0,8}(?P<step>\d+)(?: ?/ ?(?P<of>\d+))?\]?(?=[\s:,|-])[\s:,|-]{0,8}(?P<rest>(?:.{0,40}?\b)?[Ll]oss\b.*)"
)
_PAIR = re.compile(
    r"(?<![A-Za-z])([A-Za-z][\w/.@-]{0,40}(?: (?:[Ll]oss|acc(?:uracy)?))?)[ :=]{1,4}"
    r"([-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|(?i:nan|inf))) ?(ms|us|s|%)?"
    r"(?![\w~～]|\.\w|\s?[:=]\s?\d)"
)
_TIMES = frozenset({"time", "dt", "step_time", "iter_time", "ms/step"})


class StepLoop(LineFormat):
    name = "step loop"
    needles = ("tep", "TEP", "iter", "Iter")
    samples = ("iter 40: loss 3.0213, time 51.70ms, mfu 11.20%", "step 20: train loss 3.3412, val loss 3.3956")
    columns: ClassVar = {
        **{f"time in {unit}": Column("step_time", unit) for unit in ("us", "ms", "s")},
        **dict.fromkeys(("loss", "Loss"), Column("loss")),
        "tok/sec": Column("token_throughput", "tokens/s", per="?"),
        "tok/s": Column("token_throughput", "tokens/s", per="?"),
        "mfu": None,
    }

    def read(self, text: str, book: Logbook) -> bool:
        found = _RECORD.match(text)
        pairs = [(key, value) for key, value, _ in _known(found)] if found else []
        if not found or not any(self.column(key) for key, _ in pairs):
            return False
        run = book.record(pairs, step=float(found["step"]))
        if found["of"] and run.fact("iterations") is None:
            book.fact("iterations", found["of"])
        return True

    def spans(self, text: str) -> Spans | None:
        found = _RECORD.match(text)
        if not found:
            return None
        values = [(column, span) for key, _, span in _known(found) if (column := self.column(key)) is not None]
        return Spans(None, found.span("step"), values, fixed=(found.span("of"),), last=float(found["of"] or "inf"))

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        return Column(column.metric.replace(" ", "_"), column.unit, phase=column.phase) if column else None


def _known(found: re.Match[str]) -> list[tuple[str, str, tuple[int, int]]]:
    """The pairs behind the step: key (a time with its unit), value, and where the value stands."""
    pairs = _PAIR.finditer(found.string, found.start("rest"))
    return [(*_named(pair), pair.span(2)) for pair in pairs]


def _named(pair: re.Match[str]) -> tuple[str, str]:
    if pair[1] in _TIMES and pair[3]:
        return f"time in {pair[3]}", pair[2]
    return pair[1], f"{pair[2]}%" if pair[3] == "%" else pair[2]
