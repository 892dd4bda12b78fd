"""The pieces that every section is made of: headings, tables, figures, and values with what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npueval.records import Change, Value
from npueval.reporting.cells import number
from npueval.reporting.page.markup import Child, Html, element, joined
from npueval.statistics import apart

OUTCOMES = {"better": "更好", "worse": "更差", "same": "在容许范围内", "undecided": "尚不能分辨"}
JUDGED = {"达标": "pass", "不达标": "fail", "无法判定": "open"}


def section(anchor: str, title: str, *body: Child) -> Html:
    """One part of the page under its heading."""
    heading = element("h2", title, id=f"{anchor}-title")
    return element("section", heading, body, id=anchor, aria_labelledby=f"{anchor}-title")


def paragraph(*words: Child, class_: str | None = None) -> Html:
    """A paragraph."""
    return element("p", words, class_=class_)


def table(caption: str, head: Sequence[Child], rows: Iterable[Sequence[Child]]) -> Html:
    """A table whose first column names the rows. It scrolls by itself where the page is narrower."""
    top = element("tr", [element("th", cell, scope="col") for cell in head])
    return framed(caption, element("thead", top), element("tbody", [row(cells) for cells in rows]))


def framed(caption: str, *body: Child, class_: str | None = None) -> Html:
    """A table made of its parts, in a frame that can be scrolled with the keyboard too."""
    whole = element("table", element("caption", caption), body)
    frame = f"scroll {class_}" if class_ else "scroll"
    return element("div", whole, class_=frame, role="group", aria_label=caption, tabindex=0)


def row(cells: Sequence[Child]) -> Html:
    """A table row whose first cell is its name."""
    return element("tr", element("th", cells[0], scope="row"), [element("td", cell) for cell in cells[1:]])


def figure(title: str, explanation: Child, *body: Child, data: Child = None) -> Html:
    """A drawing with its caption, and the table of what is drawn."""
    caption = element("figcaption", element("strong", title), element("span", explanation))
    folded = fold("数据表", data) if data else None
    return element("figure", caption, body, folded)


def fold(summary: Child, *body: Child, class_: str = "data") -> Html:
    """Something that is opened on demand."""
    return element("details", element("summary", summary), body, class_=class_)


def listed(items: Iterable[Child]) -> Html:
    """A list."""
    return element("ul", [element("li", item) for item in items])


def code(text: str) -> Html:
    """A path, a hash, a name."""
    return element("code", text)


def with_code(text: str) -> list[Child]:
    """Text in which what stands between back-ticks is code."""
    return [code(part) if place % 2 else part for place, part in enumerate(text.split("`"))]


def gap(reason: str) -> Html:
    """What is not there, and why."""
    return element("span", "N/A", element("small", f"（{reason}）"), class_="gap")


def chip(judgement: str) -> Html:
    """A judgement in its colour; the word alone says it too."""
    return element("span", judgement, class_=f"chip {JUDGED.get(judgement, 'open')}")


def figures(value: Value, unit: str = "", *, source: bool = False) -> Html:
    """A value with its unit, interval, number of samples and source, or the reason why there is none."""
    if value.value is None:
        return gap(value.reason)
    parts = [interval(value.low, value.high), f"n={value.n}" if value.n else "", value.source if source else ""]
    said = [element("small", part) for part in parts if part]
    return joined([element("b", number(value.value)), f" {unit}" if unit else None, *[joined([" ", s]) for s in said]])


def interval(low: float | None, high: float | None) -> str:
    """A 95 % interval in brackets; empty where there is none."""
    if low is None or high is None:
        return ""
    ends = number(low), number(high)
    return f"[{', '.join(ends if ends[0] != ends[1] else apart(low, high, digits=5))}]"


def changed(change: Change, name: str) -> Html:
    """The NPU against a column, in words: the ratio is above 1 where the NPU is the better one."""
    if change.ratio is None:
        return element("span", f"对 {name}：", change.refusal, class_="gap")
    bounds = interval(change.low, change.high)
    outcome = OUTCOMES.get(change.outcome or "", change.no_interval)
    said = f" {bounds} {outcome} · {change.grade.value} 级"
    return element("span", f"对 {name}：", element("b", f"{number(change.ratio)} 倍"), element("small", said))
