"""NPU figures come first: nothing is judged before they are there."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import Verdict, is_measured, verdict

_NPU_COLUMNS = {"精度是否达标": ("3", "迁移后"), "性能是否达标": ("4", "NPU（迁移后）")}
_HINT = "measure on the NPU first, or write N/A（原因） instead of a verdict"


def check(documents: Documents) -> Iterator[Remark]:
    for section, column in _NPU_COLUMNS.values():
        for line in documents.lines("Compare", section, column, "是否达标"):
            figure, judged = line.cells
            if verdict(judged.text) and not is_measured(figure.text):
                yield at(judged, f"verdict on {line.label!r} while its NPU figure is missing", _HINT)
    yield from _summary(documents)


def _summary(documents: Documents) -> Iterator[Remark]:
    measured: dict[str, bool] = {}
    for label, (section, column) in _NPU_COLUMNS.items():
        figures = [line.cells[0].text for line in documents.lines("Compare", section, column)]
        if figures:  # A column that is gone altogether is the structure's matter.
            measured[label] = any(map(is_measured, figures))
    for label, known in measured.items():
        judged = documents.cell("Compare", "1", label, "结论")
        if judged and verdict(judged.text) and not known:
            yield at(judged, f"verdict on {label!r} while the whole NPU column is empty", _HINT)
    overall = documents.cell("Compare", "1", "总体结论", "结论")
    # A migration that never ran has failed without any figure; only praise needs one.
    praise = overall is not None and verdict(overall.text) in (Verdict.PASSED, Verdict.CONDITIONAL)
    if overall and praise and measured and not any(measured.values()):
        yield at(overall, "an overall verdict while no NPU figure exists", _HINT)


RULE = Rule(
    code="NPE201",
    name="verdict-without-npu-figure",
    since="0.1.0",
    law=str(__doc__),
    why="""
The order of work is: NPU first, then the baseline, then the verdict. A finished verdict beside an empty NPU column
was made up, or belongs to another run. `N/A（原因）` and 待定 are no verdicts and always allowed.
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
| 延迟 p50 (ms) | 4.20 |  |  |
"""
    },
    good={
        "Compare": """\
## 1. 对比摘要

| 项 | 结论 |
| --- | --- |
| 性能是否达标 | 通过（p50 3.91 ms，目标 5 ms） |

## 4. 性能对比

| 指标 | GPU 基线 | NPU（迁移后） | 是否达标 |
| --- | --- | --- | --- |
| 延迟 p50 (ms) | 4.20 | 3.91 | 达标 |
"""
    },
    check=check,
)
