"""verl: ``step:12 - actor/pg_loss:0.01 - …`` on one line, or ``step:12`` and one ``key:value`` a line after it.

Trap: NaN among diagnostics (``rollout_corr/kl``) says nothing of the loss.
"""

from __future__ import annotations

import re
from typing import ClassVar

from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_STEP = re.compile(r"\bstep:(\d+)(?: - (.*)|\s*)$")
_FIELD = re.compile(r"\s*([a-z_]+/[\w/.-]+):([-\w.+]+)\s*$")


class Verl(LineFormat):
    name = "verl"
    needles = ("step:",)
    samples = (
        "(TaskRunner pid=1) step:3 - actor/pg_loss:0.021 - critic/score/mean:0.41 - perf/throughput:912.5",
        "[2025-01-01 10:00:00,000] [INFO] [aggregate_logger.py:54:log]: step:4",
    )
    columns: ClassVar = {
        "perf/throughput": Column("token_throughput", "tokens/s", per="card"),
        "perf/time_per_step": Column("step_time", "s"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        found = _STEP.search(text)
        if not found:
            return False
        step = float(found[1])
        if found[2]:
            pairs = [field.strip().rpartition(":")[::2] for field in found[2].split(" - ")]
            book.record(pairs, step=step)
            return True

        book.record([], step=step)

        def field(line: str) -> bool:
            known = _FIELD.match(line)
            if known:
                book.at(book.line, book.text, self)
                book.record([(known[1], known[2])], step=step)
            return known is not None

        book.follow(field)
        return True

    def guess(self, key: str) -> Column | None:
        if key.endswith(("_loss", "/loss")):
            return Column(key)
        return Column(key, "scale?") if re.search(r"(?:^val|/acc|score/mean|reward/mean)", key) else None
