"""The blank documents and their structure schemas promise the same anchors, one by one."""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from npueval.contracts import violations
from npueval.documents.addresses import resolve
from npueval.documents.markdown import parse
from npueval.documents.tree import Document, Row, Table
from npueval.resources import schema, template

TEMPLATES = (
    "working/Compare.md",
    "working/Mig_Readme.md",
    "working/Mig_report.md",
    "working/environment.md",
    "Summary.md",
)


class Cut(NamedTuple):
    """A blank document without one of its anchors."""

    anchor: str
    data: bytes


def read(relative: str, data: bytes | None = None) -> Document:
    return parse(template(relative) if data is None else data, path=relative)


def missing(document: Document) -> list[str | None]:
    found = violations(document.as_json(), schema(f"documents/{document.name}"))
    return [violation.key for violation in found]


def without_lines(document: Document, first: int, last: int) -> bytes:
    lines = document.data.splitlines(keepends=True)
    return b"".join(lines[: first - 1] + lines[last:])


def with_text(document: Document, row: Row, column: int, text: str) -> bytes:
    cell = row.cell(column)
    assert cell
    return document.data[: cell.start] + text.encode() + document.data[cell.end :]


def cuts(document: Document) -> Iterator[Cut]:
    for section in document.sections:
        yield Cut(section.key, without_lines(document, section.line, section.line))
        for table in section.tables:
            yield from cuts_of_table(document, table)
        for item in section.fields:
            yield Cut(item.key, without_lines(document, item.line, item.line))
        for box in section.checks:
            yield Cut(box.label, without_lines(document, box.line, box.line))
        for block in section.code:
            last, _ = document.lines.position(block.span.end)
            yield Cut("a fenced code block", without_lines(document, block.line, last))


def cuts_of_table(document: Document, table: Table) -> Iterator[Cut]:
    for column, name in enumerate(table.columns):
        yield Cut(name, with_text(document, table.header, column, "别的列"))
    for row, label in zip(table.rows, table.labels, strict=True):
        yield Cut(label, without_lines(document, row.line, row.line))


@pytest.mark.parametrize("relative", TEMPLATES)
def test_a_blank_document_keeps_its_contract(relative: str) -> None:
    assert missing(read(relative)) == []


@pytest.mark.parametrize("relative", TEMPLATES)
def test_each_missing_anchor_is_the_one_that_is_named(relative: str) -> None:
    anchors = list(cuts(read(relative)))
    assert len(anchors) > 20
    for cut in anchors:
        named = missing(read(relative, cut.data))
        assert len(named) == 1 and cut.anchor.startswith(str(named[0])), f"without {cut.anchor!r}: {named}"


@pytest.mark.parametrize("relative", TEMPLATES)
def test_each_place_to_be_filled_has_an_address_of_its_own(relative: str) -> None:
    document = read(relative)
    for section in document.sections:
        rows = [(row, column) for table in section.tables for row in table.labels for column in table.columns[1:]]
        keys = [*(item.key for item in section.fields), *(box.label for box in section.checks)]
        for path in (*("/".join(cell) for cell in rows), *keys):
            assert resolve(document, f"{document.name}#{section.key}/{path}").kind in ("cell", "field", "check")


@pytest.mark.parametrize("relative", TEMPLATES)
def test_a_number_does_not_stand_for_another_title(relative: str) -> None:
    document = read(relative)
    for section in document.sections:
        if section.number:
            heading = f"{'#' * section.level} {section.number} 别的标题".encode()
            renamed = document.data[: section.span.start] + heading + document.data[section.span.end :]
            (violation,) = violations(read(relative, renamed).as_json(), schema(f"documents/{document.name}"))
            assert violation.pointer == ("sections", section.key, "title")


MORE = """
一段说明。

| 新列 | 备注 |
| --- | --- |
| 新行 | 1 |

- 新项：值
- [x] 新框

"""


@pytest.mark.parametrize("relative", TEMPLATES)
def test_anything_more_is_welcome(relative: str) -> None:
    document = read(relative)
    headings = {section.line for section in document.sections}
    lines = document.data.decode().splitlines(keepends=True)
    text = "".join(line + MORE if number in headings else line for number, line in enumerate(lines, start=1))
    more = read(relative, (text + "\n## 99. 新的一节\n" + MORE).encode())
    assert len(more.sections) == len(document.sections) + 1
    assert missing(more) == []


@pytest.mark.parametrize("relative", TEMPLATES)
def test_links_lead_to_the_other_documents(relative: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", template(relative).decode())
    assert links
    for link in links:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(relative), link))
        assert target in TEMPLATES, f"{relative} links to {link}"
