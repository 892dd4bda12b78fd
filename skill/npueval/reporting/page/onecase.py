"""The samples of one case, drawn."""

from __future__ import annotations

from npueval.reporting.page import distributions, timelines
from npueval.reporting.page.blocks import gap, listed, paragraph, section
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import Key, Side, View

GUIDE = (
    "累积分布：延迟不超过横轴值的样本比例，同一高度上越靠左越快。时间线：按采样顺序，灰底是预热，不计入统计；"
    "两条横线是首、末三分之一样本的中位数，其比即漂移；上缘的粗点高出纵轴，数值见标题与数据表。"
)


def build(view: View) -> Html:
    """Distribution and time line of the target case; a side without samples says why."""
    absent = [side for side in view.sides if side.case(view.target) is None]
    remarks = listed([element("b", side.name), " ", gap(_why(view, side))] for side in absent) if absent else None
    series = _series(view, view.target)
    histograms = distributions.histograms(view.target, series) if series else None
    guide = paragraph(GUIDE) if series else None
    return section("samples", "样本：分布与时间线", guide, remarks, histograms, drawings(view, view.target))


def drawings(view: View, key: Key) -> list[Html]:
    """Cumulative curve and time line of a case; nothing where no side has samples of it."""
    series = _series(view, key)
    return [distributions.cumulative(view, key, series), timelines.build(view, key)] if series else []


def _series(view: View, key: Key) -> distributions.Series:
    return [(side, case.milliseconds()) for side in view.measured if (case := side.case(key))]


def _why(view: View, side: Side) -> str:
    run, key = side.run, view.target
    case = run.case(key.batch, key.concurrency, key.rate) if run else None
    if run is None:
        return side.reason
    return (case and case.error) or "目标用例没有样本"
