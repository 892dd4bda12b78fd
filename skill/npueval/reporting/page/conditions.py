"""What the two sides have in common and what not: the conditions of the measurement, and the machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from npueval import environment
from npueval.records import Agreement, ComparisonPoint
from npueval.reporting.page.blocks import code, fold, listed, paragraph, section, table
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import Side, View, case_name
from npueval.runs import Run

WORDS: Mapping[Agreement, str] = {"differs": "不同", "unknown": "未知", "same": "相同"}
_UNKNOWN = "未知"


def comparability(view: View) -> Html:
    """The conditions of the target case against each column, what differs first."""
    named = {side.column: side for side in view.sides}
    pairs = [(named[column], points) for column, points in view.dossier.comparison.points.items() if column in named]
    basis = view.dossier.comparison.baseline_column
    tables = [(side, _points(view, side, points)) for side, points in pairs]
    body = [held if side.column == basis else fold(f"对 {side.name}", held) for side, held in tables]
    return section(
        "comparability",
        "可比性",
        paragraph("标“否决”的条件一旦不同就不给比值；未知的条件降低证据等级。"),
        body or paragraph("NPU 与基线没有同时有数据的一侧，无从逐项对照。", class_="gap"),
    )


def _points(view: View, side: Side, points: Sequence[ComparisonPoint]) -> Html:
    order = list(WORDS)
    ranked = sorted(points, key=lambda point: (order.index(point.agreement), not point.refuses))
    counts = Counter(point.agreement for point in points)
    total = "，".join(f"{counts[agreement]} 项{word}" for agreement, word in WORDS.items() if counts[agreement])
    rows = [
        ([point.name, element("small", " 否决") if point.refuses else None], point.npu, point.other, _agreed(point))
        for point in ranked
    ]
    caption = f"NPU 对 {side.name} · {case_name(view.target)}：{total}"
    return table(caption, ("条件", "NPU", side.name, "判定"), rows)


def _agreed(point: ComparisonPoint) -> Html:
    return element("span", WORDS[point.agreement], class_=f"agreement {point.agreement}")


def environments(view: View) -> Html:
    """The facts of each side's machine, differing ones marked, and every field that differs."""
    sides = [(side, side.run) for side in view.sides if side.run]
    if not sides:
        return section("environment", "环境", paragraph("没有任何测量记录；本机环境见 environment.md。", class_="gap"))
    facts = [dict(_facts(run)) for _, run in sides]
    rows = [_fact_row(label, [fact[label] for fact in facts]) for label in facts[0]]
    compared = table("各侧测量时的环境", ("项目", *(side.name for side, _ in sides)), rows)
    npu = view.sides[0].run
    folded = [_differences(side, npu, run) for side, run in sides[1:]] if npu else []
    return section("environment", "环境", paragraph("● 标出各侧已知而不一致的项目。"), compared, folded)


def _fact_row(label: str, values: list[str]) -> list[Child]:
    differs = len({*values} - {_UNKNOWN}) > 1
    return [[label, element("span", " ●", class_="differs") if differs else None], *values]


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    def read(*path: str) -> str:
        found: Any = run.environment
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return _UNKNOWN if found in (None, "", "unknown") else str(found)

    yield "设备", f"{run.device.model}（{run.device.name}）"
    yield "卡数", str(run.cards)
    yield "驱动", read("npu", "driver")
    yield "CANN", read("ascend", "cann", "version")
    yield "torch", read("packages", "torch")
    yield "torch_npu", read("packages", "torch_npu")
    yield "numpy", read("packages", "numpy")
    yield "Python", read("python", "version")
    yield "系统", read("system", "os")
    yield "内核", read("system", "kernel")
    yield "CPU", read("system", "cpu")
    yield "代码版本", read("commit", "sha")
    yield "环境指纹", read("digest")


def _differences(side: Side, npu: Run, run: Run) -> Html:
    lines = environment.difference(npu.environment, run.environment)
    title = f"NPU → {side.name} 的全部环境差异（{len(lines)} 项）"
    return fold(title, listed(code(line) for line in lines))
