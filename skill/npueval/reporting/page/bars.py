"""Values as bars, ratios as points on a line: small drawings that stand beside their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from npueval.records import Change, ComparisonRow, Value
from npueval.reporting.dossier import Column
from npueval.reporting.page import drawing
from npueval.reporting.page.axes import Axis, around_one, from_zero
from npueval.reporting.page.blocks import figures
from npueval.reporting.page.drawing import UNITS
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import View, change_of, value_of


@dataclass(frozen=True)
class Bar:
    """One value: the class that colours it, its name, and what is known of it."""

    key: str
    name: str
    value: Value


def of_row(view: View, row: ComparisonRow) -> list[Bar]:
    """The value of every column."""
    return [Bar(side.column, side.name, value_of(row, side.column)) for side in view.sides]


def axis_for(bars: Iterable[Bar], *others: float | None) -> Axis:
    """From zero to the end of the longest bar, or of its interval, or of another value."""
    values = [x for bar in bars for x in (bar.value.value, bar.value.high)]
    return from_zero(*(x for x in (*values, *others) if x is not None))


def drawn(bars: Iterable[Bar], axis: Axis, unit: str, limit: float | None = None) -> Html:
    """Bars from zero with their intervals, each beside its numbers; ``limit`` is the target."""
    return element("div", [_bar(bar, axis, unit, limit) for bar in bars], class_="bars")


def ratio_axes(view: View, rows: Sequence[ComparisonRow]) -> dict[Column, Axis]:
    """One axis for all ratios to a baseline; each baseline has its own."""
    return {side.column: _ratio_axis([change_of(row, side.column) for row in rows]) for side in view.baselines}


def _ratio_axis(changes: Iterable[Change]) -> Axis:
    return around_one(*(x for c in changes for x in (c.ratio, c.low, c.high) if x is not None))


def ratio(change: Change, axis: Axis, margin: float) -> Html | None:
    """A ratio with its interval on a line whose middle is 1, the plan's margin shaded."""
    if change.ratio is None:
        return None
    left, right = _at(axis, 1 / (1 + margin)), _at(axis, 1 + margin)
    marks = [
        element("rect", x=left, width=max(1, right - left), height=UNITS, class_="margin"),
        drawing.path(f"M{_at(axis, 1)} 0V{UNITS}", "one"),
        *_whisker(change.low, change.high, axis),
        drawing.path(f"M{_at(axis, change.ratio)} 500h0", "dot"),
    ]
    return drawing.strip(marks)


def _bar(bar: Bar, axis: Axis, unit: str, limit: float | None) -> Html:
    value = bar.value
    marks = [] if value.value is None else [element("rect", width=_at(axis, value.value), y=200, height=600)]
    marks += _whisker(value.low, value.high, axis)
    marks += [] if limit is None else [drawing.path(f"M{_at(axis, limit)} 0V{UNITS}", "limit")]
    strip = drawing.strip(marks, class_=f"bar {bar.key}")
    return element("div", element("span", bar.name, class_="name"), strip, element("span", figures(value, unit)))


def _whisker(low: float | None, high: float | None, axis: Axis) -> Iterator[Html]:
    if low is not None and high is not None:
        yield drawing.path(f"M{_at(axis, low)} 500H{_at(axis, high)}", "whisker")


def _at(axis: Axis, value: float) -> int:
    return round(axis.place(value) * UNITS)
