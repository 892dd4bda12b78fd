"""``npueval show``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from npueval.cli.base import LONGEST_LIST, Reply, verb
from npueval.documents import layout, markdown, transactions
from npueval.documents.addresses import Address, resolve
from npueval.documents.places import Place, count_places_in, places_in
from npueval.errors import DocumentError

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
    if place.kind not in ("document", "section"):
        return Reply(_data(place), text=place.text)
    sections = range(len(place.document.sections)) if place.kind == "document" else [place.section]
    listed = list(islice((each for section in sections for each in places_in(place.document, section)), LONGEST_LIST))
    more = sum(count_places_in(place.document, section) for section in sections) - len(listed)
    data = {**_data(place), "text": "", "places": [_data(each) for each in listed], "more": more}
    return Reply(data, text="\n".join([*map(_line, listed), *([f"… and {more} more"] if more else [])]))


def resolve_in(folder: Path, address: str) -> Place:
    """The place that an address means in a documents folder, after a killed transaction there was settled."""
    transactions.settle(folder)
    parsed = Address.parse(address)
    name = layout.name_of(parsed.document)
    path = layout.find(folder).get(name)
    if path is None:
        raise DocumentError(f"{name} is not in this folder", code="DOCUMENT_MISSING", path=folder)
    return resolve(markdown.parse(layout.read(path), path=path, name=name), parsed)


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


def _line(place: Place) -> str:
    first = place.text.partition("\n")[0]
    text = first if first == place.text and len(first) <= _SHOWN else f"{first[:_SHOWN]}…"
    return f"{place.address}\t{text}".rstrip()
