"""A table of ``npueval report --csv FILE`` from elsewhere: its GPU side, percentiles with n, without samples."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator

from npueval.baselines.foreign.base import Made, Source, count, milliseconds, number
from npueval.errors import FormatError
from npueval.records import Citation, Fact, Figure, Grade

FORMAT = "npueval/comparison-csv"
VERSION = 1
_MARK = re.compile(rb"npueval/comparison-csv/(\w{1,20})")
_NEEDED = ("kind", "metric", "segment", "precision", "batch", "concurrency", "side", "value", "unit", "n", "simulated")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_CHARACTERS = 200


def recognises(source: Source) -> bool:
    """A file that says so in its first lines, in whatever encoding a spreadsheet has saved it."""
    return source.data is None and _MARK.search(source.raw[:8192].replace(b"\0", b"")) is not None


def read(source: Source) -> Made:
    """The target case of the plan; grade B where each figure has its n, C where it was a mean."""
    _refuse_newer(source)
    rows = list(_rows(source))
    plan = source.plan
    wanted = {
        "kind": "performance",
        "side": "gpu",
        "segment": "end_to_end",
        "batch": str(plan.target_batch),
        "concurrency": str(plan.concurrency[0]),
        "arrival_rate": "",
        "precision": plan.precision,
    }
    chosen = [(line, row) for line, row in rows if all((row.get(key) or "") == value for key, value in wanted.items())]
    figures = tuple(_figure(line, row, source) for line, row in chosen if row["value"])
    if not figures:
        case = f"batch {plan.target_batch}, concurrency {plan.concurrency[0]}, {plan.precision}"
        raise FormatError(f"the table has no figure of a GPU at {case}", hint="export it from a plan of the same case")
    if len({figure.metric for figure in figures}) < len(figures):
        raise FormatError("a figure stands there twice", line=chosen[0][0])
    facts = {
        "device_kind": "gpu",
        "batch": wanted["batch"],
        "precision": plan.precision,
        "concurrency": wanted["concurrency"],
    }
    grade = Grade.B if all(figure.n for figure in figures) else Grade.C
    known = {key: Fact(value, figures[0].source) for key, value in facts.items()}
    return Made(figures, grade, known, ("来自导出的 CSV，没有原始样本",))


def _refuse_newer(source: Source) -> None:
    found = _MARK.search(source.raw[:8192].replace(b"\0", b""))
    version = found[1].decode() if found else ""
    if version != str(VERSION):
        raise FormatError(
            f"this table has format {version}, this release reads {VERSION}", hint="update npueval to read it"
        )


def _rows(source: Source) -> Iterator[tuple[int, dict[str, str]]]:
    text = _decoded(source.raw)
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        lacking = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
        if lacking:
            raise FormatError(f"the table lacks the column {', '.join(lacking)}")
        for row in reader:
            if None in row or None in row.values():
                raise FormatError("the line has more or fewer cells than the head", line=reader.line_num)
            yield reader.line_num, row
    except csv.Error as error:
        raise FormatError(f"no table: {error}") from None


def _decoded(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")


def _figure(line: int, row: dict[str, str], source: Source) -> Figure:
    if row["simulated"].lower() == "true":
        raise FormatError("measured on a simulated device", line=line)
    metric, unit = row["metric"], row["unit"]
    value = _number(row, "value", line)
    wanted = source.plan.unit if metric == "throughput" else "ms"
    if unit != wanted:
        raise FormatError(f"{metric} in {unit!r:.40}, the plan counts in {wanted}", line=line)
    return Figure(
        metric=metric,
        value=number(value, metric) if metric == "throughput" else milliseconds(value, metric),
        unit=unit,
        direction="higher" if metric == "throughput" else "lower",
        source=Citation(source.shown, line, ",".join(row.values())[:_CHARACTERS]),
        per="total" if metric == "throughput" else "",
        n=count(_number(row, "n", line), "n") if row["n"] else None,
    )


def _number(row: dict[str, str], column: str, line: int) -> float:
    if not _NUMBER.fullmatch(row[column]):
        raise FormatError(f"{column} is {row[column]!r:.40}, no number", line=line)
    return float(row[column])
