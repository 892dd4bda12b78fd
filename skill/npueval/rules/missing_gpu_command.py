"""A GPU baseline is run by the project's people, so they need the command."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import baseline_kind, is_open


def check(documents: Documents) -> Iterator[Remark]:
    source = documents.cell("Compare", "2.1", "基线来源", "值")
    entry = documents.cell("Mig_Readme", "2.6", "推理 baseline", "入口（脚本或命令）")
    if source and entry and baseline_kind(source.text) == "gpu" and is_open(entry.text):
        yield at(
            entry,
            "Compare §2.1 rests on a GPU measurement, and no command for it is given",
            "npueval baseline kit writes the commands",
        )


RULE = Rule(
    code="NPE207",
    name="missing-gpu-command",
    since="0.1.0",
    law=str(__doc__),
    why="""
Where no complete log exists, the baseline comes from a GPU, and it is not ours to run. Without a copyable command
(script, device, batch, weights, row of §3.1) what comes back was measured in some other way, and cannot be compared.
""",
    bad={
        "Compare": "### 2.1 基线环境\n\n| 字段 | 值 |\n| --- | --- |\n| 基线来源 | GPU 实测 |\n",
        "Mig_Readme": """\
### 2.6 基线侧 GPU 训练与推理调用接口

| 场景 | 入口（脚本或命令） |
| --- | --- |
| 推理 baseline（默认） |  |
""",
    },
    good={
        "Compare": "### 2.1 基线环境\n\n| 字段 | 值 |\n| --- | --- |\n| 基线来源 | GPU 实测 |\n",
        "Mig_Readme": """\
### 2.6 基线侧 GPU 训练与推理调用接口

| 场景 | 入口（脚本或命令） |
| --- | --- |
| 推理 baseline（默认） | `python kit.pyz --device cuda:0` |
""",
    },
    check=check,
)
