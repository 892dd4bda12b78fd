"""Which dataset serves which use is decided in Mig_Readme §3.1; the others repeat the names."""

from collections.abc import Iterator

from npueval.documents.labels import fold
from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import is_blank, is_not_applicable, is_open, plain

# How the rows of Mig_Readme §3.1 begin, and the rows that repeat them.
_REPEATED = {
    "短测": (("Mig_report", "短测"), ("Summary", "短测")),
    "冒烟": (("Mig_report", "冒烟"), ("Summary", "冒烟")),
    "Golden": (("Mig_report", "Golden"), ("Summary", "Golden")),
    "全量": (("Mig_report", "全量"), ("Summary", "全量")),
    "训练": (("Mig_report", "训练"), ("Summary", "训练")),
    "推理": (("Mig_report", "推理验收"), ("Summary", "推理验收")),
}
_PLACES = {"Mig_report": ("2.1", "数据集名称与版本"), "Summary": ("4.3", "数据集（名称/版本）")}


def check(documents: Documents) -> Iterator[Remark]:
    names = [line.cells[0].text for line in documents.lines("Mig_Readme", "3.1", "使用的数据集")]
    for use, copies in _REPEATED.items():
        authority = documents.cell("Mig_Readme", "3.1", use, "使用的数据集")
        for name, row in copies if authority and not is_blank(authority.text) else ():
            section, column = _PLACES[name]
            copy = documents.cell(name, section, row, column)
            if authority and copy and not _agree(authority.text, copy.text):
                yield _remark(copy, authority.text)
    measured = documents.cell("Compare", "2.4", "昇腾 NPU", "数据集（名称/版本）")
    named = [name for name in names if not is_open(name)]
    if measured and named and not any(_agree(name, measured.text) for name in named):
        yield _remark(measured, " / ".join(dict.fromkeys(named)))


def _agree(authority: str, copy: str) -> bool:
    """A copy may be open, and either side may say more than the other."""
    if is_open(copy) or is_not_applicable(authority):
        return is_open(copy)
    one, other = fold(plain(authority)), fold(plain(copy))
    return one in other or other in one


def _remark(copy: Value, authority: str) -> Remark:
    return at(copy, f"dataset of {copy.label!r} is {copy.text!r} here and {authority!r} in Mig_Readme §3.1")


RULE = Rule(
    code="NPE303",
    name="dataset-mismatch",
    since="0.1.0",
    law=str(__doc__),
    why="""
The same accuracy on another dataset is another accuracy. The table in Mig_Readme §3.1 is the authority, because the
commands and the download steps stand beside it.
""",
    bad={
        "Mig_Readme": """\
### 3.1 数据集与测试用途对照（必填）

| 测试类型 | 使用的数据集 |
| --- | --- |
| 短测 | digits v1 |
""",
        "Summary": "### 4.3 数据集与测试用途\n\n| 测试类型 | 数据集（名称/版本） |\n| --- | --- |\n| 短测 | MNIST |\n",
    },
    good={
        "Mig_Readme": """\
### 3.1 数据集与测试用途对照（必填）

| 测试类型 | 使用的数据集 |
| --- | --- |
| 短测 | digits v1 |
""",
        "Summary": """\
### 4.3 数据集与测试用途

| 测试类型 | 数据集（名称/版本） |
| --- | --- |
| 短测 | digits v1（子集） |
""",
    },
    check=check,
)
