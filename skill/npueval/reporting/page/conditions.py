"""What the two sides have in common and what not: the conditions of the measurement, and the machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npueval import environment
from npueval.records import Agreement, ComparisonPoint
from npueval.reporting.page.blocks import fold, paragraph, section, table
from npueval.reporting.page.markup import Html, element
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
    total = _counted(point.agreement for point in points)
    rows = [
        (
            [point.name, element("small", " 否决") if point.refuses else None],
            point.npu,
            point.other,
            _agreed(point.agreement),
        )
        for point in ranked
    ]
    caption = f"NPU 对 {side.name} · {case_name(view.target)}：{total}"
    return table(caption, ("条件", "NPU", side.name, "判定"), rows)


def _counted(agreements: Iterable[Agreement]) -> str:
    counts = Counter(agreements)
    return "，".join(f"{counts[agreement]} 项{word}" for agreement, word in WORDS.items() if counts[agreement])


def _agreed(agreement: Agreement) -> Html:
    return element("span", WORDS[agreement], class_=f"agreement {agreement}")


def environments(view: View) -> Html:
    """The facts of the first measured side's machine against those of every other, and every field that differs."""
    sides = [(side, side.run) for side in view.sides if side.run]
    if not sides:
        return section("environment", "环境", paragraph("没有任何测量记录；本机环境见 environment.md。", class_="gap"))
    (first, run), *others = sides
    alone = table(f"{first.name} 测量时的环境", ("项目", first.name), _facts(run))
    held = [part for side, other in others for part in _held(first, run, side, other)]
    return section("environment", "环境", held or alone)


def _held(first: Side, mine: Run, other: Side, theirs: Run) -> Iterator[Html]:
    points = [_Fact(key, a, b) for (key, a), (_, b) in zip(_facts(mine), _facts(theirs), strict=True)]
    yield _compared(f"{first.name} 对 {other.name} 的测量环境", first, other, points)
    every = [
        _Fact(each.field, each.first or _UNKNOWN, each.second or _UNKNOWN)
        for each in environment.difference(mine.environment, theirs.environment)
    ]
    title = f"{first.name} 对 {other.name} 的全部环境差异（{len(every)} 项）"
    yield fold(title, _compared(title, first, other, every)) if every else paragraph(f"{title}。")


@dataclass(frozen=True)
class _Fact:
    name: str
    first: str
    second: str

    @property
    def agreement(self) -> Agreement:
        if _UNKNOWN in (self.first, self.second):
            return "unknown"
        return "same" if self.first == self.second else "differs"


def _compared(title: str, first: Side, other: Side, facts: Sequence[_Fact]) -> Html:
    rows = [(each.name, each.first, each.second, _agreed(each.agreement)) for each in facts]
    caption = f"{title}：{_counted(each.agreement for each in facts)}"
    return table(caption, ("项目", first.name, other.name, "判定"), rows)


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    def read(*path: str) -> str:
        found: Any = run.environment
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return _UNKNOWN if found in (None, "", "unknown") or isinstance(found, Mapping) else str(found)

    def either(long: tuple[str, ...], short: str) -> str:
        """What a kit, which reads less of its host, writes under another name."""
        return read(*long) if read(*long) != _UNKNOWN else read(short)

    yield "设备", f"{run.device.model}（{run.device.name}）"
    yield "卡数", str(run.cards)
    yield "驱动", read("npu", "driver")
    yield "CANN", read("ascend", "cann", "version")
    yield "torch", read("packages", "torch")
    yield "torch_npu", read("packages", "torch_npu")
    yield "numpy", read("packages", "numpy")
    yield "Python", either(("python", "version"), "python")
    yield "系统", either(("system", "os"), "platform")
    yield "内核", read("system", "kernel")
    yield "CPU", read("system", "cpu")
    yield "代码版本", read("commit", "sha")
    yield "环境指纹", read("digest")
