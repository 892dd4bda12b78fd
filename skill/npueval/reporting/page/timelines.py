"""The samples of a case in the order in which they were taken: warm-up, drift, stalls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npueval import statistics
from npueval.reporting.cells import joined, number
from npueval.reporting.page import drawing
from npueval.reporting.page.axes import Axis, spanning
from npueval.reporting.page.blocks import figure, table
from npueval.reporting.page.drawing import UNITS, Note, scale
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.samples import Floats, core, strokes, warm_up
from npueval.reporting.page.view import Key, Side, View, case_name
from npueval.runs.cases import Case

_PARTS = 8
_FEWEST_FOR_DRIFT = 30


def build(view: View, key: Key) -> Html:
    """A panel for each side that has samples."""
    cases = [(side, case) for side in view.measured if (case := side.case(key))]
    return figure(
        f"时间线 · {case_name(key)}",
        "各侧纵轴独立。",
        [_panel(view, key, side, case) for side, case in cases],
        data=_stretches(cases),
    )


def _panel(view: View, key: Key, side: Side, case: Case) -> Html:
    before, series = warm_up(case), case.milliseconds()
    x, y = Axis(-before.size - 0.5, series.size - 0.5), spanning(core(series))
    marks = [*_warm_up(x, y, before), *_samples(view, x, y, series), *_thirds(x, y, series)]
    notes = [Note(0, 0, f"预热 {before.size}")] if before.size else []
    notes += [Note(1, 0, _drift(series), ends=True)] if series.size >= _FEWEST_FOR_DRIFT else []
    words = [_thinning(series.size, view.points), _beyond(series, y), "纵轴为对数" if y.log else None]
    heading = element("div", element("b", side.name), element("small", joined(words)), class_="of")
    title = f"{side.name} 采样时间线，{case_name(key)}"
    said = f"{series.size} 个样本，{number(series.min())} 至 {number(series.max())} ms"
    drawn = drawing.plot(title, said, scale(x, "样本序号", 8), scale(y, "延迟 (ms)", 4), marks, notes)
    return element("div", heading, drawn, class_=f"low {side.column}")


def _warm_up(x: Axis, y: Axis, before: Floats) -> list[Html]:
    if not before.size:
        return []
    shade = element("rect", width=round(x.place(-0.5) * UNITS), height=UNITS, class_="warm-up")
    return [shade, *_drawn(x, y, np.arange(-before.size, 0.0), before, before, "dots cold")]


def _samples(view: View, x: Axis, y: Axis, series: Floats) -> list[Html]:
    thin = strokes(series, view.points)
    return _drawn(x, y, thin.at, thin.low, thin.high, "dots")


def _drawn(x: Axis, y: Axis, at: Floats, low: Floats, high: Floats, class_: str) -> list[Html]:
    """Strokes within the axis; those that reach beyond it end in a thick dot at its edge."""
    inside, beyond = low <= y.high, high > y.high
    within = drawing.spans(x.at(at[inside]), y.at(low[inside]), y.at(high[inside]))
    edge = drawing.dots(x.at(at[beyond]), np.ones(beyond.sum()))
    return [drawing.path(within, class_), *([drawing.path(edge, f"{class_} beyond")] if edge else [])]


def _thirds(x: Axis, y: Axis, series: Floats) -> list[Html]:
    third = series.size // 3
    if series.size < _FEWEST_FOR_DRIFT:
        return []
    parts = ((0, series[:third]), (series.size - third, series[-third:]))
    levels = [(start, start + third, statistics.percentile(part, 0.5)) for start, part in parts]
    return [drawing.path(drawing.line(x.at([a, b]), y.at([level, level])), "level") for a, b, level in levels]


def _drift(series: Floats) -> str:
    return f"漂移 {statistics.drift(series) - 1:+.1%}"


def _thinning(n: int, points: int) -> str:
    return f"{n} 个样本" if n <= points else f"{n} 个样本画成 {points} 段，每段从最小到最大，极值都在"


def _beyond(series: Floats, y: Axis) -> str | None:
    count = int((series > y.high).sum())
    return f"{count} 个高出纵轴，最大 {number(series.max())} ms（第 {int(series.argmax()) + 1} 个）" if count else None


def _stretches(cases: Sequence[tuple[Side, Case]]) -> Html:
    rows = [("预热", *(_said(warm_up(case)) for _, case in cases))]
    parts = [np.array_split(case.milliseconds(), _PARTS) for _, case in cases]
    rows += [(f"第 {place}/{_PARTS} 段", *map(_said, those)) for place, those in enumerate(zip(*parts, strict=True), 1)]
    return table("按采样顺序：最小 / 中位数 / 最大 (ms)", ("样本", *(side.name for side, _ in cases)), rows)


def _said(part: Floats) -> str:
    if not part.size:
        return "—"
    return " / ".join(map(number, (part.min(), statistics.percentile(part, 0.5), part.max())))
