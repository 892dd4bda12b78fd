"""What a larger batch or a higher load buys: latency against throughput, a line for each side and load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from npueval.plan import Targets
from npueval.records import ComparisonRow, Value
from npueval.reporting.cells import number
from npueval.reporting.page import drawing
from npueval.reporting.page.axes import Axis, spanning
from npueval.reporting.page.blocks import figure, figures, paragraph, section, table
from npueval.reporting.page.drawing import UNITS, Note, scale
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import Key, Side, View, case_name, key_of, value_of

_TITLE = "Batch、延迟与吞吐"
_MOST_LABELS = 8


@dataclass(frozen=True)
class _Point:
    """One case of one side: latency p50 in ms with its interval, and items/s."""

    side: Side
    key: Key
    latency: Value
    p50: float
    rate: float


_Curve = Sequence[_Point]
"""The points of one side under one load, by batch."""


def build(view: View) -> Html:
    """The curve, or why there is none."""
    curves = list(_curves(view))
    if not any(len(curve) > 1 for curve in curves):
        gap = "不足两个有延迟和吞吐的用例，画不出曲线；数字见“全部用例”。"
        return section("scaling", _TITLE, paragraph(gap))
    points = list(chain.from_iterable(curves))
    x, y = _axes(points, view.dossier.plan.targets)
    explanation = (
        "每点一个用例，竖线是 p50 的 95 % 区间，连线按 batch 递增，末端写明精度格式；越靠右下越好。虚线是计划的目标。"
    )
    keys = drawing.legend((side.column, side.name) for side in dict.fromkeys(point.side for point in points))
    body = keys, _plot(view, curves, x, y)
    data = _table(points, view.dossier.plan.unit)
    return section("scaling", _TITLE, figure("延迟 p50 对吞吐", [explanation, _logs(x, y)], *body, data=data))


def _curves(view: View) -> Iterator[_Curve]:
    rows = {(key_of(row), row.metric): row for row in view.dossier.comparison.rows}
    for side in view.sides:
        for shared in dict.fromkeys(key.curve for key in view.keys):
            keys = sorted((key for key in view.keys if key.curve == shared), key=lambda key: key.batch)
            found = [point for key in keys if (point := _point(rows, key, side))]
            if found:
                yield found


def _point(rows: dict[tuple[Key, str], ComparisonRow], key: Key, side: Side) -> _Point | None:
    found = [rows.get((key, metric)) for metric in ("latency_p50_ms", "throughput")]
    latency, rate = (value_of(row, side.column) if row else Value() for row in found)
    if latency.value is None or rate.value is None:
        return None
    return _Point(side, key, latency, latency.value, rate.value)


def _axes(points: _Curve, targets: Targets) -> tuple[Axis, Axis]:
    bounds = [b for point in points for b in (point.latency.low, point.latency.high, point.p50) if b is not None]
    goals = [[goal] if goal else [] for goal in (targets.throughput, targets.latency_p50_ms)]
    return spanning([point.rate for point in points], goals[0]), spanning(bounds, goals[1])


def _plot(view: View, curves: Sequence[_Curve], x: Axis, y: Axis) -> Html:
    unit, targets = view.dossier.plan.unit, view.dossier.plan.targets
    marks, notes = [], [note for curve in curves for note in _labels(curve, x, y)]
    if targets.throughput:
        marks.append(drawing.path(f"M{round(x.place(targets.throughput) * UNITS)} 0V{UNITS}", "limit"))
    if targets.latency_p50_ms:
        level = 1 - y.place(targets.latency_p50_ms)
        marks.append(drawing.path(f"M0 {round(level * UNITS)}H{UNITS}", "limit"))
        notes.append(Note(0, level - 0.09, f"目标 p50 ≤ {targets.latency_p50_ms:g} ms"))
    marks += [_drawn(curve, x, y) for curve in curves]
    ends = "；".join(f"{c[0].side.name} {number(c[0].rate)} 至 {number(c[-1].rate)} {unit}" for c in curves)
    across, up = scale(x, f"吞吐 ({unit})"), scale(y, "延迟 p50 (ms)")
    return drawing.plot("延迟 p50 对吞吐", ends, across, up, marks, notes)


def _drawn(curve: _Curve, x: Axis, y: Axis) -> Html:
    at, level = x.at([point.rate for point in curve]), y.at([point.p50 for point in curve])
    known = [point for point in curve if point.latency.low is not None and point.latency.high is not None]
    low, high = (y.at([getattr(point.latency, end) for point in known]) for end in ("low", "high"))
    return element(
        "g",
        drawing.path(drawing.line(at, level), "curve"),
        drawing.path(drawing.spans(x.at([point.rate for point in known]), low, high), "whisker"),
        drawing.path(drawing.dots(at, level), "dots big"),
        class_=curve[0].side.column,
    )


def _labels(curve: _Curve, x: Axis, y: Axis) -> Iterator[Note]:
    """Every point of a short line, the ends of a long one."""
    for point in curve if len(curve) <= _MOST_LABELS else (curve[0], curve[-1]):
        across, key = x.place(point.rate), point.key
        load = f"·c{key.concurrency}" if key.concurrency > 1 else ""
        name = f"{key.precision}·b{key.batch}{load}" if point is curve[-1] else f"b{key.batch}{load}"
        yield Note(across, 1 - y.place(point.p50), name, ends=across > 0.85)


def _logs(x: Axis, y: Axis) -> str:
    logs = [name for axis, name in ((x, "横轴"), (y, "纵轴")) if axis.log]
    return f"{'、'.join(logs)}为对数。" if logs else ""


def _table(points: _Curve, unit: str) -> Html:
    rows = [(case_name(p.key), p.side.name, figures(p.latency, "ms"), number(p.rate)) for p in points]
    return table("图中各点", ("用例", "侧", "延迟 p50", f"吞吐 ({unit})"), rows)
