"""What a list item says: ``key：value``."""

from __future__ import annotations

import re
from typing import NamedTuple

_KEY_PARTS = re.compile(r"\\.|(?P<code>`+)|(?P<open>[(（\[【])|(?P<close>[)）\]】])|(?P<colon>[:：])")
_EMPHASIS = ("**", "__", "~~", "*", "_")
_LONGEST_KEY = 200


class KeyValue(NamedTuple):
    """The key with its marks, and how many characters of the item come before its value."""

    key: str
    colon: str
    value: int


def split_field(text: str) -> KeyValue | None:
    """Split ``**key：** value`` at its first colon outside code and brackets; ``None`` where the item has no key."""
    place = _colon(text[:_LONGEST_KEY])
    if place is None or not text[:place].strip():
        return None
    key, rest = text[:place].strip(), text[place + 1 :]
    closer = next((mark for mark in _EMPHASIS if key.startswith(mark)), "")
    # In `**key：** value` the colon stands inside the emphasis, whose end belongs to the key.
    if closer and key.count(closer) % 2 and rest.startswith(closer):
        key, rest = key + closer, rest[len(closer) :]
    return KeyValue(key, text[place], len(text) - len(rest.lstrip(" \t")))


def _colon(text: str) -> int | None:
    """The first colon at the outermost level; the first of any level when the brackets never close."""
    depth, within, place = 0, None, 0
    while found := _KEY_PARTS.search(text, place):
        place = found.end()
        if found["code"]:
            place = max(place, text.find(found["code"], place) + len(found["code"]))
        elif found["open"]:
            depth += 1
        elif found["close"]:
            depth = max(0, depth - 1)
        elif found["colon"] and _separates(text, found.start()):
            if depth == 0:
                return found.start()
            within = found.start() if within is None else within
    return within if depth else None


def _separates(text: str, place: int) -> bool:
    """``12:30`` and ``http://`` hold no separator."""
    if text[place] == "：":
        return True
    clock = text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit()
    return not clock and not text.startswith("//", place + 1)
