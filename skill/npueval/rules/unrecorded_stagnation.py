"""Training that has stood still for more than 500 steps is a problem to record, not a run to prolong."""

import re
from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import is_blank, is_open, numbers, plain

_DEFAULT_LIMIT = 500
_STEPS = re.compile(r"(?<![\d,])(\d[\d,]*)\s*(?:个?(?:step|iter|优化步|步)|次迭代)", re.IGNORECASE)
_STALLED = re.compile(r"无明显|停滞|不动|[未没]见?有?改善|仍无|不收敛")


def check(documents: Documents) -> Iterator[Remark]:
    if any(not is_blank(line.cells[0].text) for line in documents.lines("Mig_report", "7.1", "问题标题")):
        return
    limit = _limit(documents)
    for value in _statements(documents):
        steps = [int(number.replace(",", "")) for number in _STEPS.findall(plain(value.text))]
        stalled = _STALLED.search(plain(value.label) + plain(value.text))
        if stalled and not is_open(value.text) and max(steps, default=0) > limit:
            message = f"{max(steps)} steps without improvement and no entry in Mig_report §7.1"
            yield at(value, message, "stop adding steps, check code and data, and record what was found")


def _limit(documents: Documents) -> int:
    own = documents.field("Mig_Readme", "5.3", "实际累计步数上限")
    written = numbers(own.text) if own and not is_open(own.text) else []
    return int(float(written[0])) if written else _DEFAULT_LIMIT


def _statements(documents: Documents) -> Iterator[Value]:
    for key in ("loss 或其它约定指标改善不明显时", "若累计 iteration", "相关训练命令与日志路径"):
        value = documents.field("Mig_Readme", "5.3", key)
        if value:
            yield value
    box = documents.check("Mig_report", "6", "正式训练")
    if box:
        yield box[0]


RULE = Rule(
    code="NPE206",
    name="unrecorded-stagnation",
    since="0.1.0",
    law=str(__doc__),
    why="""
After 500 steps without clear improvement (or the project's own number, Mig_Readme §5.3) more steps rarely help: the
model, its port or the data are the likelier cause. What was seen and tried belongs into Mig_report §7.1, so that
nobody starts over.
""",
    bad={
        "Mig_Readme": """\
### 5.3 训练迭代策略

- 若累计 iteration（或等价总优化步）> 500 仍无明显效果：已出现，累计 820 步
""",
        "Mig_report": "### 7.1 问题与排查记录\n\n| 日期 | 问题标题 |\n| --- | --- |\n",
    },
    good={
        "Mig_Readme": """\
### 5.3 训练迭代策略

- 若累计 iteration（或等价总优化步）> 500 仍无明显效果：已出现，累计 820 步
""",
        "Mig_report": """\
### 7.1 问题与排查记录

| 日期 | 问题标题 |
| --- | --- |
| 2025-06-01 | 820 步后 loss 不降 |
""",
    },
    check=check,
)
