"""What the figures rest on: the grade, the baseline's words with their places, the records of each Run."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.records import Citation, Grade
from npueval.reporting.cells import number
from npueval.reporting.page.blocks import code, gap, paragraph, section, table
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import View
from npueval.runs import Run
from npueval.runs.conditions import InputFacts

GRADES = {
    Grade.A: ("原始样本，且两侧测试包一致（输入、种子、协议的哈希相同）", "比值与区间、p95、p99、结论"),
    Grade.B: ("原始样本或带样本数的分位数，协议已知但不是同一测试包", "比值；结论须列出差异"),
    Grade.C: ("项目日志，只有均值", "均值之比，无 p95；结论至多“有条件通过”"),
    Grade.D: ("文档中引用的数字", "只展示，不给比值"),
    Grade.NONE: ("没有证据", "只写理由，不作结论"),
}
SOURCES = {"log": "项目日志", "gpu": "GPU 实测（用户回传）", "none": "无"}


def build(view: View) -> Html:
    """The ladder of grades, the baseline with its citations, the Runs."""
    return section("evidence", "证据与引用", _ladder(view), _baseline(view), _records(view))


def _ladder(view: View) -> Html:
    comparison = view.dossier.comparison
    used = {comparison.grade: ["性能"]}
    for score in comparison.accuracy_rows:
        used.setdefault(score.grade, []).append(f"精度 {score.label}")
    rows = [
        (element("b", grade.value) if grade in used else grade.value, what, may, "、".join(used.get(grade, [])) or "—")
        for grade, (what, may) in GRADES.items()
    ]
    return table("证据等级", ("等级", "证据", "可支持", "本报告"), rows)


def _baseline(view: View) -> list[Html]:
    baseline = view.dossier.baseline
    if baseline.source == "none":
        return [element("h3", "基线"), paragraph(gap(baseline.reason))]
    where = [f"来源：{SOURCES[baseline.source]}", f"，{baseline.path}" if baseline.path else None]
    lacking = f"；缺 {'、'.join(baseline.missing)}" if baseline.missing else ""
    facts = [(key, fact.value, *_cited(fact.source)) for key, fact in baseline.facts.items()]
    figures = [
        (f.metric, f"{number(f.value)} {f.unit}".rstrip(), f.original or "—", *_cited(f.source))
        for f in baseline.figures
    ]
    return [
        element("h3", "基线"),
        paragraph(where, f"；证据等级 {baseline.grade.value}{lacking}。"),
        table("基线的数字与出处", ("指标", "归一后", "原文", "位置", "所在行"), figures),
        table("基线的条件与出处", ("条件", "值", "位置", "所在行"), facts),
    ]


def _cited(citation: Citation | None) -> tuple[Child, Child]:
    return (code(str(citation)), code(citation.text)) if citation else ("—", "—")


def _records(view: View) -> Html | None:
    records = [dict(_record(view, run)) for _, run in view.records]
    if not records:
        return None
    rows = [(label, *(record[label] for record in records)) for label in records[0]]
    return table("测量记录", ("项目", *(name for name, _ in view.records)), rows)


def _record(view: View, run: Run) -> Iterator[tuple[str, Child]]:
    protocol, work = run.protocol, run.workload
    yield "记录", code(run.id)
    yield "文件", code(view.dossier.file_of(run) or run.id)
    yield "测量时间", run.created
    yield "工具版本", run.tool
    yield "来源", _origin(run)
    yield "模拟", "是：SIMULATED" if run.simulated else "否"
    yield "测量方式", run.scope
    yield (
        "协议",
        f"预热 {protocol.warmup}，样本 {protocol.iterations}，分位 {protocol.percentile}，时钟 {protocol.clock}",
    )
    yield "同步", protocol.synchronisation
    yield "计时底噪", gap("未记录") if run.floor_ns is None else f"{run.floor_ns:.0f} ns"
    yield "工作负载", [work.ref, " ", code(work.sha256[:12])]
    yield "参数量", gap("未找到 torch 模块") if work.parameters is None else f"{work.parameters:,}"
    yield "种子", str(run.seed)
    yield "输入", [[f"batch={each.batch} {_shapes(each)} ", code(each.sha256[:12]), " "] for each in run.inputs]
    yield "输出校验", _check(run)


def _shapes(inputs: InputFacts) -> str:
    return "、".join(f"{list(array.shape)} {array.dtype}" for array in inputs.arrays)


def _check(run: Run) -> Child:
    check = run.output_check
    if check is None:
        return gap("未校验")
    said = {True: "通过", False: "未通过", None: "无法判断"}[check.passed]
    result = "，".join(f"{key}={value}" for key, value in check.result.items())
    return "；".join(filter(None, (said, check.reason.zh, result)))


def _origin(run: Run) -> str:
    kit = run.environment.get("kit")
    return f"由测试包在另一主机测得（清单 {str(kit.get('manifest'))[:12]}）" if kit else "本机测量"
