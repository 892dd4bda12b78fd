"""Failures and the way back are recorded in Mig_report §7; Summary §6 must not say that there were none."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import denies, is_open


def check(documents: Documents) -> Iterator[Remark]:
    lines = documents.lines("Mig_report", "7.1", "问题标题", "修复与验证")
    entries = {title.text: is_open(mended.text) for title, mended in (line.cells for line in lines)}
    entries.pop("", None)
    yield from _denied(documents, "未解决问题", [title for title, unsolved in entries.items() if unsolved])
    yield from _denied(documents, "排查与修复摘要", list(entries))
    for key, copied in (("回滚方式", "回滚点"), ("已知风险", "已知风险")):
        recorded = documents.field("Mig_report", "7", key)
        if recorded and not is_open(recorded.text):
            yield from _denied(documents, copied, [recorded.text])


def _denied(documents: Documents, key: str, recorded: list[str]) -> Iterator[Remark]:
    """Summary says "none" (无, N/A …) where Mig_report has something."""
    copy = documents.field("Summary", "6", key)
    if recorded and copy and denies(copy.text):
        yield at(copy, f"{copy.label!r} says {copy.text!r}, but Mig_report §7 records {recorded[0]!r}")


RULE = Rule(
    code="NPE309",
    name="problem-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
Whoever takes over reads the summary first. An open problem or a roll-back that only Mig_report knows is found again
at the worst moment.
""",
    bad={
        "Mig_report": """\
### 7.1 问题与排查记录

| 日期 | 问题标题 | 修复与验证 |
| --- | --- | --- |
| 2025-06-01 | 算子回退到 CPU |  |
""",
        "Summary": "## 6. 问题与风险收口\n\n- 未解决问题：无\n",
    },
    good={
        "Mig_report": """\
### 7.1 问题与排查记录

| 日期 | 问题标题 | 修复与验证 |
| --- | --- | --- |
| 2025-06-01 | 算子回退到 CPU |  |
""",
        "Summary": "## 6. 问题与风险收口\n\n- 未解决问题：算子回退到 CPU，待换实现\n",
    },
    check=check,
)
