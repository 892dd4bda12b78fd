"""What the page says first: the verdict, what it is about, and what must be known before reading on."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.records import Conclusion
from npueval.reporting.compare_baseline import why_this_baseline
from npueval.reporting.page.blocks import paragraph
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import View, case_name, value_of

SHADES = {"通过": "pass", "有条件通过": "conditional", "不通过": "fail", "待定": "open"}
SIGNS = {"通过": "✓", "有条件通过": "◐", "不通过": "✕", "待定": "?"}


def header(view: View) -> Html:
    """The title, the three verdicts, and the subject."""
    comparison = view.dossier.comparison
    parts = (("精度", comparison.accuracy), ("性能", comparison.performance))
    return element(
        "header",
        element("p", "NPU 迁移评测报告", class_="kind"),
        element("h1", view.dossier.plan.project.name),
        [element("p", words, class_="banner", role="note") for words in _warnings(view)],
        element("div", _verdict("总体结论", comparison.total), [_verdict(*part) for part in parts], class_="verdicts"),
        paragraph(why_this_baseline(view.dossier), "。", _to_the_gaps(view), class_="basis"),
        element(
            "dl", [element("div", element("dt", k), element("dd", v)) for k, v in _subject(view)], class_="subject"
        ),
    )


def _verdict(name: str, conclusion: Conclusion) -> Html:
    word = conclusion.verdict
    return element(
        "div",
        element("h2", name),
        element("p", element("span", SIGNS[word], class_="sign", aria_hidden="true"), word, class_="word"),
        paragraph(conclusion.reason, class_="why"),
        class_=f"verdict {SHADES[word]}",
    )


def _warnings(view: View) -> Iterator[Child]:
    if view.simulated:
        names = "、".join(name for name, run in view.records if run.simulated)
        yield [
            element("strong", "SIMULATED · 模拟设备："),
            f"{names} 的记录由模拟设备产生，只用来检验工具本身；图上逐处标明，不产生可报告的数字，也不支持任何结论。",
        ]
    for name, run in view.records:
        if not run.valid:
            yield [element("strong", f"{name}："), "、".join(doubt.zh for doubt in run.all_doubts())]
        if not run.complete:
            yield [element("strong", f"{name} 的测量未完成："), "以下只有已测得的部分。"]


def _to_the_gaps(view: View) -> Child:
    rows = view.dossier.comparison.rows
    empty = sum(value_of(row, side.column).value is None for row in rows for side in view.sides)
    return element("a", f"缺 {empty} 个数字：原因与补齐的命令", href="#missing") if empty else None


def _subject(view: View) -> Iterator[tuple[str, Child]]:
    plan, dossier = view.dossier.plan, view.dossier
    npu = dossier.npu_run
    yield "NPU", f"{npu.device.model}{view.sides[0].mark}" if npu else f"N/A（{view.sides[0].reason}）"
    yield "工作负载", plan.workload
    yield "精度格式", f"{'、'.join(plan.precisions)} / {plan.precision_mode}"
    yield "目标用例", case_name(view.target)
    yield "采样", f"预热 {plan.warmup} 次后取 {plan.iterations} 个样本"
    yield "性能证据等级", dossier.comparison.grade.value
    yield "门禁", dossier.diagnosis.gate.value
    if npu:
        yield "测量时间", npu.created
