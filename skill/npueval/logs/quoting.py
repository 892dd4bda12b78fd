"""The words of a log as evidence: a line, or of a long one the part around the value that is cited."""

from __future__ import annotations

import re

from npueval.records import Citation

LONGEST_TEXT = 400

_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_NUMBER = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")


def quote(path: str, line: int, text: str, value: str | float = "") -> Citation:
    """A citation of a line; of a long one, the part around a value that stands in it."""
    text = text.strip()
    if len(text) > LONGEST_TEXT:
        start = max(0, _place(text, value) - LONGEST_TEXT // 2)
        text = text[start : start + LONGEST_TEXT]
    return Citation(path, line, visible(text))


def visible(text: str) -> str:
    """A text in which nothing is hidden: controls, marks that turn the reading direction and bytes of a file's name
    that are no text, each as its escape."""
    return _HIDDEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _place(text: str, value: str | float) -> int:
    if isinstance(value, str):
        return text.find(value)
    numbers = (found for found in _NUMBER.finditer(text) if _is(value, found[0]))
    return next((found.start() for found in numbers), 0)


def _is(value: float, text: str) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return False
