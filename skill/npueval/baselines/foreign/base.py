"""What every form of foreign figures is made of: numbers that can be true, in our units, with their place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from npueval.errors import FormatError
from npueval.plan import Plan
from npueval.records import Citation, Fact, Figure, Grade
from npueval.statistics import PERCENTILES, least_samples, percentile

LONGEST_MS = 30 * 24 * 3600 * 1e3
SHORTEST_MS = 1e-6
MOST_A_SECOND = 1e12
MOST_COUNTED = 10**12
_QUOTED = 120


@dataclass(frozen=True)
class Source:
    """A file that was brought: its bytes, its JSON (``None`` where it is none), and how it is cited."""

    raw: bytes
    data: Any
    file: Path
    plan: Plan
    shown: str

    @cached_property
    def text(self) -> str:
        """The text of the JSON."""
        return self.raw.decode(json.detect_encoding(self.raw), "replace")

    def cite(self, key: str) -> Citation:
        """Where a key stands first."""
        place = max(0, self.text.find(f'"{key}"'))
        end = self.text.find("\n", place)
        quoted = self.text[place : min(place + _QUOTED, end if end > 0 else len(self.text))]
        return Citation(self.shown, self.text.count("\n", 0, place) + 1, quoted.strip())

    def holds(self, *keys: str) -> bool:
        """Whether the JSON is one object with all of these keys."""
        return isinstance(self.data, dict) and all(key in self.data for key in keys)


@dataclass(frozen=True)
class Made:
    """What a form says, before the user's word; ``grade`` is the best that it can have."""

    figures: tuple[Figure, ...]
    grade: Grade
    facts: Mapping[str, Fact] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()


def number(value: Any, what: str) -> float:
    """A number above zero; text that looks like one is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{what} is {value!r:.40}, no number")
    if value <= 0:
        raise FormatError(f"{what} is {value:g}: zero or less")
    return float(value)


def milliseconds(value: Any, what: str, unit: str = "ms") -> float:
    """A duration in ms, which must be one that somebody can have measured."""
    found = number(value, what) * (1e3 if unit == "s" else 1.0)
    if not SHORTEST_MS <= found <= LONGEST_MS:
        raise FormatError(f"{what} is {value:g} {unit}: under a nanosecond or over 30 days")
    return found


def rate(value: Any, what: str) -> float:
    """A number per second."""
    found = number(value, what)
    if found > MOST_A_SECOND:
        raise FormatError(f"{what} is {value:g} a second")
    return found


def count(value: Any, what: str) -> int:
    """How many; 0 is none of them."""
    if number(value, what) != int(value) or value > MOST_COUNTED:
        raise FormatError(f"{what} is {value:g}, no count")
    return int(value)


def latency(metric: str, value: float, source: Citation, n: int | None, original: str = "") -> Figure:
    """A latency in ms."""
    return Figure(metric, value, "ms", "lower", source, original, n=n)


def throughput(metric: str, value: Any, unit: str, source: Citation, n: int | None) -> Figure:
    """A rate of all cards together, under its own name: it is no samples/s."""
    return Figure(metric, rate(value, metric), unit, "higher", source, per="total", n=n)


def of_samples(samples: Sequence[float], source: Citation) -> tuple[Figure, ...]:
    """Percentiles as ours (nearest rank) as far as n allows, and the mean, of latencies in ms."""
    n = len(samples)
    found = [
        latency(f"latency_{name}_ms", percentile(samples, p), source, n)
        for name, p in PERCENTILES.items()
        if n >= least_samples(p)
    ]
    return *found, latency("latency_mean_ms", sum(samples) / n, source, n)


def in_order(figures: Sequence[Figure], *metrics: str) -> None:
    """Refuse percentiles that fall where they must rise."""
    known = {figure.metric: figure.value for figure in figures}
    held = [(metric, known[metric]) for metric in metrics if metric in known]
    for (lower, less), (higher, more) in pairwise(held):
        if less > more:
            raise FormatError(f"contradicts itself: {lower} {less:g} is above {higher} {more:g}")


def agree(said: float, implied: float, what: str) -> None:
    """Refuse a figure that the other figures of the file deny."""
    if abs(said / implied - 1) > 0.05:
        raise FormatError(f"contradicts itself: {what} is {said:g}, the rest of the file says {implied:g}")
