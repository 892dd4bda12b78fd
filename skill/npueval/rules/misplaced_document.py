"""Each document is there once, in its place."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for problem in documents.misplaced:
        yield Remark(problem.path or "", 1, 1, problem.message, problem.hint or "")


RULE = Rule(
    code="NPE107",
    name="misplaced-document",
    since="0.1.0",
    law=str(__doc__),
    why="""
Documents of the older flat layout are found and used where they lie, but links and other tools look in `working/`. Of
two copies only one is read and written; whoever edits the other one edits in vain.
""",
    bad={"env": "# 环境快照（environment.md）\n"},
    good={"environment": "# 环境快照（environment.md）\n"},
    check=check,
)
