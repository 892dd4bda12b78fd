"""`N/A` is an answer only together with its reason."""

from collections.abc import Iterator

from npueval.documents.tree import Document, Section
from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.rules.wording import is_blank, lacks_reason

_REMARKS = ("备注", "说明")


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for section in (document.preamble, *document.sections):
            for value in _unexplained(document, section):
                yield at(value, f"N/A without a reason in {value.label!r}", "write N/A（原因）")


def _unexplained(document: Document, section: Section) -> Iterator[Value]:
    for item in section.fields:
        if lacks_reason(item.text):
            yield Value(document, item.span.start, item.text, item.key)
    for table in section.tables:
        columns = [place for place, name in enumerate(table.columns) if _is_remark(name)]
        rows = [row for row, label in zip(table.rows, table.labels, strict=True) if _is_remark(label)]
        for row, label in zip(table.rows, table.labels, strict=True):
            for place, cell in enumerate(row.split.cells):
                beside = (row.text(column) for column in columns if column != place)
                below = (remark.text(place) for remark in rows)
                if lacks_reason(cell.text) and not any(map(_explains, (*beside, *below))):
                    yield Value(document, cell.start, cell.text, label)


def _explains(text: str) -> bool:
    """A remark in the same row, or in the same column of a row of remarks, may give the reason."""
    return not is_blank(text) and not lacks_reason(text)


def _is_remark(label: str) -> bool:
    return any(word in label for word in _REMARKS)


RULE = Rule(
    code="NPE203",
    name="bare-not-applicable",
    since="0.1.0",
    law=str(__doc__),
    why="""
"Not measured", "does not apply", "no hardware" and "forgotten" all look the same as `N/A`. The reason tells the next
reader what would have to change. A remark in the same row (备注, 说明) counts as one.
""",
    bad={"Mig_Readme": "### 5.2 与迁移前差异\n\n- 分布式/单卡策略：N/A\n"},
    good={"Mig_Readme": "### 5.2 与迁移前差异\n\n- 分布式/单卡策略：N/A（仅推理）\n"},
    check=check,
)
