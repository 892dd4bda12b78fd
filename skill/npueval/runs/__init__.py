"""The Run: one measurement with every raw sample, and its file.

Format history of ``npueval/run``:

1. first form. Samples are base64 text of little-endian int64 nanoseconds. ``profile`` may be absent.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from npueval import atomic
from npueval.errors import FormatError
from npueval.language import Text
from npueval.runs.cases import Case, Failure, Memory, Nanoseconds, Reading
from npueval.runs.conditions import (
    ArrayFacts,
    ColdStart,
    DeviceFacts,
    InputFacts,
    Operator,
    OutputCheck,
    OutputFacts,
    Profile,
    Protocol,
    Resources,
    WorkloadFacts,
)

FORMAT = "npueval/run"
VERSION = 1
_VERSION = re.compile("[1-9][0-9]{0,5}")
ENCODING = "samples are base64 of little-endian int64 nanoseconds"


@dataclass(frozen=True, eq=False)
class Run:
    """One measurement. ``floor_ns`` is what an empty iteration of the same segments costs on the same path.

    ``scope`` is ``in-process``, or ``command`` for the wall time of a foreign program: the two never compare.
    ``not_measured`` says of each other segment why. ``invalid`` lists what makes the figures worthless (wrong outputs),
    ``doubts`` what a reader must know. ``simulated`` Runs are for tests of the tool and carry no verdict.
    """

    id: str
    created: str
    tool: str
    device: DeviceFacts
    precision: str
    unit: str
    seed: int
    protocol: Protocol
    workload: WorkloadFacts
    scope: str = "in-process"
    simulated: bool = False
    complete: bool = True
    cards: int = 1
    plan_sha256: str = ""
    floor_ns: float | None = None
    not_measured: Mapping[str, Text] = field(default_factory=dict)
    cold_start: ColdStart = field(default_factory=ColdStart)
    inputs: tuple[InputFacts, ...] = ()
    output_check: OutputCheck | None = None
    cases: tuple[Case, ...] = ()
    resources: Resources | None = None
    profile: Profile | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    command: Mapping[str, Any] = field(default_factory=dict)
    invalid: tuple[Text, ...] = ()
    doubts: tuple[Text, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the figures may be used at all: not where an output was wrong."""
        return not self.wrong

    @property
    def wrong(self) -> tuple[Text, ...]:
        """What makes the Run invalid: what was seen, and a check of the outputs that failed."""
        checked = self.output_check
        failed = checked is not None and checked.passed is False
        return self.invalid or ((checked.reason,) if checked and failed else ())

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The measured segments, in the order in which they run."""
        return tuple(dict.fromkeys(segment for case in self.cases for segment in case.samples))

    def case(self, batch: int, concurrency: int = 1, rate: float | None = None) -> Case | None:
        """The case of a batch under a load, or ``None`` where it was not measured."""
        wanted = (batch, concurrency, rate)
        return next((case for case in self.cases if (case.batch, case.concurrency, case.rate) == wanted), None)

    def all_doubts(self) -> Iterator[Text]:
        """What makes the Run invalid or doubtful, then the doubts of each case, led by the case's name."""
        yield from self.wrong
        yield from self.doubts
        for case in self.cases:
            yield from (doubt.led(case.name) for doubt in case.doubts)


