"""The names under which NPUs go, and the product families that they belong to."""

from __future__ import annotations

import re

_FAMILIES = (
    ("310P", r"310P"),
    ("310B", r"310B"),
    ("310", r"310(?!\d)"),
    ("A2", r"910B"),
    ("A3", r"910C|910_93"),
    ("950", r"950(DT|PR)?"),
    ("910", r"910(A|Pro[AB])(?!\w)"),
)


def family(name: str, *, chips_per_card: int = 1) -> str | None:
    """The product family of a printed device name, or ``None`` where the name does not tell.

    ``Ascend910`` alone is ambiguous; on a card of two chips it is an A3 (910C).
    """
    if re.fullmatch(r"(Ascend\s?)?910", name, re.I):
        return "A3" if chips_per_card > 1 else None
    return next((label for label, pattern in _FAMILIES if re.search(pattern, name, re.I)), None)
