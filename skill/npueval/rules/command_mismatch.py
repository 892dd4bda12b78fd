"""Changed files and start commands are recorded in Mig_report §4 and §5; Mig_Readme and Summary repeat them."""

import re
from collections.abc import Iterable, Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import is_open, plain

_SCRIPT = re.compile(r"(?<![\w-])[\w-]+\.(?:py|sh)\b")
_NOT_OURS = {"set_env.sh"}
_COMMANDS = ("代码级迁移 / 启动命令", "推理测试", "训练测试")


def check(documents: Documents) -> Iterator[Remark]:
    known = _scripts(_recorded(documents))
    for value in _repeated(documents) if known else ():
        for script in sorted(_scripts([value]) - known):
            yield at(value, f"{script} is started here, and Mig_report §4 does not name it")
    yield from _files(documents)


def _recorded(documents: Documents) -> Iterator[Value]:
    yield from (line.cells[0] for line in documents.lines("Mig_report", "4", "路径或说明"))
    yield from documents.code("Mig_report", "4.1")


def _repeated(documents: Documents) -> Iterator[Value]:
    yield from documents.code("Mig_Readme", "4.1")
    yield from documents.code("Mig_Readme", "5.1")
    for row in _COMMANDS:
        value = documents.cell("Summary", "2.2", row, "关键命令或路径")
        if value:
            yield value


def _scripts(values: Iterable[Value]) -> set[str]:
    return {name for value in values for name in _SCRIPT.findall(value.text)} - _NOT_OURS


def _files(documents: Documents) -> Iterator[Remark]:
    lines = [line for section in ("5.1", "5.2") for line in documents.lines("Mig_report", section, "文件路径")]
    changed = {plain(line.cells[0].text) for line in lines} - {""}
    for line in documents.lines("Summary", "2.3", "文件路径") if changed else ():
        path = line.cells[0]
        if not is_open(path.text) and plain(path.text) not in changed:
            yield at(path, f"{plain(path.text)} is not among the changed files of Mig_report §5")


RULE = Rule(
    code="NPE305",
    name="command-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
A hand-over with two different start commands has none. Scripts are compared by file name, changed files by path; the
authority is Mig_report, where the change itself is described.
""",
    bad={
        "Mig_report": "### 4.1 启动命令（可复制）\n\n```bash\npython infer_npu.py --device npu:0\n```\n",
        "Mig_Readme": "### 4.1 推理命令示例\n\n```bash\npython infer.py --device npu:0\n```\n",
    },
    good={
        "Mig_report": "### 4.1 启动命令（可复制）\n\n```bash\npython infer_npu.py --device npu:0\n```\n",
        "Mig_Readme": "### 4.1 推理命令示例\n\n```bash\npython infer_npu.py --device npu:0\n```\n",
    },
    check=check,
)
