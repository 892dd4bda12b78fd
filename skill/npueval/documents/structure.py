"""What must stand in a document: the violations of its schema, each at its line and column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from npueval import contracts, resources
from npueval.documents import layout, markdown
from npueval.documents.labels import fold
from npueval.documents.tree import Document, Section
from npueval.errors import Problem


@cache
def blank(name: str) -> Document:
    """The blank document of that name, parsed."""
    return markdown.parse(layout.template(name), path=f"{name}.md", name=name)


def problems(document: Document) -> list[Problem]:
    """Every anchor that the document lacks, or holds in the wrong form. More than the schema asks for is welcome.

    A label that differs from the blank document's only in width, blanks or case counts as that label.
    """
    spelling = _spelling(document.name)
    schema = resources.schema(f"documents/{document.name}")
    found = contracts.violations(document.as_json(spelling), schema)
    return [_placed(document, violation, spelling) for violation in found]


def _placed(document: Document, violation: contracts.Violation, spelling: Mapping[str, str]) -> Problem:
    line, column = document.locate(violation.pointer, spelling)
    where = violation.pointer[1] if len(violation.pointer) > 1 else None
    message = f"{violation.message} in section {where}" if where else violation.message
    return Problem(message, document.path, line, column, violation.key, violation.hint)


@cache
def _spelling(name: str) -> Mapping[str, str]:
    return {fold(label): label for section in blank(name).sections for label in _labels(section)}


def _labels(section: Section) -> Iterator[str]:
    yield from (section.key, section.title)
    for table in section.tables:
        yield from (*table.columns, *table.labels)
    yield from (item.key for item in section.fields)
    yield from (check.label for check in section.checks)
