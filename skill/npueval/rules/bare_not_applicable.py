"""`N/A` is an answer only together with its reason."""

from collections.abc import Iterator

from npueval.rules.base import Documents, Remark, Rule, Value, at
from npueval.tree import Document, Row, Section, Table
from npueval.wording import is_blank, lacks_reason

_REMARKS = ("备注", "说明")


def check(documents: Documents) -> Iterator[Remark]:
    for document in documents.readable.values():
        for section in (document.preamble, *document.sections):
            for value in _values(document, section):
                if lacks_reason(value.text):
                    yield at(value, f"N/A without a reason in {value.label!r}", "write N/A（原因）")


def _values(document: Document, section: Section) -> Iterator[Value]:
    for item in section.fields:
        yield Value(document, item.span.start, item.text, item.key)
    for table in section.tables:
        for row, label in zip(table.rows, table.labels, strict=True):
            for place, cell in enumerate(row.split.cells):
                if not _explained(table, row, place):
                    yield Value(document, cell.start, cell.text, label)


def _explained(table: Table, row: Row, place: int) -> bool:
    """A remark in the same row, or in the same column of a row of remarks, gives the reason."""
    beside = [row.text(column) for column, name in enumerate(table.columns) if column != place and _is_remark(name)]
    below = [other.text(place) for other, label in zip(table.rows, table.labels, strict=True) if _is_remark(label)]
    return any(not is_blank(text) and not lacks_reason(text) for text in (*beside, *below))


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