def save(run: Run, folder: str | Path, *, compress: bool = False) -> Path:
    """Write ``<folder>/<id>.json`` (or ``.json.gz``) in one step and return its path; the folder is made if absent."""
    path = Path(folder) / f"{run.id}.json{'.gz' if compress else ''}"
    text = (json.dumps(to_data(run), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8")
    with atomic.replacing(path) as staged:
        staged.write_bytes(gzip.compress(text, mtime=0) if compress else text)
    return path


def load(path: str | Path) -> Run:
    """Read a Run. :class:`FormatError` where the file is absent, damaged, not a Run, or of a newer format."""
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot read the Run: {error.strerror or error}", path=path) from None
    try:
        data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError) as error:
        raise FormatError(f"not a Run: {error}", path=path) from None
    try:
        return from_data(data)
    except FormatError as error:
        raise FormatError(error.message, hint=error.hint, path=path) from None


def to_data(value: Any) -> Any:
    """The JSON form of a Run or of any part of it; a number that JSON lacks (NaN) becomes ``null``."""
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.astype("<i8", copy=False).tobytes()).decode("ascii")
    if is_dataclass(value) and not isinstance(value, type):
        head = {"format": f"{FORMAT}/{VERSION}", "encoding": ENCODING} if isinstance(value, Run) else {}
        return head | {item.name: to_data(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def from_data(data: Any) -> Run:
    """The Run of its JSON form; :class:`FormatError` where it is none."""
    data = _current(data)
    try:
        return Run(
            **{
                **data,
                "device": DeviceFacts(**data["device"]),
                "workload": WorkloadFacts(**data["workload"]),
                "protocol": Protocol(**{**data["protocol"], "scope": tuple(data["protocol"]["scope"])}),
                "cold_start": ColdStart(**data["cold_start"]),
                "not_measured": _reasons(data["not_measured"]),
                "inputs": tuple(_inputs(item) for item in data["inputs"]),
                "output_check": _optional(_output_check, data["output_check"]),
                "cases": tuple(case_from_data(item) for item in data["cases"]),
                "resources": _optional(_resources, data["resources"]),
                "profile": _optional(profile_from_data, data.get("profile")),
                "invalid": _texts(data["invalid"]),
                "doubts": _texts(data["doubts"]),
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"not a complete Run: {type(error).__name__}: {error}") from None


def case_from_data(data: Mapping[str, Any]) -> Case:
    """The Case of its JSON form (``KeyError``, ``TypeError`` or ``ValueError`` where it is none)."""
    return Case(
        **{
            **data,
            "samples": {name: _nanoseconds(text) for name, text in data["samples"].items()},
            "warmup": {name: _nanoseconds(text) for name, text in data["warmup"].items()},
            "events": _optional(_nanoseconds, data["events"]),
            "enqueue": _optional(_nanoseconds, data["enqueue"]),
            "failures": tuple(Failure(**item) for item in data["failures"]),
            "memory": _optional(_memory, data["memory"]),
            "invalid": _texts(data["invalid"]),
            "doubts": _texts(data["doubts"]),
        }
    )


def profile_from_data(data: Mapping[str, Any]) -> Profile:
    """The Profile of its JSON form (``KeyError`` or ``TypeError`` where it is none)."""
    operators = tuple(Operator(**item) for item in data["operators"])
    return Profile(**{**data, "operators": operators, "reason": _optional(_text, data["reason"])})


def _current(data: Any) -> dict[str, Any]:
    """The data of a Run in today's format, without the head."""
    name, _, version = str(data.get("format") if isinstance(data, dict) else "").rpartition("/")
    if name != FORMAT or not _VERSION.fullmatch(version):
        raise FormatError("not a Run", hint=f'a Run says "format": "{FORMAT}/{VERSION}"')
    if int(version) > VERSION:
        raise FormatError(
            f"this Run has format {version}, this release reads up to {VERSION}", hint="update npueval to read it"
        )
    return {key: value for key, value in data.items() if key not in ("format", "encoding")}


def _text(data: Mapping[str, str]) -> Text:
    return Text(**data)


def _texts(data: Iterable[Mapping[str, str]]) -> tuple[Text, ...]:
    return tuple(_text(item) for item in data)


def _reasons(data: Mapping[str, Mapping[str, str]]) -> dict[str, Text]:
    return {name: _text(reason) for name, reason in data.items()}


def _optional(decode: Callable[[Any], Any], data: Any) -> Any:
    return None if data is None else decode(data)


def _nanoseconds(text: str) -> Nanoseconds:
    # The decoder passes over what is no base64, and then the length tells; its own validation takes twice the time.
    try:
        raw = binascii.a2b_base64(text)
    except binascii.Error as error:
        raise ValueError(f"damaged samples ({error})") from None
    if len(raw) % 8 or len(text) != 4 * math.ceil(len(raw) / 3):
        raise ValueError("damaged samples")
    return np.frombuffer(raw, "<i8").astype(np.int64, copy=False)


def _memory(data: Mapping[str, Any]) -> Memory:
    return Memory(**{name: Reading(reading["value"], _text(reading["reason"])) for name, reading in data.items()})


def _inputs(data: Mapping[str, Any]) -> InputFacts:
    arrays = tuple(ArrayFacts(tuple(item["shape"]), item["dtype"]) for item in data["arrays"])
    return InputFacts(data["batch"], data["sha256"], arrays)


def _output_check(data: Mapping[str, Any]) -> OutputCheck:
    outputs = tuple(OutputFacts(**{**item, "shape": tuple(item["shape"])}) for item in data["outputs"])
    return OutputCheck(**{**data, "outputs": outputs, "reason": _text(data["reason"])})


def _resources(data: Mapping[str, Any]) -> Resources:
    series = {name: tuple(values) for name, values in data["series"].items()}
    return Resources(data["interval_s"], series, _reasons(data["missing"]))
