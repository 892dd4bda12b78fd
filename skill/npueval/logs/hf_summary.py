"""The summaries that Hugging Face's example scripts print: ``***** eval metrics *****`` over lines of ``key = value``.

Traps: a duration stands among the numbers; a bar of progress may come between; how many samples were evaluated is said.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, Phase

_HEAD = re.compile(r"\*{5} (train|eval|test|predict) metrics \*{5}")
_FIELD = re.compile(r"\s{0,4}([a-z]\w{0,60}) {1,40}= {1,40}(\S{1,40})\s*$")


class HuggingFaceSummary(LineFormat):
    name = "Hugging Face summary"
    needles = (" metrics *****",)
    samples = ("***** train metrics *****", "***** eval metrics *****")

    columns: ClassVar = {
        "train_loss": Column("mean_train_loss"),
        "train_samples_per_second": Column("throughput", "samples/s", per="total"),
        **{
            f"{of}_samples_per_second": Column("throughput", "samples/s", per="total", phase="eval")
            for of in ("eval", "test", "predict")
        },
    }

    def read(self, text: str, book: Logbook) -> bool:
        head = _HEAD.search(text)
        if not head:
            return False
        phase: Phase = "train" if head[1] == "train" else "eval"
        scores: list[tuple[str, str]] = []

        def field(line: str) -> bool:
            found = _FIELD.match(line)
            if not found:
                return False
            book.at(book.line, book.text, self)
            if (column := self.column(found[1])) and column.kind == "score":
                scores.append((found[1], found[2]))
            book.record([(found[1], found[2])], phase=phase)
            if found[1].endswith("_samples") and phase == "eval" and found[2].isdigit():
                book.counted(scores, int(found[2]))
            return True

        book.follow(field)
        return True
