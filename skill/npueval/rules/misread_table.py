"""What looks like a table to a person is one to Markdown: header and delimiter row have as many cells."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for suspect in document.suspects:
            if suspect.kind == "table":
                yield Remark(
                    document.path,
                    *document.lines.position(suspect.span.start),
                    "this is not a table to Markdown: the row above has another number of cells",
                    "give the header and this row the same number of cells",
                )


RULE = Rule(
    code="NPE106",
    name="misread-table",
    since="0.1.0",
    law=str(__doc__),
    why="""
One cell more or less in the delimiter row and the whole table is shown as text. Nothing in it can be found or filled,
and a figure written there is lost to every other check.
""",
    bad={"Compare": "| 项 | 结论 |\n| --- |\n| 总体结论 |  |\n"},
    good={"Compare": "| 项 | 结论 |\n| --- | --- |\n| 总体结论 |  |\n"},
    check=check,
)
