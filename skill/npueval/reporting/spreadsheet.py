"""The comparison as one flat table: a line for each side of each row, as measured, with what is known of it.

Format history of ``npueval/comparison-csv``:

1. first form.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from npueval.records import AccuracyRow, Change, Comparison, ComparisonRow, Value
from npueval.reporting.dossier import KINDS, Dossier

FORMAT = "npueval/comparison-csv/1"
COLUMNS = (
    "format",
    "kind",
    "metric",
    "label",
    "segment",
    "precision",
    "batch",
    "concurrency",
    "arrival_rate",
    "side",
    "value",
    "unit",
    "direction",
    "low_95",
    "high_95",
    "n",
    "missing_because",
    "source",
    "simulated",
    "npu_better_by",
    "npu_better_by_low_95",
    "npu_better_by_high_95",
    "outcome",
    "npu_minus_this",
    "grade",
    "not_comparable_because",
    "target",
    "judgement",
    "judgement_because",
)
"""``npu_better_by`` is a ratio: above 1 the NPU is the better one. Target and judgement stand on the NPU's line."""

_BOM = "\ufeff"
# A cell that begins like a formula would be run by a spreadsheet; surrogates cannot be written as UTF-8.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def render(dossier: Dossier) -> str:
    """The CSV of one evaluation; numbers in full precision. A byte order mark tells spreadsheets that it is UTF-8."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for line in _lines(dossier):
        writer.writerow({key: _cell(value) for key, value in {"format": FORMAT, **line}.items()})
    return _BOM + stream.getvalue()


def _lines(dossier: Dossier) -> Iterator[dict[str, Any]]:
    for line in _entries(dossier.comparison):
        run = dossier.run(line["side"], line["precision"]) if line["side"] in KINDS else None
        yield {**line, "simulated": str(run.simulated).lower() if run else None}


def _entries(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for kind, rows in (("performance", comparison.rows), ("stage", comparison.stages)):
        for row in rows:
            sides = (("npu", row.npu, None), ("gpu", row.gpu, row.against_gpu), ("cpu", row.cpu, row.against_cpu))
            for side, value, change in sides:
                yield {"kind": kind, **_case(row), "side": side, **_value(value), **_verdict(row, side)} | _change(
                    change
                )
    for score in comparison.accuracy_rows:
        names = ("metric", "label", "precision", "direction")
        common = {"kind": "accuracy", **{name: getattr(score, name) for name in names}}
        yield {**common, "side": "npu", **_value(score.npu), **_verdict(score, "npu")}
        yield {**common, "side": "baseline", **_value(score.baseline), **_difference(score)}


def _case(row: ComparisonRow) -> dict[str, Any]:
    names = ("metric", "label", "segment", "precision", "batch", "concurrency", "unit", "direction")
    return {name: getattr(row, name) for name in names} | {"arrival_rate": row.rate}


def _value(value: Value) -> dict[str, Any]:
    known = {"value": value.value, "low_95": value.low, "high_95": value.high, "n": value.n, "source": value.source}
    return known | {"missing_because": value.reason if value.value is None else None}


def _verdict(row: ComparisonRow | AccuracyRow, side: str) -> dict[str, Any]:
    if side != "npu":
        return {}
    return {"target": row.target, "judgement": row.judgement, "judgement_because": row.reason}


def _change(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {}
    return {
        "npu_better_by": change.ratio,
        "npu_better_by_low_95": change.low,
        "npu_better_by_high_95": change.high,
        "outcome": change.outcome,
        "grade": change.grade.value,
        "not_comparable_because": change.refusal,
    }


def _difference(score: AccuracyRow) -> dict[str, Any]:
    return {
        "npu_minus_this": score.difference,
        "grade": score.grade.value,
        "not_comparable_because": score.refusal,
    }


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = _SURROGATE.sub("\ufffd", value)
    return f"'{text}" if _FORMULA.match(text) else text
