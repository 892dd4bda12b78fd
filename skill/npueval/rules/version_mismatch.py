"""Versions of driver, CANN and plug-in are read from the machine into environment.md; the others repeat them."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import versions

_ROWS = {
    ("Compare", "2.2"): ("CANN / 运行时",),
    ("Mig_report", "3"): ("npu-smi 关键信息", "CANN / 框架 Ascend 插件版本", "PyTorch+torch_npu"),
    ("Summary", "3"): ("驱动版本", "CANN 版本", "CANN / 框架 Ascend 插件版本", "框架 Ascend 插件 / torch_npu"),
}


def check(documents: Documents) -> Iterator[Remark]:
    document = documents.readable.get("environment")
    known = set(versions(_everything(documents))) if document else set()
    for value in _repeated(documents) if known else ():
        for version in versions(value.text):
            if not any(_same(version, other) for other in known):
                yield at(value, f"version {version} is not the machine's: environment does not name it")


def _everything(documents: Documents) -> str:
    """The recorded values of environment.md: its keys and its raw outputs, without headings and prose."""
    sections = documents.readable["environment"].sections
    fields = [item.text for section in sections for item in section.fields]
    return "\n".join([*fields, *(block.text for section in sections for block in section.code)])


def _repeated(documents: Documents) -> Iterator[Value]:
    for (name, section), rows in _ROWS.items():
        for row in rows:
            value = documents.cell(name, section, row, "值")
            if value:
                yield value


def _same(one: str, other: str) -> bool:
    """``2.1.0`` stands for ``2.1.0.post10`` too."""
    return one == other or other.startswith(one + ".") or one.startswith(other + ".")


RULE = Rule(
    code="NPE302",
    name="version-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
A figure is worth something only on a known stack. When the report names a CANN that the machine's own snapshot does
not show, the figures are from another machine or another day.
""",
    bad={
        "environment": "## 框架 Ascend 插件（原始输出）\n\n```text\nCANN 8.0.RC3\ntorch_npu 2.1.0.post10\n```\n",
        "Mig_report": """\
## 3. 环境快照（运行）

| 项 | 值 |
| --- | --- |
| CANN / 框架 Ascend 插件版本 | CANN 7.0.0 |
""",
    },
    good={
        "environment": "## 框架 Ascend 插件（原始输出）\n\n```text\nCANN 8.0.RC3\ntorch_npu 2.1.0.post10\n```\n",
        "Mig_report": """\
## 3. 环境快照（运行）

| 项 | 值 |
| --- | --- |
| CANN / 框架 Ascend 插件版本 | CANN 8.0.RC3 |
""",
    },
    check=check,
)
