"""Where the baseline comes from is said in Compare §2.1; the snapshot of Summary repeats it."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, at
from npueval.rules.wording import baseline_kind

_SNAPSHOT = "已成功适配时（请与 Compare.md、Mig_Readme.md §3.1 对齐）"


def check(documents: Documents) -> Iterator[Remark]:
    source = documents.cell("Compare", "2.1", "基线来源", "值")
    used = documents.cell("Summary", _SNAPSHOT, "本次性能对比实际采用的 baseline", "填写")
    if source is None or used is None:
        return
    authority, copy = baseline_kind(source.text), baseline_kind(used.text)
    if authority and copy not in (None, "none", authority):
        yield at(used, f"the baseline is {used.text!r} here and {source.text!r} in Compare §2.1")


RULE = Rule(
    code="NPE304",
    name="baseline-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
Most readers see only the summary. If it calls a figure from a log a GPU measurement, the ratio beside it is taken for
stronger evidence than it is.
""",
    bad={
        "Compare": "### 2.1 基线环境\n\n| 字段 | 值 |\n| --- | --- |\n| 基线来源 | 项目训练日志 |\n",
        "Summary": f"""\
### {_SNAPSHOT}

| 字段 | 填写 |
| --- | --- |
| 本次性能对比实际采用的 baseline | GPU 实测 |
""",
    },
    good={
        "Compare": "### 2.1 基线环境\n\n| 字段 | 值 |\n| --- | --- |\n| 基线来源 | 项目训练日志 |\n",
        "Summary": f"""\
### {_SNAPSHOT}

| 字段 | 填写 |
| --- | --- |
| 本次性能对比实际采用的 baseline | 项目日志 |
""",
    },
    check=check,
)
