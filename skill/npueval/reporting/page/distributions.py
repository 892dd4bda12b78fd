"""How the samples of a case are spread: a histogram for each side, and all sides in one cumulative curve."""

from __future__ import annotations

from collections.abc import Sequence

from npueval import statistics
from npueval.reporting.cells import joined, number
from npueval.reporting.page import drawing
from npueval.reporting.page.axes import Axis, between, from_zero, spanning
from npueval.reporting.page.blocks import figure, table
from npueval.reporting.page.drawing import Scale, scale
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.samples import Floats, Histogram, core, histogram, steps
from npueval.reporting.page.view import Key, Side, View, case_name

Series = Sequence[tuple[Side, Floats]]
"""The sides that have samples of a case, with their latencies in ms."""

LATENCY = "延迟 (ms)"
_SHARES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
_COMMON_UP_TO = 3.0


def histograms(key: Key, series: Series) -> Html:
    """A histogram for each side, on one axis where they lie close enough to each other."""
    ranges = [core(values) for _, values in series]
    whole = min(low for low, _ in ranges), max(high for _, high in ranges)
    widest = max(high - low for low, high in ranges)
    shared = whole[1] - whole[0] <= _COMMON_UP_TO * widest
    panels, tables = [], []
    for (side, values), own in zip(series, ranges, strict=True):
        x = between(*(whole if shared else own))
        found = histogram(values, x)
        panels.append(_panel(key, side, values, x, found))
        tables.append(_counts(side, found))
    axes = "各侧共用横轴" if shared and len(series) > 1 else "各侧横轴独立" if len(series) > 1 else ""
    explanation = f"样本数按延迟分箱；竖线是 p50（实）与 p95（虚）。{axes}"
    drawn = element("div", panels, class_="panels")
    return figure(f"直方图 · {case_name(key)}", explanation, drawn, data=tables)


def _panel(key: Key, side: Side, values: Floats, x: Axis, found: Histogram) -> Html:
    y = from_zero(float(found.counts.max()))
    marks = [drawing.path(drawing.columns(x.at(found.edges), y.at(found.counts)), "fill")]
    for name, share in (("p50", 0.50), ("p95", 0.95)):
        at = statistics.percentile(values, share)
        if values.size >= statistics.least_samples(share) and at <= x.high:
            marks.append(drawing.path(drawing.line(x.at([at, at]), [0, 1]), name))
    beyond = f"另有 {found.beyond} 个在右侧界外，最大 {number(found.farthest)} ms" if found.beyond else None
    small = element("small", joined(["横轴为对数" if x.log else None, beyond]))
    heading = element("div", element("b", side.name), f" n={values.size}", small, class_="of")
    title = f"{side.name} 延迟直方图，{case_name(key)}"
    said = f"{values.size} 个样本，{number(values.min())} 至 {number(values.max())} ms"
    return element(
        "div", heading, drawing.plot(title, said, scale(x, LATENCY), scale(y, "样本数", 3), marks), class_=side.column
    )


def _counts(side: Side, found: Histogram) -> Html:
    pairs = zip(found.edges[:-1], found.edges[1:], found.counts.tolist(), strict=True)
    rows = [(f"{number(low)} – {number(high)}", count) for low, high, count in pairs]
    rows += [(f"> {number(found.edges[-1])}", found.beyond)] if found.beyond else []
    return table(f"{side.name} 样本数", (LATENCY, "样本数"), rows)


def cumulative(view: View, key: Key, series: Series) -> Html:
    """The cumulative distributions of all sides on one axis."""
    x, y = spanning(*(values for _, values in series)), Axis(0, 1)
    curves = [(side, *steps(values, view.points)) for side, values in series]
    marks = [
        element("g", drawing.path(drawing.stairs(x.at(at), y.at(share)), "curve"), class_=side.column)
        for side, at, share in curves
    ]
    thinned = [f"{side.name} {at.size}/{v.size}" for (side, at, _), (_, v) in zip(curves, series, strict=True)]
    said = f"画出的次序统计量：{'，'.join(thinned)}，含最小与最大。" + ("横轴为对数。" if x.log else "")
    ticks = [(share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 0.95)]
    title = f"累积分布 · {case_name(key)}"
    lines = drawing.legend((side.column, side.name) for side, _ in series)
    return figure(
        title,
        said,
        lines,
        drawing.plot(title, _spoken(series), scale(x, LATENCY), Scale(y, "样本比例", ticks), marks),
        data=_quantiles(series),
    )


def _spoken(series: Series) -> str:
    return "；".join(f"{side.name} p50 {_quantile(values, 0.5)} ms" for side, values in series)


def _quantiles(series: Series) -> Html:
    rows = [
        ("最小", *(number(values.min()) for _, values in series)),
        *((f"p{100 * share:.0f}", *(_quantile(values, share) for _, values in series)) for share in _SHARES),
        ("最大", *(number(values.max()) for _, values in series)),
    ]
    return table("分位数（最近秩，ms）", ("分位", *(side.name for side, _ in series)), rows)


def _quantile(values: Floats, share: float) -> str:
    if values.size < statistics.least_samples(share):
        return f"N/A（样本不足 n={values.size}）"
    return number(statistics.percentile(values, share))
