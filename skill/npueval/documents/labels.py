"""How two labels are held against each other, whatever a person's input method made of them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Labels come by again and again; a text as long as this is none.
_REMEMBERED = 200
_BLANKS = re.compile(r"\s+")
# A bare "3" needs something after it ("3 性能", "3、性能"); "2.6基线" is a number even without a blank.
_NUMBERED = re.compile(
    r"(?:§\s*)?(?P<number>\d+(?:[.．]\d+)+(?![\dA-Za-z])|\d+(?![.．]\d)(?=[.．、)）\s]|$))[.．、)）]*\s*(?P<title>.*)",
    re.DOTALL,
)


def normal(text: str) -> str:
    """``text`` after NFKC, with every run of blanks as one space."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text)).strip()


def fold(text: str) -> str:
    """The form in which labels are the same that differ only in width, blanks or case."""
    return _folded(text) if len(text) <= _REMEMBERED else _folded.__wrapped__(text)


@lru_cache(maxsize=16384)
def _folded(text: str) -> str:
    return _BLANKS.sub("", unicodedata.normalize("NFKC", text)).casefold()


@lru_cache(maxsize=1024)
def split_number(heading: str) -> tuple[str | None, str]:
    """The number and the title of a heading: ``２．６ 基线``, ``§2.6 基线`` and ``2.6. 基线`` all have ``2.6``."""
    found = _NUMBERED.fullmatch(heading.strip())
    if found is None:
        return None, heading.strip()
    return normal(found["number"]), found["title"].strip()


def width(text: str) -> int:
    """How many columns ``text`` takes on a terminal; a CJK character takes two."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
