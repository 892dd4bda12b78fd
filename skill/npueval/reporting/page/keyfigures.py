"""The target case at a glance: each metric with its interval, its target, and the ratio to the baselines."""

from __future__ import annotations

from collections.abc import Mapping

from npueval.records import AccuracyRow, ComparisonRow
from npueval.reporting.dossier import Column
from npueval.reporting.page import bars
from npueval.reporting.page.axes import Axis
from npueval.reporting.page.bars import Bar
from npueval.reporting.page.blocks import changed, chip, paragraph, section
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import Side, View, case_name, change_of, key_of


def build(view: View) -> Html:
    """A tile for each metric of the target case, accuracy first."""
    comparison = view.dossier.comparison
    rows = [row for row in comparison.rows if key_of(row) == view.target]
    axes = bars.ratio_axes(view, rows)
    return section(
        "figures",
        "关键数字",
        paragraph(
            f"目标用例 {case_name(view.target)}。方括号内是 95 % 置信区间；条形从零起，横线是区间，虚线是目标。"
            f"比值大于 1 表示 NPU 更好，阴影是计划容许的 ±{view.dossier.plan.targets.margin:.0%}。"
            "没有方括号的值没有区间：样本前后相关太强，或吞吐只由一个计时窗口得出。"
        ),
        element(
            "div",
            [_score(view, score) for score in comparison.accuracy_rows],
            [_tile(view, row, axes) for row in rows],
            class_="tiles",
        ),
    )


def _tile(view: View, row: ComparisonRow, ratios: Mapping[Column, Axis]) -> Html:
    limit = getattr(view.dossier.plan.targets, row.metric, None)
    columns = bars.of_row(view, row)
    return element(
        "article",
        element("h3", row.label),
        bars.drawn(columns, bars.axis_for(columns, limit), row.unit, limit),
        _ratios(view, row, ratios),
        _judged(row),
        class_="tile",
    )


def _score(view: View, score: AccuracyRow) -> Html:
    columns = [Bar("npu", view.sides[0].name, score.npu), Bar("base", "基线", score.baseline)]
    difference = score.refusal if score.difference is None else f"NPU − 基线 = {score.difference:+.4g}"
    return element(
        "article",
        element("h3", f"精度 {score.label}"),
        bars.drawn(columns, bars.axis_for(columns), ""),
        paragraph(difference, class_="against") if difference else None,
        _judged(score),
        class_="tile",
    )


def _judged(row: ComparisonRow | AccuracyRow) -> Html:
    if row.judgement is None:
        return paragraph("计划未对此设目标", class_="target")
    reason = element("small", row.reason) if row.reason else None
    return element("div", element("span", f"目标 {row.target}"), chip(row.judgement), reason, class_="target")


def _ratios(view: View, row: ComparisonRow, axes: Mapping[Column, Axis]) -> list[Html]:
    """A line for each baseline; those that are refused for the same reason share one."""
    refused: dict[str, list[str]] = {}
    lines = []
    for side in view.baselines:
        change = change_of(row, side.column)
        if change.ratio is None:
            refused.setdefault(change.refusal, []).append(side.name)
        else:
            lines.append(_ratio(view, row, side, axes[side.column]))
    named = ((f"对 {'、'.join(names)}：", reason) for reason, names in refused.items())
    return [*lines, *(element("div", words, class_="against gap") for words in named)]


def _ratio(view: View, row: ComparisonRow, side: Side, axis: Axis) -> Html:
    change = change_of(row, side.column)
    strip = bars.ratio(change, axis, view.dossier.plan.targets.margin)
    words = f"{axis.low:.2f} NPU 较差", "1", f"NPU 较好 {axis.high:.2f}"
    ends = element("div", [element("span", word) for word in words], class_="ends")
    return element("div", changed(change, side.name), strip, ends, class_="against")
