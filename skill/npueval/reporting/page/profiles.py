"""The profile of each Run: the operators that take most time, what the trace holds, and where it lies."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import quote

from npueval.reporting import profiled
from npueval.reporting.cells import number
from npueval.reporting.page import drawing
from npueval.reporting.page.blocks import code, gap, paragraph, section, table
from npueval.reporting.page.drawing import UNITS
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import View
from npueval.runs import Run
from npueval.runs.conditions import Operator, Profile

_NONE = ("本次未采集 profiling；补采：", code("npueval run --profile"))


def build(view: View) -> Html:
    """A table of operators for each Run that was profiled, or why there is none."""
    made = [part for name, run in view.records if run.profile for part in _profile(view, name, run, run.profile)]
    return section("profile", "Profiling", made or paragraph(_NONE, class_="gap"))


def _profile(view: View, name: str, run: Run, made: Profile) -> Iterator[Html]:
    yield element("h3", name)
    if made.reason or made.file is None:
        yield paragraph(gap(made.reason.zh if made.reason else "trace 未保存"))
    if made.file is None:
        return
    kept = profiled.place(view.dossier, run)
    link = element("a", code(kept), href=quote(posixpath.join(view.home, kept)))
    about = f"{made.profiler}，batch={made.batch}，在计时之后单独采集，不计入任何数字；{profiled.held(made)}。trace："
    yield paragraph(about, link)
    operators = made.top(len(made.operators))
    if operators:
        clock = "CPU 自身时间" if run.device.kind == "cpu" else "设备时间"
        caption = (
            f"{name} {clock}前列的算子：{made.complete} 次迭代合计 {number(made.total_ns / 1e6)} ms，不含其调用的算子"
        )
        head = ("算子", f"{clock} (ms)", "占比", "调用次数", "每次 (ms)")
        yield table(caption, head, [_operator(made, each, run.device.kind) for each in operators])


def _operator(made: Profile, operator: Operator, kind: str) -> list[Child]:
    share = operator.total_ns / made.total_ns
    bar = element("rect", width=round(share * UNITS), y=200, height=600)
    column = {"cuda": "gpu"}.get(kind, kind)
    return [
        code(operator.name),
        number(operator.total_ns / 1e6),
        [f"{share:.1%}", drawing.strip(bar, class_=f"bar {column}")],
        operator.count,
        number(operator.total_ns / operator.count / 1e6),
    ]
