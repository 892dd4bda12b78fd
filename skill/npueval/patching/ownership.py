"""Whose text is it? Blanks and our own texts may be rewritten; what a person wrote is kept."""

from __future__ import annotations

from npueval.documents.addresses import resolve
from npueval.documents.places import Place
from npueval.documents.structure import blank
from npueval.documents.values import is_placeholder
from npueval.errors import DocumentError
from npueval.patching.ledger import BY_HAND, Entry


def kept_because(place: Place, entry: Entry | None, source: str) -> str:
    """Why the text at ``place`` must stay when something from ``source`` is to be written; empty where it may go.

    ``entry`` is what the ledger holds for the place.
    """
    if entry and entry.source == BY_HAND != source and not is_placeholder(place.text):
        return "set by hand"
    if entry and entry.holds(place.text):
        return ""
    if place.kind == "check":
        return "ticked by a person" if place.text else "unticked by a person" if entry else ""
    if is_placeholder(place.text) or _stands_in_blank(place):
        return ""
    return "changed by a person since it was written" if entry else "written by a person"


def _stands_in_blank(place: Place) -> bool:
    """Whether the blank document has the same text there. A row's label is an anchor, not a text to be filled in."""
    if place.column == 0:
        return False
    try:
        return resolve(blank(place.document.name), place.address).text == place.text
    except DocumentError:
        return False
