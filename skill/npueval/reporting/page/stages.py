"""Where the time goes: every measured segment of the target case, the NPU beside its baselines."""

from __future__ import annotations

from npueval.reporting import bottleneck
from npueval.reporting.cells import SEGMENT_NAMES, number
from npueval.reporting.page import bars
from npueval.reporting.page.bars import Bar
from npueval.reporting.page.blocks import changed, figure, figures, gap, listed, paragraph, section, table
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import Side, View, case_name, change_of, value_of
from npueval.runs import cases

NAMES = {**SEGMENT_NAMES, cases.QUEUE: "排队等待"}


def build(view: View) -> Html:
    """Bars of the medians, the table of medians and mean shares, and the suspected bottleneck."""
    return section(
        "stages",
        "分段耗时",
        paragraph(element("b", "瓶颈推测："), _suspected(view)),
        figure(
            f"各环节 p50 · {case_name(view.target)}",
            "条形共用一个从零起的横轴，横线是 95 % 区间。分位数之和不是端到端的分位数；占比按均值计，相加为 100 %。",
            _drawn(view),
            data=[_medians(view), *[_shares(view, side) for side in view.measured if side.case(view.target)]],
        ),
    )


def _suspected(view: View) -> Child:
    npu = view.sides[0]
    return gap(npu.reason) if npu.mark else str(bottleneck.edits(view.dossier)[0].value)


def _drawn(view: View) -> list[Html | None]:
    """Bars for the sides that have a median of any segment; one line for those that have none."""
    stages = view.dossier.comparison.stages
    filled = [s for s in view.sides if any(value_of(stage, s.column).value is not None for stage in stages)]
    absent = [
        [element("b", s.name), " ", gap(value_of(stages[0], s.column).reason)] for s in view.sides if s not in filled
    ]
    columns = [[Bar(s.column, s.name, value_of(stage, s.column)) for s in filled] for stage in stages]
    axis = bars.axis_for(bar for column in columns for bar in column)
    pairs = zip(stages, columns, strict=True)
    drawn = [(element("h3", NAMES[stage.segment]), bars.drawn(column, axis, "ms")) for stage, column in pairs if column]
    return [listed(absent) if absent else None, *(element("div", pair, class_="stage") for pair in drawn)]


def _medians(view: View) -> Html:
    head = ("环节", *(side.name for side in view.sides), *(f"对 {side.name}" for side in view.baselines))
    rows: list[list[Child]] = [
        [
            NAMES[stage.segment],
            *(figures(value_of(stage, side.column), "ms") for side in view.sides),
            *(changed(change_of(stage, side.column), side.name) for side in view.baselines),
        ]
        for stage in view.dossier.comparison.stages
    ]
    return table("各环节 p50 与比值", head, rows)


def _shares(view: View, side: Side) -> Html:
    case = side.case(view.target)
    assert case is not None and side.run is not None
    means = {name: float(case.milliseconds(name).mean()) for name in case.samples}
    total = sum(means.values())
    rows: list[tuple[Child, ...]] = [(NAMES[name], number(ms), f"{ms / total:.1%}") for name, ms in means.items()]
    others = ((name, why) for name, why in side.run.not_measured.items() if name not in means)
    rows += [(NAMES.get(name, name), gap(why.zh), "—") for name, why in others]
    return table(f"{side.name} 各环节均值", ("环节", "均值 (ms)", "占比"), [*rows, ("合计", number(total), "100%")])
