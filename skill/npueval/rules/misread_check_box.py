"""What looks like a check box to a person is one to Markdown."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for suspect in document.suspects:
            if suspect.kind == "check box":
                line, column = document.lines.position(suspect.span.start)
                yield Remark(
                    document.path, line, column, "this is not a check box to Markdown", f"write {suspect.replacement!r}"
                )


RULE = Rule(
    code="NPE103",
    name="misread-check-box",
    since="0.1.0",
    law=str(__doc__),
    why="""
Only `[ ]`, `[x]` and `[X]` are check boxes. `[✓]`, `［ ］` and `[]` are shown as text, and no tool can tell whether the
test was done.
""",
    bad={"Mig_report": "## 6. 验证摘要\n\n- [✓] 推理 smoke\n- ［ ］ 训练 smoke\n- [] 训练短测\n"},
    good={"Mig_report": "## 6. 验证摘要\n\n- [x] 推理 smoke\n- [ ] 训练 smoke\n- [ ] 训练短测\n"},
    check=check,
)
