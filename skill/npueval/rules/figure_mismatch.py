"""Every latency, rate and share in Summary is a figure of Compare."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import figures, numbers, rounds_to

_SNAPSHOT = "已成功适配时（请与 Compare.md、Mig_Readme.md §3.1 对齐）"
_SECTIONS = ("1", "3", "3.1", "4", "4.1")


def check(documents: Documents) -> Iterator[Remark]:
    if "Compare" not in documents.readable:
        return
    known = _known(documents)
    for value in _repeated(documents):
        for number, unit in figures(value.text):
            forms = [number, f"{float(number) / 100:.12g}"] if unit == "%" else [number]
            if not any(rounds_to(form, known) for form in forms):
                yield at(value, f"{number} {unit} is no figure of Compare", "quote Compare §3, §4, or correct it there")


def _known(documents: Documents) -> set[str]:
    """Every number in the tables of Compare's result sections."""
    found = [documents.section("Compare", key) for key in _SECTIONS]
    rows = [row for section in found if section for table in section.tables for row in table.rows]
    return {number for row in rows for cell in row.split.cells for number in numbers(cell.text)}


def _repeated(documents: Documents) -> Iterator[Value]:
    for section, row, column in (
        ("总览", "一句话结论", "填写"),
        (_SNAPSHOT, "性能结论摘要", "填写"),
        (_SNAPSHOT, "精度结论摘要", "填写"),
        ("5.3", "精度", "结论说明"),
        ("5.3", "性能", "结论说明"),
        ("5.3", "总体结论", "结论说明"),
    ):
        cell = documents.cell("Summary", section, row, column)
        if cell:
            yield cell
    for key in ("全量精度结论", "性能结论"):
        value = documents.field("Summary", "5.1", key)
        if value:
            yield value


RULE = Rule(
    code="NPE308",
    name="figure-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
A figure has one home, where its scope, batch and source stand beside it. A number that appears only in the summary
cannot be traced. Rounding is fine: 4.2 ms is a figure of Compare when 4.217 stands there.
""",
    bad={
        "Compare": "## 4. 性能对比\n\n| 指标 | NPU（迁移后） |\n| --- | --- |\n| 延迟 p50 (ms) | 4.217 |\n",
        "Summary": "### 5.1 推理效果\n\n- 性能结论（p50/p95/吞吐）：p50 3.9 ms\n",
    },
    good={
        "Compare": "## 4. 性能对比\n\n| 指标 | NPU（迁移后） |\n| --- | --- |\n| 延迟 p50 (ms) | 4.217 |\n",
        "Summary": "### 5.1 推理效果\n\n- 性能结论（p50/p95/吞吐）：p50 4.2 ms\n",
    },
    check=check,
)
