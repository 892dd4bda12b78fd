"""What looks like a heading to a person is one to Markdown."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for suspect in document.suspects:
            if suspect.kind == "heading":
                line, column = document.lines.position(suspect.span.start)
                hint = f"write {suspect.replacement!r}"
                yield Remark(document.path, line, column, "this is not a heading to Markdown", hint)


RULE = Rule(
    code="NPE102",
    name="misread-heading",
    since="0.1.0",
    law=str(__doc__),
    why="""
A heading needs ASCII `#` signs and a plain blank after them. Without, its section does not exist: the text below
belongs to the section before, and figures end up there. Chinese input methods write `＃` and the wide blank U+3000
unasked.
""",
    bad={"Compare": "###2.1 基线环境\n\n###　2.2 迁移后环境\n\n＃＃ 3. 精度对比\n"},
    good={"Compare": "### 2.1 基线环境\n\n### 2.2 迁移后环境\n\n## 3. 精度对比\n"},
    check=check,
)
