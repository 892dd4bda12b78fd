"""The five documents are one set: a folder that is checked as a whole has all of them."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule

_BLANK = {name: f"# {name}\n" for name in ("Compare", "Mig_Readme", "Mig_report", "environment", "Summary")}


def check(documents: Documents) -> Iterator[Remark]:
    for path in documents.missing:
        yield Remark(path, 1, 1, "this document is missing", "npueval init adds it and overwrites nothing")


RULE = Rule(
    code="NPE105",
    name="missing-document",
    since="0.1.0",
    law=str(__doc__),
    why="""
Each document is the authority for something that the others quote: environment for the gate, Mig_Readme for the
datasets, Compare for the figures, Mig_report for the changes. With one of them gone the others can no longer be
checked.
""",
    bad={name: text for name, text in _BLANK.items() if name != "environment"},
    good=_BLANK,
    check=check,
)
