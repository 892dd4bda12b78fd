"""Documents are UTF-8."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for error in documents.unreadable:
        yield Remark(error.path or "", error.line or 1, 1, error.message, error.hint or "")


RULE = Rule(
    code="NPE104",
    name="not-utf-8",
    since="0.1.0",
    law=str(__doc__),
    why="""
In another encoding the same bytes are other characters, so nothing in the document can be found, and a rewrite would
destroy it. The document is left alone and no other rule looks at it until it has been converted.
""",
    bad={"Compare": "# 性能与精度对比（Compare）\n".encode("gb18030")},
    good={"Compare": "# 性能与精度对比（Compare）\n"},
    check=check,
)
