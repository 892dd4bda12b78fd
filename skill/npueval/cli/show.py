"""``npueval show``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from npueval import layout, markdown, transactions
from npueval.addresses import Address, places, resolve
from npueval.cli.base import LONGEST_LIST, Reply, verb
from npueval.errors import DocumentError
from npueval.places import Place

_SHOWN = 60


@verb("show")
@click.argument("address")
@click.option("--docs", type=click.Path(path_type=Path), default=Path(), help="The project or its mig_docs folder.")
def command(address: str, docs: Path) -> Reply:
    """Print what stands at one place of the migration documents.

    ADDRESS is DOCUMENT#SECTION/ROW/COLUMN, or DOCUMENT#SECTION/KEY for a list item, /WORDS for a check box, and
    /code[1] for a code block. A document or a section alone lists the addresses in it.

    \b
    Example:  npueval show 'Compare#4/延迟 p50 (ms)/NPU（迁移后）'
              npueval show Mig_report#6 --docs my_project
    """
    place = resolve_in(layout.folder_of(docs), address)
    inside = _inside(place)
    listed = list(islice(inside, LONGEST_LIST + 1))
    data = _data(place) | ({"places": [_data(each) for each in listed]} if listed else {})
    return Reply(data, text=_listing(listed) if listed else place.text)


def resolve_in(folder: Path, address: str) -> Place:
    """The place that an address means in a documents folder, after a killed transaction there was settled."""
    transactions.settle(folder)
    parsed = Address.parse(address)
    name = layout.name_of(parsed.document)
    path = layout.find(folder).get(name)
    if path is None:
        raise DocumentError(f"{name} is not in this folder", code="DOCUMENT_MISSING", path=folder)
    return resolve(markdown.parse(path.read_bytes(), path=path, name=name), parsed)


def _inside(place: Place) -> Iterator[Place]:
    if place.kind == "section":
        yield from places(place.document, place.section)
    elif place.kind == "document":
        for section in range(len(place.document.sections)):
            yield from places(place.document, section)


def _data(place: Place) -> dict[str, Any]:
    line, column = place.position
    return {
        "address": place.address or place.document.name,
        "kind": place.kind,
        "path": place.document.path,
        "line": line,
        "column": column,
        "text": place.text,
    }


def _listing(listed: list[Place]) -> str:
    lines = [f"{place.address}\t{_short(place.text)}".rstrip() for place in listed[:LONGEST_LIST]]
    return "\n".join(lines + (["… and more; show one section"] if len(listed) > LONGEST_LIST else []))


def _short(text: str) -> str:
    line = text.partition("\n")[0]
    return line if line == text and len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
