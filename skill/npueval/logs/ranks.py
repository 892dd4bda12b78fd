"""Which process of a job wrote a line, by the prefixes that launchers and loggers give it.

Launchers write ``[default1]:``, ``[rank1]:``, ``[1]:`` or ``[1,1]<stdout>:`` before a line, loggers ``[Rank 1]`` inside
it, collectors of containers a time. Only what the first process says is read.

Trap: ``1: loss 0.5`` and ``[1]: loss 0.5`` may be of a rank or of a step, so that a bare number says nothing.
"""

from __future__ import annotations

import re

LONGEST_PREFIX = 100
_LAUNCHED = re.compile(
    r"\s*(?:\[(?:default|rank ?)(\d{1,6})\]:|\[(\d{1,6})\]:(?!\s)|\[?[Rr]ank[ _]?(\d{1,6})\]?:"
    r"|\[\d+,(\d{1,6})\]<std(?:out|err)>:) ?"
)
_LOGGED = re.compile(r"\[(?:rank|RANK|Rank)[ _:=]{0,2}(\d{1,6})\]")
_COLLECTED = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?")
_LAUNCHED_BEGINS = frozenset("[rR \t")


def told(text: str) -> str | None:
    """What the first process wrote, without the prefix of its launcher or collector; ``None``: another wrote it."""
    if text[:2] == "20" and (found := _COLLECTED.match(text)):
        text = text[found.end() :]
    launched = _LAUNCHED.match(text) if text[:1] in _LAUNCHED_BEGINS else None
    named = launched or _logged(text)
    if named and int(next(filter(None, named.groups()))) > 0:
        return None
    return text[launched.end() :] if launched else text


def is_named(text: str) -> bool:
    """Whether a line says which process wrote it."""
    return told(text) != text or _logged(text) is not None


def _logged(text: str) -> re.Match[str] | None:
    return _LOGGED.search(text, 0, LONGEST_PREFIX) if "ank" in text or "ANK" in text else None
