"""The words of a log as evidence: a line, or of a long one the part around the value that is cited."""

from __future__ import annotations

import re

from npueval.records import Citation

LONGEST_TEXT = 400

_NUMBER = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")


def quote(path: str, line: int, text: str, value: str | float = "") -> Citation:
    """A citation of a line; of a long one, the part around a value that stands in it."""
    text = text.strip()
    if len(text) > LONGEST_TEXT:
        start = max(0, _place(text, value) - LONGEST_TEXT // 2)
        text = text[start : start + LONGEST_TEXT]
    return Citation(path, line, text)


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
