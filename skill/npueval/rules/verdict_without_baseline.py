"""Without a baseline there is no "通过": the figures are shown, the reason is given, and the judgement waits."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import Verdict, is_measured, verdict

_BASELINES = {"精度是否达标": ("3", ("基线",)), "性能是否达标": ("4", ("CPU 基线", "GPU 基线"))}
_HINT = "write N/A（原因） until a log or a GPU result gives the baseline"


def check(documents: Documents) -> Iterator[Remark]:
    without = [label for label, (section, columns) in _BASELINES.items() if _empty(documents, section, columns)]
    for label in without:
        yield from _praise(documents.cell("Compare", "1", label, "结论"))
        for line in documents.lines("Compare", _BASELINES[label][0], "是否达标"):
            yield from _praise(line.cells[0])
    if len(without) == len(_BASELINES):
        yield from _praise(documents.cell("Compare", "1", "总体结论", "结论"))


def _empty(documents: Documents, section: str, columns: tuple[str, ...]) -> bool:
    """The columns are there and hold no figure; columns that are gone altogether are the structure's matter."""
    lines = [line for name in columns for line in documents.lines("Compare", section, name)]
    return bool(lines) and not any(is_measured(line.cells[0].text) for line in lines)


def _praise(judged: Value | None) -> Iterator[Remark]:
    if judged and verdict(judged.text) in (Verdict.PASSED, Verdict.CONDITIONAL):
        yield at(judged, f"{judged.label!r} passes although there is no baseline figure", _HINT)


RULE = Rule(
    code="NPE202",
    name="verdict-without-baseline",
    since="0.1.0",
    law=str(__doc__),
    why="""
"通过" means: as good as before the migration. With nothing to hold the figures against, the word misleads whoever reads
only the summary. A target that was missed may still be called 不通过: that needs no baseline.
""",
    bad={
        "Compare": """\
## 1. 对比摘要

| 项 | 结论 |
| --- | --- |
| 性能是否达标 | 通过 |

## 4. 性能对比

| 指标 | GPU 基线 | NPU（迁移后） | 是否达标 |
| --- | --- | --- | --- |
| 延迟 p50 (ms) | N/A（没有 GPU） | 3.91 | 达标 |
"""
    },
    good={
        "Compare": """\
## 1. 对比摘要

| 项 | 结论 |
| --- | --- |
| 性能是否达标 | N/A（没有 GPU，也没有带推理延迟的日志） |

## 4. 性能对比

| 指标 | GPU 基线 | NPU（迁移后） | 是否达标 |
| --- | --- | --- | --- |
| 延迟 p50 (ms) | N/A（没有 GPU） | 3.91 | N/A（没有基线） |
"""
    },
    check=check,
)
