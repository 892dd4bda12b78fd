"""Every case: all figures in one table, and the drawings of each case folded below it."""

from __future__ import annotations

from collections.abc import Mapping

from npueval.comparing.rows import LABELS
from npueval.records import Change, ComparisonRow, Value
from npueval.reporting.cells import number
from npueval.reporting.dossier import Column
from npueval.reporting.page import bars, onecase
from npueval.reporting.page.axes import Axis
from npueval.reporting.page.blocks import chip, fold, framed, interval, paragraph, row, section
from npueval.reporting.page.markup import Html, element, joined
from npueval.reporting.page.view import Key, View, case_name, change_of, key_of, value_of


class Remarks:
    """Reasons that many cells share: each is numbered once, written once below the table."""

    def __init__(self, anchor: str) -> None:
        self._anchor = anchor
        self._numbers: dict[str, int] = {}

    def gap(self, reason: str) -> Html:
        """``N/A`` with the number of its reason."""
        place = self._numbers.setdefault(reason, len(self._numbers) + 1)
        mark = element("a", place, href=f"#{self._anchor}-{place}", aria_label=f"注 {place}")
        return element("span", "N/A", element("sup", mark), class_="gap")

    def listed(self) -> Html | None:
        """The reasons, in the order of their numbers."""
        items = [element("li", text, id=f"{self._anchor}-{place}") for text, place in self._numbers.items()]
        return element("ol", items, class_="remarks") if items else None


def build(view: View) -> Html:
    """The table of all rows, and a folded part for every case beside the target case."""
    rows = view.dossier.comparison.rows
    remarks, axes = Remarks("cases-note"), bars.ratio_axes(view, rows)
    ratios = [element("th", f"对 {side.name}", scope="col") for side in view.baselines]
    head = [element("th", name, scope="col") for name in ("指标", *(side.name for side in view.sides))]
    tail = [element("th", name, scope="col") for name in ("目标", "判定")]
    bodies = [_body(view, key, remarks, axes) for key in view.keys]
    whole = framed("全部用例的全部数字", element("thead", element("tr", head, ratios, tail)), bodies, class_="wide")
    return section(
        "cases",
        "全部用例",
        paragraph("第一组是目标用例。比值大于 1 表示 NPU 更好；N/A 的理由按编号列在表下。"),
        whole,
        remarks.listed(),
        _undrawn(view),
        [_details(view, key) for key in view.drawn[1:]],
    )


def _body(view: View, key: Key, remarks: Remarks, axes: Mapping[Column, Axis]) -> Html:
    rows = [entry for entry in view.dossier.comparison.rows if key_of(entry) == key]
    columns = 3 + len(view.sides) + len(view.baselines)
    name = element("th", case_name(key), colspan=columns, scope="rowgroup")
    return element("tbody", element("tr", name, class_="case"), [_row(view, entry, remarks, axes) for entry in rows])


def _row(view: View, entry: ComparisonRow, remarks: Remarks, axes: Mapping[Column, Axis]) -> Html:
    values = [_value(value_of(entry, side.column), remarks) for side in view.sides]
    margin = view.dossier.plan.targets.margin
    changes = [(change_of(entry, side.column), axes[side.column]) for side in view.baselines]
    ratios = [_change(change, remarks, axis, margin) for change, axis in changes]
    judged = chip(entry.judgement) if entry.judgement else "—"
    name = LABELS.get(entry.metric, f"吞吐 ({entry.unit})")
    return row([name, *values, *ratios, entry.target or "—", judged])


def _value(value: Value, remarks: Remarks) -> Html:
    if value.value is None:
        return remarks.gap(value.reason)
    known = [interval(value.low, value.high), f"n={value.n}" if value.n else ""]
    return joined([element("b", number(value.value)), element("small", " ".join(filter(None, known)))])


def _change(change: Change, remarks: Remarks, axis: Axis, margin: float) -> Html:
    if change.ratio is None:
        return remarks.gap(change.refusal.removeprefix("N/A（").removesuffix("）"))
    said = element("b", number(change.ratio)), element("small", interval(change.low, change.high))
    return joined([said, bars.ratio(change, axis, margin)])


def _undrawn(view: View) -> Html | None:
    left = len(view.keys) - len(view.drawn)
    return paragraph(f"另有 {left} 个用例只列数字，不画图：样本都在测量记录里。") if left else None


def _details(view: View, key: Key) -> Html | None:
    drawings = onecase.drawings(view, key)
    return fold(f"分布与时间线：{case_name(key)}", drawings, class_="case") if drawings else None
