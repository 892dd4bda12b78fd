"""A golden comparison in the documents: Compare §3.1, and the address of its check box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from npueval.golden.moments import Side
from npueval.golden.symptoms import PLACES
from npueval.golden.verdict import Facts, Golden, Head
from npueval.records import Edit
from npueval.tolerances import DEFAULTS, Tolerance

MOST_ROWS = 20
BOX = "Mig_report#6/Golden 样本数值一致性"
"""Ticked where the comparison of every precision has passed."""
_PLACE = "Compare#3.1"
_PRECISION_ROWS = {"fp16": "FP16（默认）", "fp32": "FP32", "bf16": "BF16"}


def edits(golden: Golden, *, device: str, simulated: bool = False, sample: str = "", source: str = "") -> list[Edit]:
    """What a comparison writes into Compare §3.1: the tolerances used, and a row for each output.

    Only outputs of a real NPU stand in the NPU's column, so that for any other ``device`` there is nothing to write.
    ``sample`` names the inputs (``seed 20, batch 32``); of many outputs the failed ones and the first are written.
    """
    if device.partition(":")[0] != "npu" or simulated:
        return []
    return [*_tolerances(golden.tolerance, source), *_rows(golden, sample, source)]


def outdated_edits(edits: Sequence[Edit], why: str) -> list[Edit]:
    """The same rows where the set no longer counts: what its sides were, and no verdict."""
    remark = f"N/A（过期：{why}）"
    return [replace(edit, value=(*row[:-1], remark)) for edit in edits if isinstance(row := edit.value, tuple)]


def summary(golden: Golden) -> str:
    """The verdict in one Chinese sentence, with where to look first when it failed."""
    heads = f"{len(golden.heads)} 个输出，{golden.tolerance}"
    if golden.passed:
        return f"通过：{heads}"
    reasons = [text.zh for text in golden.invalid] + [
        f"{head.name}：{head.reason.zh}" for head in golden.failed[:3] if head.reason
    ]
    first = next((f"；先查{PLACES[s.place].zh}（{s.head}：{s.text.zh}）" for s in golden.symptoms), "")
    return f"不通过：{heads}；{'；'.join(reasons) or '没有可比的元素'}{first}"


def _tolerances(used: Tolerance, source: str) -> Iterator[Edit]:
    row = _PRECISION_ROWS.get(used.precision)
    if row:
        origin = "默认" if used == DEFAULTS[used.precision] else "由计划指定"
        yield Edit(f"{_PLACE}/{row}/说明", f"本次采用：rtol={used.rtol:g}，atol={used.atol:g}（{origin}）", source)


def _rows(golden: Golden, sample: str, source: str) -> Iterator[Edit]:
    chosen = sorted(golden.heads, key=lambda head: head.passed)[:MOST_ROWS]
    previous = None
    for head in chosen:
        label = f"{sample} {head.name}".strip()
        cells = (label, *_cells(head))
        yield Edit(f"{_PLACE}[2]/{label}", cells, source, after=previous)
        previous = label


def _cells(head: Head) -> tuple[str, str, str]:
    found = head.difference
    sides = (found.reference, found.hypothesis) if found else (None, None)
    reason = head.reason.zh if head.reason else ""
    if found is None or found.max_absolute is None:
        remark = f"N/A（{reason or '没有有限的元素'}）"
    else:
        cosine = "" if found.cosine is None else f"，余弦 {found.cosine:.6f}"
        top1 = "" if found.top1 is None else f"，top-1 一致 {found.top1:.2%}"
        remark = f"{found.max_absolute:.3g}{cosine}{top1}；{'在容差内' if head.passed else reason}"
    return _side(head.reference, sides[0]), _side(head.hypothesis, sides[1]), remark


def _side(facts: Facts | None, side: Side | None) -> str:
    if facts is None:
        return "N/A（没有这个输出）"
    shape = f"{'×'.join(map(str, facts.shape)) or '标量'} {facts.dtype}"
    if side is None:
        return shape
    known = side.mean is not None and side.variance is not None
    figures = f"，均值 {side.mean:.4g}，方差 {side.variance:.4g}" if known else ""
    return f"{shape}{figures}，NaN {side.nan}，Inf {side.inf}"
