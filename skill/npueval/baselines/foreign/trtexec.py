"""trtexec's ``--exportTimes``: raw latencies of every query, on an NVIDIA GPU.

Traps: ``latencyMs`` is H2D + compute + D2H, and newer versions leave the transfers out unless asked (both are 0 then).
The batch stands in the command only. Older versions say ``inMs`` and ``outMs``.
"""

from __future__ import annotations

from typing import Any

from npueval.baselines.foreign.base import Made, Source, milliseconds, of_samples
from npueval.errors import FormatError
from npueval.records import Fact, Grade

_TRANSFERS = (("h2dMs", "d2hMs"), ("inMs", "outMs"))
_ROUNDED = 0.02


def recognises(source: Source) -> bool:
    """A list of nothing but queries."""
    entries = source.data
    return (
        isinstance(entries, list)
        and bool(entries)
        and all(isinstance(entry, dict) and {"latencyMs", "computeMs"} <= entry.keys() for entry in entries)
    )


def read(source: Source) -> Made:
    """Percentiles as ours, with n: grade B."""
    latencies = [_latency(entry, number) for number, entry in enumerate(source.data)]
    moved = any(_transfers(entry) for entry in source.data)
    told = all(any(keys[0] in entry and keys[1] in entry for keys in _TRANSFERS) for entry in source.data)
    scope = "h2d+infer+d2h" if moved else "infer" if told else ""
    facts = {"device_kind": Fact("gpu"), **({"scope": Fact(scope)} if scope else {})}
    return Made(of_samples(latencies, source.cite("latencyMs")), Grade.B, facts)


def _latency(entry: dict[str, Any], number: int) -> float:
    found = milliseconds(entry["latencyMs"], f"latencyMs of query {number}")
    parts = milliseconds(entry["computeMs"], f"computeMs of query {number}") + _transfers(entry)
    # Without the transfers' own fields the latency can only be held against its largest part.
    known = any(keys[0] in entry for keys in _TRANSFERS)
    if parts > found * (1 + _ROUNDED) or (known and parts < found * (1 - _ROUNDED)):
        raise FormatError(f"latencyMs of query {number} is {found:g}, its parts are {parts:g} together")
    return found


def _transfers(entry: dict[str, Any]) -> float:
    """The time of both copies; 0 where they were left out."""
    values = [entry[key] for keys in _TRANSFERS for key in keys if key in entry]
    return sum(milliseconds(value, "a transfer") for value in values if value != 0)
