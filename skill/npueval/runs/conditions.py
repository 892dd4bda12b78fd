"""What a Run records beside its samples: device, workload, inputs, protocol, cold start, outputs, resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npueval.language import Text, same


@dataclass(frozen=True)
class DeviceFacts:
    """What it was measured on. ``settings``: compile mode, task queue …; what cannot be read is ``N/A (reason)``."""

    name: str
    kind: str
    index: int | None
    model: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkloadFacts:
    """Which model: ``file.py:Class``, the hash of that file, and the parameter count where a torch module was found.

    ``needs`` maps the files that the class declares (code, data, weights) to their SHA-256.
    """

    ref: str
    sha256: str
    parameters: int | None = None
    needs: Mapping[str, str] = field(default_factory=dict)

    def files(self, name: str) -> dict[str, str]:
        """Every file with its hash, the workload's own, of this ``name``, first."""
        return {name: self.sha256, **self.needs}


@dataclass(frozen=True)
class ArrayFacts:
    """Shape and element type of one input or output."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class InputFacts:
    """The inputs of one batch size: their hash and what they are made of."""

    batch: int
    sha256: str
    arrays: tuple[ArrayFacts, ...]


@dataclass(frozen=True)
class Protocol:
    """How it was measured; two Runs are held against each other by it."""

    warmup: int
    iterations: int
    scope: tuple[str, ...]
    synchronisation: str
    percentile: str
    clock: str
    precision_mode: str = "cast"


@dataclass(frozen=True)
class ColdStart:
    """What happens once: never part of a steady figure. ``first_hits``: first iteration of each batch size, in ns."""

    load_ns: int | None = None
    first_inference_ns: int | None = None
    first_hits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OutputFacts:
    """Statistics of one output array, over its finite elements."""

    shape: tuple[int, ...]
    dtype: str
    nan: int
    inf: int
    mean: float | None
    std: float | None
    min: float | None
    max: float | None


@dataclass(frozen=True)
class OutputCheck:
    """Are the outputs right? ``passed`` is ``None`` where nobody could tell, with the ``reason``.

    ``result`` is what the workload's ``check`` answered (``metric``, ``value``, ``n``, ``direction`` …).
    """

    passed: bool | None
    reason: Text = field(default_factory=lambda: same(""))
    outputs: tuple[OutputFacts, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Operator:
    """One operator in a profile: how many rows it has there, and their time in all, without what they called (ns)."""

    name: str
    count: int
    total_ns: int


@dataclass(frozen=True)
class Profile:
    """The profiling pass, which runs after the timing: never part of a figure.

    ``file`` is the trace, relative to the folder of the Run. Profilers may lose the beginning: of ``iterations``, as
    many as ``complete`` are whole in the trace, ``lost_first`` are missing before the first whole one, and
    ``total_ns`` and ``operators`` (those that take most time, first) are of the whole ones only. ``reason`` says why
    there is no profile, or nothing in it.
    """

    file: str | None = None
    profiler: str = ""
    batch: int = 0
    iterations: int = 0
    complete: int = 0
    lost_first: int = 0
    total_ns: int = 0
    operators: tuple[Operator, ...] = ()
    reason: Text | None = None

    def top(self, most: int) -> tuple[Operator, ...]:
        """The operators that take most time, where they take any."""
        return self.operators[:most] if self.total_ns else ()


@dataclass(frozen=True)
class Resources:
    """The sampling pass, which runs after the timing: readings every ``interval_s``, and what could not be read."""

    interval_s: float
    series: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    missing: Mapping[str, Text] = field(default_factory=dict)
