"""Named numbers in sentences: ``Val acc is 81.2%``, ``Test set: Average loss: 0.05, Accuracy: 9834/10000 (98%)``.

Traps: ``mAP@0.5:0.95: 0.43`` names a band and no value of 0.95; ``9834/10000`` are hits of samples, ``0.647/0.655`` a
result and its target, ``0.6~0.7`` no value at all; the set that heads a sentence is that of all its numbers; what ends
in a call or a bracket is code; with its mean behind it, a number of an evaluation is that of one batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npueval import metrics

_NUMBER = r"\d(?:\w|\.(?=\w)|[+-](?=\d)|,(?=\d{3}(?!\d))){0,40}%?"
_VALUE = rf"[-+~]?(?:{_NUMBER}(?:\s?[/~～]\s?{_NUMBER})?|nan|inf(?:inity)?)(?!\w|\.\w|\s?[:=：]\s?\w)"
_PAIR = re.compile(
    r"(?<![\w@%/.-])([A-Za-z\u4e00-\u9fff][\w@%/.-]{0,40}(?: [A-Za-z][\w@%/.-]{0,40}){0,3})"
    rf"\s?(?:=|:|：| is )\s?({_VALUE})",
    re.IGNORECASE,
)
_BLEU = re.compile(r"(BLEU-\d) ([\d.]+)")
_SPACED = re.compile(
    r"(?<![\w@%/.-])((?:(?:train|training|val|valid|validation|test|eval)[ _])?(?:loss|acc(?:uracy)?)) "
    r"(\d{1,9}\.\d{1,20}(?:e[-+]?\d{1,3})?%?|nan|inf)(?!\w|\.\w)",
    re.IGNORECASE,
)
_BAND = re.compile(r"@\[?(0?\.\d{1,3})[:-](0?\.\d{1,3})\]?(?=\s?[:=：]\s?\d)")
_HEAD = re.compile(
    r"(?:.{0,60}?[-|\]:>] )??\s{0,8}(?P<set>test|validation|valid|val|dev|eval|evaluation)"
    r"(?: set| results?)?\s?(?:BLEU)?[:：]",
    re.IGNORECASE,
)
_MEAN = re.compile(r"\s{0,4}\(\s{0,4}\d[\d.]*\s?\)")
_HITS = re.compile(r"(\d{1,12})\s?/\s?(\d{1,12})")
_CODE = re.compile(r"[{};(]\s*$|\w\([^()]{0,200}\)\s*$|^\s*(?:#|//|\)|import |def |class |usage:|--)|\[-")


@dataclass(frozen=True)
class Named:
    """A number with its name, as written. ``n``: it is a share of so many samples, ``told`` as hits of them."""

    name: str
    value: str
    n: int | None = None
    told: str = ""


def named(text: str, *, in_order: bool) -> Iterator[Named]:
    """Every named number of a sentence; where the sentence stands in an order (an epoch, a step), a space is enough."""
    text = _BAND.sub(r"@\1-\2", text)
    head = _HEAD.match(text)
    prefix = f"{head['set'].lower()}_" if head else ""
    for pattern in (_PAIR, _BLEU, *((_SPACED,) if in_order else ())):
        for found in pattern.finditer(text):
            if not (head and _MEAN.match(text, found.end())):
                yield _shared(f"{prefix}{found[1].strip()}", found[2])


def is_code(text: str) -> bool:
    """Whether a line is code, a comment, a usage or an option rather than a sentence."""
    return _CODE.search(text) is not None


def _shared(name: str, value: str) -> Named:
    """Hits of a number of samples as a share of them."""
    found = _HITS.fullmatch(value) if metrics.kind(name) == "score" else None
    hits, n = (int(found[1]), int(found[2])) if found else (0, 0)
    return Named(name, repr(hits / n), n, value) if n > 1 and hits <= n else Named(name, value)
