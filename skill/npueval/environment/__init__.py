"""The machine facts: what a measurement ran on, told apart by a digest, and what the gate decides from.

Everything is read, nothing is changed. Secrets, user names and addresses are taken out before anything is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from operator import itemgetter
from pathlib import Path
from typing import Any

from npueval.environment import ascend, machine, npu_query, probe
from npueval.environment.host import Host
from npueval.environment.npu_names import family
from npueval.environment.npu_smi import Reading
from npueval.environment.redaction import redact
from npueval.errors import FormatError
from npueval.plaindata import from_plain, to_plain

FORMAT = "npueval/environment/1"
_MOVING = frozenset(
    [
        "format",
        "digest",
        "taken_at",
        "raw",
        "stderr",
        "error",
        "warnings",
        "processes",
        "doubts",
        "load",
        "power_w",
        "temperature_c",
        "aicore_percent",
        "memory_used_mb",
        "hbm_used_mb",
    ]
)
"""Fields that differ from minute to minute or repeat others: they do not make it another environment."""


@dataclass(frozen=True)
class Environment:
    """One reading of a machine from one process (inside a sandbox, or outside of it)."""

    taken_at: str
    system: machine.System
    sandbox: tuple[str, ...]
    python: machine.Python
    packages: Mapping[str, str]
    variables: Mapping[str, str]
    ascend: ascend.Ascend
    npu: Reading
    probe: probe.Probe
    commit: machine.Commit | None = None
    load: tuple[float, ...] = ()

    @property
    def digest(self) -> str:
        """Equal for two readings of the same environment, whatever the moment's load and temperature."""
        stable = json.dumps(sorted(_flat(to_plain(self)), key=itemgetter(0)), ensure_ascii=False)
        return hashlib.sha256(stable.encode()).hexdigest()[:16]

    @property
    def cann(self) -> str | None:
        """The CANN version: what torch_npu reports, else what the installation's file says."""
        said: str | None = self.probe.fact("torch_npu", "cann")
        return said or (self.ascend.cann.version if self.ascend.cann else None)

    @property
    def driver(self) -> str | None:
        """The NPU driver's version: what npu-smi prints, else what the driver's file says."""
        return self.npu.driver or self.ascend.driver.driver

    @property
    def devices(self) -> tuple[str, ...]:
        """The accelerators, one entry a chip: NPUs as torch_npu or npu-smi name them, else CUDA devices."""
        named = self.probe.fact("torch_npu", "names") or [chip.name for chip in self.npu.chips]
        return tuple(named or self.probe.fact("torch", "cuda_devices") or ())

    @property
    def families(self) -> frozenset[str]:
        """The product families of the NPUs (``A2``, ``310P`` …), as far as their names tell."""
        named = {family(name) for name in self.probe.fact("torch_npu", "names") or ()}
        return self.npu.families or frozenset(name for name in named if name)

    @property
    def visible_devices(self) -> str | None:
        """``ASCEND_RT_VISIBLE_DEVICES`` as set, or ``None``."""
        return self.variables.get("ASCEND_RT_VISIBLE_DEVICES")

    def as_json(self) -> dict[str, Any]:
        """What a Run stores and ``doctor --json`` prints."""
        return {"format": FORMAT, "digest": self.digest, **to_plain(self)}


def record(project_root: Path, *, host: Host | None = None, probe_timeout_s: float = 180.0) -> Environment:
    """Read this machine as it is seen from here.

    Starts one child process that imports torch and torch_npu and runs one small operator, ended after
    ``probe_timeout_s``; on an NPU host the first operator may compile for a minute.
    """
    host = host or Host()
    return Environment(
        taken_at=datetime.now(timezone.utc).astimezone().isoformat(timespec="seconds"),
        system=machine.system(host),
        sandbox=machine.sandbox_signs(host),
        python=machine.python(),
        packages=machine.packages(),
        variables=machine.variables(host),
        ascend=ascend.look(host),
        npu=_npu(host),
        probe=probe.ask(host, timeout_s=probe_timeout_s),
        commit=machine.commit(host, project_root),
        load=machine.load(),
    )


def _npu(host: Host) -> Reading:
    # Four-part driver versions look like addresses, and npu-smi prints none of the latter.
    reading = npu_query.query(host)
    return replace(reading, raw=redact(reading.raw, addresses=False))


def from_json(data: Mapping[str, Any]) -> Environment:
    """Back from :meth:`Environment.as_json`. Raises :class:`FormatError` for another or a newer format."""
    if data.get("format") != FORMAT:
        raise FormatError(f"this release reads {FORMAT}, not {data.get('format')!r}")
    return from_plain(Environment, data)


@dataclass(frozen=True)
class Difference:
    """One field in which two environments differ; ``None`` where one of them does not know it or lacks it."""

    field: str
    first: str | None
    second: str | None


def difference(a: Environment | Mapping[str, Any], b: Environment | Mapping[str, Any]) -> list[Difference]:
    """What tells two environments apart, field by field; empty when their digests are equal.

    Takes records or their stored JSON, so that Runs of older releases can be held against each other too.
    """
    first, second = (dict(_flat(to_plain(side))) for side in (a, b))
    fields = sorted(first.keys() | second.keys())
    return [Difference(key, first.get(key), second.get(key)) for key in fields if first.get(key) != second.get(key)]


def _flat(data: Any, path: str = "") -> Iterator[tuple[str, str | None]]:
    """(dotted path, printed value or ``None``) of every field that belongs to the environment's identity."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in _MOVING and not key.endswith("_error"):
                yield from _flat(value, f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _flat(value, f"{path}[{index}]")
    else:
        yield path, None if data is None else str(data)
