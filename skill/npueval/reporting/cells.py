"""How values are written into the documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from npueval.language import one_line
from npueval.records import Conclusion, Edit
from npueval.runs import Run

_MARKUP = re.compile(r"[\\`*\[\]<>~]")
SEGMENT_NAMES = {
    "preprocess": "预处理",
    "h2d": "H2D 拷贝",
    "infer": "推理",
    "d2h": "D2H 拷贝",
    "postprocess": "后处理",
}


def missing(reason: str) -> str:
    """``N/A`` with its reason: the only form in which a gap may be written."""
    return f"N/A（{reason}）"


def number(value: float) -> str:
    """Four significant digits, an exponent only below 1e-4: ``0.04125``, ``12.35``, ``20412``."""
    if value and abs(value) < 1e-4:
        return f"{value:.3e}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def joined(parts: Iterable[str | None], separator: str = "；") -> str:
    """The parts that are there."""
    return separator.join(part for part in parts if part)


def in_one_line(edit: Edit) -> Edit:
    """The Edit with every line break and other control character of its texts made a blank: a cell is one line."""
    value = edit.value
    if isinstance(value, str):
        return replace(edit, value=one_line(value))
    return replace(edit, value=tuple(one_line(each) for each in value)) if isinstance(value, tuple) else edit


def row(place: str, label: str, cells: Mapping[str, str], source: str = "") -> list[Edit]:
    """Edits of several cells of one row; ``place`` is ``Document#section``."""
    return [Edit(f"{place}/{label}/{column}", text, source) for column, text in cells.items()]


def values(place: str, pairs: Mapping[str, str], source: str = "") -> list[Edit]:
    """Edits of fields, or of rows of a table of names and values."""
    return [Edit(f"{place}/{key}", text, source) for key, text in pairs.items()]


def said(conclusion: Conclusion) -> str:
    """A conclusion with what it rests on."""
    return f"{conclusion.verdict}（{conclusion.reason}）" if conclusion.reason else conclusion.verdict


def model_of(run: Run) -> str:
    """The card's model; a simulated one is named so wherever it stands."""
    return f"{run.device.model}（模拟设备）" if run.simulated else run.device.model


def literal(text: str) -> str:
    """A name that stands in a document as it is, whatever it holds of Markdown."""
    return _MARKUP.sub(r"\\\g<0>", text)
