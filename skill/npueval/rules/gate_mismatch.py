"""The gate 4.0.3 is decided in environment.md; Mig_report and Summary repeat it."""

import re
from collections.abc import Iterator

from npueval.records import Gate
from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import gate

_ABOUT_THE_GATE = re.compile(r"门禁|判定|4\.0\.3")
_SECTION = "依赖与 README/requirements 适配判定（4.0.2～4.0.3 填写）"


def check(documents: Documents) -> Iterator[Remark]:
    decided = documents.field("environment", _SECTION, "判定")
    verdict = gate(decided.text) if decided else None
    if verdict is None:
        return
    for value in _repeated(documents):
        said = gate(value.text)
        if said and said is not verdict:
            yield at(value, f"the gate is {verdict.value} in environment, not {said.value}")
    stopped = documents.check("Summary", "适配失败或受阻时（勾选适用项，并写关键证据）", "MANUAL_STOP")
    if stopped and stopped[1] and verdict is not Gate.MANUAL_STOP:
        yield at(stopped[0], f"MANUAL_STOP is ticked, but the gate is {verdict.value} in environment")


def _repeated(documents: Documents) -> Iterator[Value]:
    for line in documents.lines("Mig_report", "3", "值"):
        # A driver or a health state may be "UNKNOWN" too.
        if _ABOUT_THE_GATE.search(line.label + line.cells[0].text):
            yield line.cells[0]
    summary = documents.field("Summary", "4.1", "4.0.3 判定")
    if summary:
        yield summary


RULE = Rule(
    code="NPE301",
    name="gate-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
Whether tests may run on this machine is one decision with one place: environment.md, where the evidence stands. A
copy that says something else lets tests run where they must not, or stops work that could go on.
""",
    bad={
        "environment": f"## {_SECTION}\n\n- 判定：MANUAL_STOP（CANN 未安装）\n",
        "Summary": "### 4.1 门禁与适配判定（part-03 §4.0）\n\n- 4.0.3 判定：AUTO\n",
    },
    good={
        "environment": f"## {_SECTION}\n\n- 判定：MANUAL_STOP（CANN 未安装）\n",
        "Summary": "### 4.1 门禁与适配判定（part-03 §4.0）\n\n- 4.0.3 判定：MANUAL_STOP\n",
    },
    check=check,
)
