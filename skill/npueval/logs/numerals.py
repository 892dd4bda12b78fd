"""Numbers as logs write them: ``1,194``, ``2.54e+06``, ``~20s``, ``6w``, ``57/64``, ``170~210``, ``1 day, 2:03:00``."""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSING = frozenset({"", "-", "--", "---", "/", "\\", "–", "—", "——", "n/a", "na", "none", "null", "nil", "无", "暂无"})

LONGEST = 64
_NUMBER = (
    r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)(?![a-z])"
)
_FORM = re.compile(
    rf"(?P<about>[~≈约])?\s*(?P<value>{_NUMBER})\s*"
    rf"(?:(?P<slash>/)\s*(?P<of>{_NUMBER})|[~～]\s*(?P<high>{_NUMBER}))?\s*(?P<unit>[^\d\s.,~/_].*)?",
    re.IGNORECASE,
)
_MULTIPLES = {"w": 1e4, "万": 1e4, "k": 1e3, "亿": 1e8}
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_DAYS = re.compile(r"(\d+) days?,?\s*")
_COLONS = re.compile(r"\d+(?::\d{1,2}){1,2}(?:\.\d+)?")
_LETTERED = re.compile(r"(?:\d+(?:\.\d+)?\s*[dhms]\s*)+", re.IGNORECASE)
_LETTERED_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s*([dhms])", re.IGNORECASE)


@dataclass(frozen=True)
class Numeral:
    """A number and what was written around it.

    ``of`` is what follows a slash (``57/64``: used and total, or actual and target: the text alone cannot tell);
    ``high`` the upper end of a range, which makes the whole no single value.
    """

    value: float
    unit: str = ""
    approximate: bool = False
    of: float | None = None
    high: float | None = None


def read(text: str) -> Numeral | None:
    """The number of a text that holds nothing else; ``None`` where it says *missing*; malformed: ``ValueError``."""
    text = text.strip()
    if text.lower() in MISSING:
        return None
    found = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    if not found:
        raise ValueError(f"{text[:40]!r} is not a number")
    unit, value = (found["unit"] or "").strip(), _float(found["value"])
    factor = _MULTIPLES.get(unit[:1].lower() if len(unit) == 1 else "", 1.0)
    of, high = (None if found[name] is None else _float(found[name]) for name in ("of", "high"))
    return Numeral(value * factor, "" if factor != 1 else unit, found["about"] is not None, of, high)


def seconds(text: str) -> float | None:
    """A duration in seconds (``56h20m21s``, ``1 day, 2:03:00``, ``0:18:23``, ``18.2 s``); ``None``: it is none.

    Two fields are minutes and seconds, except after days, where Python prints hours first.
    """
    text = text.strip()
    days = _DAYS.match(text)
    rest = text[days.end() :] if days else text
    head = int(days[1]) * 86400.0 if days else 0.0
    if days and not rest:
        return head
    if _COLONS.fullmatch(rest):
        fields = [float(part) for part in rest.split(":")]
        scale = (3600, 60, 1) if len(fields) == 3 or days else (60, 1)
        return head + sum(field * unit for field, unit in zip(fields, scale, strict=False))
    if _LETTERED.fullmatch(rest):
        return head + sum(float(n) * _SECONDS[letter.lower()] for n, letter in _LETTERED_PART.findall(rest))
    return None


def _float(text: str) -> float:
    return float(text.replace(",", ""))
