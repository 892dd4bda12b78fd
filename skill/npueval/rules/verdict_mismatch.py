"""The verdicts are Compare's; Mig_report §6 ticks them and Summary repeats them."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import Verdict, verdict

_ASPECTS = {
    "精度": ("3", "精度是否达标", "全量精度达标", "精度不达标"),
    "性能": ("4", "性能是否达标", "性能（延迟/吞吐）达标", "性能不达标"),
}
_BLOCKED = "适配失败或受阻时（勾选适用项，并写关键证据）"


def check(documents: Documents) -> Iterator[Remark]:
    for aspect, (section, label, box, blocked) in _ASPECTS.items():
        judged = documents.cell("Compare", "1", label, "结论")
        if judged is None:
            continue
        authority = verdict(judged.text)
        yield from _rows(documents, section, label, authority)
        yield from _ticked(documents, box, authority)
        yield from _summary(documents, aspect, authority)
        failed = documents.check("Summary", _BLOCKED, blocked)
        if failed and failed[1] and authority is Verdict.PASSED:
            yield at(failed[0], f"{blocked!r} is ticked, but Compare §1 says it passed")
    overall = documents.cell("Compare", "1", "总体结论", "结论")
    if overall:
        yield from _summary(documents, "总体结论", verdict(overall.text))


def _rows(documents: Documents, section: str, label: str, authority: Verdict | None) -> Iterator[Remark]:
    for line in documents.lines("Compare", section, "是否达标"):
        if authority is Verdict.PASSED and verdict(line.cells[0].text) is Verdict.FAILED:
            yield at(line.cells[0], f"{line.label!r} fails, but §1 says {label!r} passed")


def _ticked(documents: Documents, box: str, authority: Verdict | None) -> Iterator[Remark]:
    found = documents.check("Mig_report", "6", box)
    passed = authority in (Verdict.PASSED, Verdict.CONDITIONAL)
    if found and found[1] and not passed:
        yield at(found[0], f"{box!r} is ticked, but Compare §1 does not say that it passed")
    if found and not found[1] and authority is Verdict.PASSED:
        yield at(found[0], f"{box!r} is not ticked, but Compare §1 says it passed")


def _summary(documents: Documents, row: str, authority: Verdict | None) -> Iterator[Remark]:
    copy = documents.cell("Summary", "5.3", row, "是否达标")
    said = verdict(copy.text) if copy else None
    if copy and said and said is not authority:
        yield at(copy, f"{row!r} is {said.value} here and {authority.value if authority else 'open'} in Compare §1")


RULE = Rule(
    code="NPE307",
    name="verdict-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
The verdict stands where its figures stand. A tick or a summary that says more than Compare claims what nobody showed;
one that says less hides a result.
""",
    bad={
        "Compare": "## 1. 对比摘要\n\n| 项 | 结论 |\n| --- | --- |\n| 性能是否达标 | 不通过 |\n",
        "Summary": "### 5.3 达标性结论\n\n| 维度 | 是否达标 |\n| --- | --- |\n| 性能 | 通过 |\n",
    },
    good={
        "Compare": "## 1. 对比摘要\n\n| 项 | 结论 |\n| --- | --- |\n| 性能是否达标 | 不通过 |\n",
        "Summary": "### 5.3 达标性结论\n\n| 维度 | 是否达标 |\n| --- | --- |\n| 性能 | 否 |\n",
    },
    check=check,
)
