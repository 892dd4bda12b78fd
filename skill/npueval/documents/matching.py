"""How a written name is held against the labels of a document: exactly, by declared aliases, by its leading words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from npueval.documents.aliases import aliases
from npueval.documents.labels import fold

Index = Mapping[str, list[int]]
_NTH = re.compile(r"(.+?)\s*\[(\d+)\]\s*", re.DOTALL)
_COMPARED = 1000


class Tier(NamedTuple):
    """One way of matching, for labels in general and for check boxes. The next tier is asked when one finds nothing."""

    labels: Callable[[Index, str], list[int]]
    checks: Callable[[Index, str], list[int]]


def nth(name: str) -> tuple[str, int | None]:
    """``("row", 1)`` for ``row[2]``; ``None`` without such an ending."""
    found = _NTH.fullmatch(name)
    if found is None or found[2] == "0":
        return name, None
    return found[1], int(found[2]) - 1


def exactly(index: Index, name: str) -> list[int]:
    """Positions whose label is ``name``; ``name[2]`` is the second of them."""
    if found := index.get(fold(name)):
        return found
    base, number = nth(name)
    found = index.get(fold(base), []) if number is not None else []
    return found[number : number + 1] if number is not None else []


def _with_aliases(index: Index, name: str) -> list[int]:
    return exactly(index, name) or [position for alias in aliases(name) for position in index.get(alias, ())]


def _by_leading_words(index: Index, name: str) -> list[int]:
    start = fold(name)
    return [position for label, found in index.items() if start and label.startswith(start) for position in found]


def _never(_index: Index, _name: str) -> list[int]:
    return []


TIERS = (Tier(exactly, exactly), Tier(_with_aliases, _with_aliases), Tier(_never, _by_leading_words))


def nearest(name: str, labels: Iterable[str]) -> list[str]:
    """The labels (of the first thousand) most like ``name``, best first."""
    known = {fold(label): label for label in islice(labels, _COMPARED)}
    return [known[close] for close in get_close_matches(fold(name), known, n=3, cutoff=0.4)]
