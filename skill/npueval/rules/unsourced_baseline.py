"""A baseline figure says whether it is quoted from a project log or was measured on a GPU, and why that one."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import baseline_kind, is_blank, is_measured, is_open

_COLUMNS = (("3", "基线"), ("4", "CPU 基线"), ("4", "GPU 基线"))


def check(documents: Documents) -> Iterator[Remark]:
    source = documents.cell("Compare", "2.1", "基线来源", "值")
    if source is None or not any(
        is_measured(line.cells[0].text)
        for section, name in _COLUMNS
        for line in documents.lines("Compare", section, name)
    ):
        return
    kind = baseline_kind(source.text)
    if kind in (None, "none"):
        yield at(source, "baseline figures without a source", "say: 项目日志, GPU 实测 or CPU 实测")
    path = documents.cell("Compare", "2.1", "基线日志路径", "值")
    if kind == "log" and path and is_open(path.text):
        yield at(path, "a baseline from a log without the log's path", "write the path, with the line where it stands")
    if kind not in (None, "none") and not any(not is_blank(value.text) for value in _reasons(documents)):
        yield at(source, "nothing says why this baseline was chosen", "write it into 最终对比结论须写清")


def _reasons(documents: Documents) -> Iterator[Value]:
    for value in (
        documents.field("Compare", "2.1", "最终对比结论须写清"),
        documents.field("Compare", "4", "本次性能结论所依据的 baseline"),
        documents.cell("Compare", "2.1", "备注", "值"),
    ):
        if value is not None:
            yield value


RULE = Rule(
    code="NPE204",
    name="unsourced-baseline",
    since="0.1.0",
    law=str(__doc__),
    why="""
A mean out of a training log and a percentile measured on a GPU are not the same evidence. The reader must see which
one the ratios rest on, find it again, and know why it was taken.
""",
    bad={
        "Compare": """\
### 2.1 基线环境

| 字段 | 值 |
| --- | --- |
| 基线来源 | 项目日志 |
| 基线日志路径（若适用） |  |

## 4. 性能对比

| 指标 | GPU 基线 |
| --- | --- |
| 延迟 p50 (ms) | 4.20 |
"""
    },
    good={
        "Compare": """\
### 2.1 基线环境

- 最终对比结论须写清：基线摘自项目训练日志，日志完整，无需重跑

| 字段 | 值 |
| --- | --- |
| 基线来源 | 项目日志 |
| 基线日志路径（若适用） | logs/train.log:120 |

## 4. 性能对比

| 指标 | GPU 基线 |
| --- | --- |
| 延迟 p50 (ms) | 4.20 |
"""
    },
    check=check,
)
