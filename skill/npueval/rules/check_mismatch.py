"""Which checks were done is ticked in Mig_report §6, and foreseen in §2.2; Summary repeats both."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import Verdict, is_blank, is_open, verdict

_REPEATED = {
    "推理 smoke": (("4.2", "推理 smoke"), ("5.1", "推理 smoke")),
    "Golden 样本数值一致性": (("4.2", "Golden 样本一致性"), ("5.1", "Golden 样本一致性")),
    "训练 smoke": (("4.2", "训练 smoke"), ("5.2", "训练 smoke")),
}


def check(documents: Documents) -> Iterator[Remark]:
    for words, copies in _REPEATED.items():
        box = documents.check("Mig_report", "6", words)
        for section, key in copies if box else ():
            copy = documents.field("Summary", section, key)
            if copy is None or is_blank(copy.text):
                continue
            ticked, judged = box is not None and box[1], verdict(copy.text)
            if judged is Verdict.PASSED and not ticked:
                yield at(copy, f"{words!r} passed here and is not ticked in Mig_report §6")
            if ticked and (judged is Verdict.FAILED or is_open(copy.text)):
                yield at(copy, f"{words!r} is ticked in Mig_report §6 and not passed here")
    yield from _foreseen(documents)


def _foreseen(documents: Documents) -> Iterator[Remark]:
    conclusion = documents.field("Mig_report", "2.2", "预判结论")
    blocks = documents.lines("Mig_report", "2.2", "块", "摘要")
    if conclusion is None or not is_blank(conclusion.text) or any(not is_blank(line.cells[1].text) for line in blocks):
        return
    for line in documents.lines("Summary", "4.2", "预判（part-02）"):
        if not is_open(line.cells[0].text):
            yield at(line.cells[0], f"the forecast on {line.label!r} is not recorded in Mig_report §2.2")


RULE = Rule(
    code="NPE306",
    name="check-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
A test that was not run and a test that passed must not look alike. The boxes of Mig_report §6 are the authority,
because the log of each stands in its §8.
""",
    bad={
        "Mig_report": "## 6. 验证摘要\n\n- [ ] 推理 smoke\n",
        "Summary": "### 5.1 推理效果\n\n- 推理 smoke：通过\n",
    },
    good={
        "Mig_report": "## 6. 验证摘要\n\n- [x] 推理 smoke\n",
        "Summary": "### 5.1 推理效果\n\n- 推理 smoke：通过\n",
    },
    check=check,
)
