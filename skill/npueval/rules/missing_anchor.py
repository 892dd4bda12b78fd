"""Every heading, table, row, key, check box and code block of the documents' structure is in its place."""

from collections.abc import Iterator

from npueval.documents.structure import problems
from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for problem in problems(document):
            yield Remark(document.path, problem.line or 1, problem.column or 1, problem.message, problem.hint or "")


RULE = Rule(
    code="NPE101",
    name="missing-anchor",
    since="0.1.0",
    law=str(__doc__),
    why="""
People, agents and tools find their place in the documents by these words. Where one is gone, the next writer has
nowhere to put a figure, or puts it in the wrong place. Anything more than the anchors is welcome: sections, columns,
rows, prose.
""",
    bad={"Compare": "# 性能与精度对比（Compare）\n\n## 2. 环境与口径（必须先对齐）\n"},
    good={
        "environment": """\
# 环境快照（environment.md）

## 元信息

- generated_at：2025-06-01 10:00
- check_summary：可直接执行测试
- set_env：/usr/local/Ascend/ascend-toolkit/set_env.sh
- requirements：requirements.txt
- venv_dir：.venv
- data_dir：data

## Ascend / CANN（set_env 后）

- ASCEND_TOOLKIT_HOME：/usr/local/Ascend/ascend-toolkit/latest
- ASCEND_INSTALL_PATH：/usr/local/Ascend

## Python

- system_python：3.11.9
- venv_python：3.11.9

## 设备可见性（原始输出，可含沙箱内/外对照）

```text
npu-smi info
```

## 框架 Ascend 插件（原始输出）

```text
torch_npu
```

## 依赖与 README/requirements 适配判定（4.0.2～4.0.3 填写）

- readme_python_hint：>= 3.10
- requirements_notable_pins：N/A（没有锁定版本）
- 文档是否声明 CANN/驱动版本：否
- 与 environment.md 机器事实对比摘要：一致
- 判定：AUTO
"""
    },
    check=check,
)
