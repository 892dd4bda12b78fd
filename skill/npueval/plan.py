"""The plan: what to measure and how (``npueval.yaml``). Every mistake is reported at once, with its line and key."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from npueval import globs, yamlfile
from npueval.contracts import Pointer, Violation, violations
from npueval.errors import PlanError, Problem
from npueval.records import Direction
from npueval.resources import schema

MINIMUM_WARMUP = 10
MINIMUM_ITERATIONS = 100

DECIDING = (
    "workload",
    "precision",
    "precision_mode",
    "batches",
    "target_batch",
    "concurrency",
    "arrival_rates",
    "warmup",
    "iterations",
    "seed",
    "unit",
    "segments",
)
"""The fields that decide what is measured and how."""


@dataclass(frozen=True)
class Project:
    name: str
    repository: str | None = None
    owner: str | None = None
    checkpoint: str | None = None


@dataclass(frozen=True)
class Dataset:
    """One use of a data set: the row of Mig_Readme §3.1 that it fills."""

    name: str
    subset: str
    path: str
    same_as_baseline: str | None = None


@dataclass(frozen=True)
class Datasets:
    """The six uses of Mig_Readme §3.1; ``None`` where a use does not apply to the project."""

    short_test: Dataset | None
    smoke: Dataset | None
    golden: Dataset | None
    full: Dataset | None
    training: Dataset | None
    inference: Dataset | None


@dataclass(frozen=True)
class AccuracyTarget:
    """When the accuracy is good enough: an absolute bound, a share of the baseline, or a largest drop from it."""

    metric: str
    direction: Direction
    minimum: float | None = None
    min_ratio: float | None = None
    max_drop: float | None = None


@dataclass(frozen=True)
class Targets:
    """Acceptance targets of the target case; latencies in ms, throughput in the plan's unit, ``margin`` a fraction."""

    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    throughput: float | None = None
    ratio_to_baseline: float | None = None
    margin: float = 0.02
    accuracy: AccuracyTarget | None = None

    def lifted(self) -> Targets:
        """The same metric and margin without any bound: measured and shown, not judged."""
        accuracy = self.accuracy and AccuracyTarget(self.accuracy.metric, self.accuracy.direction)
        return Targets(margin=self.margin, accuracy=accuracy)


@dataclass(frozen=True)
class Tolerances:
    """Overrides of the element-wise tolerances that the precision implies."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True)
class BaselineWish:
    """Where a baseline may come from: log patterns, the user's GPU (facts), and whether a CPU column is wanted."""

    logs: tuple[str, ...]
    gpu: Mapping[str, str] = field(default_factory=dict)
    cpu: bool = False

    @property
    def gpu_visible(self) -> str:
        """``CUDA_VISIBLE_DEVICES`` on the user's GPU host."""
        return self.gpu.get("visible_devices", "0")


@dataclass(frozen=True)
class Training:
    """What a training test watches, for how many steps, and after how many idle steps the code is suspected."""

    metric: str = "loss"
    steps: int = 50
    stagnation_steps: int = 500


@dataclass(frozen=True)
class Request:
    """What the user asked for and agreed to; the triggers read it."""

    performance: bool
    accuracy: bool
    agreed: bool
    kpis: tuple[str, ...] = ()
    offline_results: bool = False


@dataclass(frozen=True)
class Plan:
    """A checked plan. ``root`` is its folder, against which every relative path has been resolved.

    The target case is the target batch at the first precision under the first load: ``targets`` and ``tolerances``
    are of that one.
    """

    path: Path
    root: Path
    project: Project
    workload: str
    device: str
    precisions: tuple[str, ...]
    batches: tuple[int, ...]
    target_batch: int
    seed: int
    unit: str
    segments: tuple[str, ...]
    datasets: Datasets
    baseline: BaselineWish
    documents: Path
    runs: Path
    request: Request
    precision_mode: str = "cast"
    concurrency: tuple[int, ...] = (1,)
    arrival_rates: tuple[float, ...] = ()
    warmup: int = MINIMUM_WARMUP
    iterations: int = MINIMUM_ITERATIONS
    case_timeout_s: float = 600.0
    targets: Targets = field(default_factory=Targets)
    tolerances: Tolerances = field(default_factory=Tolerances)
    training: Training | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def device_kind(self) -> str:
        """``npu``, ``cuda`` or ``cpu``, without the card's number."""
        return self.device.partition(":")[0]

    @property
    def precision(self) -> str:
        """The precision that is measured first, and judged."""
        return self.precisions[0]

    def at(self, precision: str) -> Plan:
        """The plan at one of its precisions: a Run is of one, for the workload is loaded in one.

        Targets and tolerances stay with the first: what else is measured is shown beside it.
        """
        if precision == self.precision:
            return replace(self, precisions=(precision,))
        return replace(self, precisions=(precision,), targets=self.targets.lifted(), tolerances=Tolerances())

    def each(self) -> tuple[Plan, ...]:
        """The plan at each of its precisions."""
        return tuple(map(self.at, self.precisions))

    @property
    def sha256(self) -> str:
        """The hash of what decides the figures at the first precision; a Run is of this plan as long as it stays.

        Targets, documents and the like are left out: editing them costs no measurement. So are the device, which each
        Run names itself, and further precisions, whose Runs have the hash of :meth:`at`.
        """
        said = {name: getattr(self, name) for name in DECIDING}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode("utf-8")).hexdigest()


def load(path: str | Path) -> Plan:
    """Read and check a plan.

    Raises :class:`PlanError` with every problem that was found: unreadable file, YAML syntax, unknown or missing keys,
    values out of range, minimums undercut without a reason.
    """
    path = Path(path).absolute()
    file = _read(path)
    problems = [_problem(file, path, violation) for violation in _mistakes(file.data)]
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
        raise PlanError(f"the plan has {count}", path=path, problems=problems)
    return _build(file.data, path)


def _read(path: Path) -> yamlfile.YamlFile:
    if not path.exists():
        raise PlanError("no such plan", path=path, hint="npueval init PROJECT writes a first one")
    try:
        return yamlfile.read(path)
    except yamlfile.YamlError as error:
        raise PlanError(error.message, path=path, line=error.line) from None


def _mistakes(data: dict[str, Any]) -> Iterator[Violation]:
    found = violations(data, schema("plan"))
    yield from found
    yield from _not_finite(data, ())
    if not found:
        yield from _below_minimum(data)
        yield from _leading_out(data)


def _not_finite(value: Any, pointer: Pointer) -> Iterator[Violation]:
    if isinstance(value, float) and not math.isfinite(value):
        yield Violation(pointer, f"{value} is not a number to plan with")
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _not_finite(item, (*pointer, key))


def _leading_out(data: dict[str, Any]) -> Iterator[Violation]:
    for place, glob in enumerate(data["baseline"]["logs"]):
        if globs.leads_out(glob):
            hint = "copy the logs into the project; patterns are relative to the plan, like logs/*.log"
            yield Violation(("baseline", "logs", place), f"{glob!r} leads out of the plan's folder", hint=hint)


def _below_minimum(data: dict[str, Any]) -> Iterator[Violation]:
    reasons = data.get("reasons", {})
    for key, minimum in (("warmup", MINIMUM_WARMUP), ("iterations", MINIMUM_ITERATIONS)):
        if data.get(key, minimum) < minimum and key not in reasons:
            message = f"{data[key]} is below the minimum of {minimum}"
            yield Violation((key,), message, hint=f"raise it, or say why in reasons.{key}")
    absent = [batch for batch in (1, data["target_batch"]) if batch not in data["batches"]]
    if absent and "batches" not in reasons:
        numbers = ", ".join(str(batch) for batch in dict.fromkeys(absent))
        message = f"batch {numbers} is not measured"
        yield Violation(("batches",), message, hint="add it, or say why in reasons.batches")


def _problem(file: yamlfile.YamlFile, path: Path, violation: Violation) -> Problem:
    pointer = (*violation.pointer, *([violation.key] if violation.key else []))
    key = ".".join(str(part) for part in pointer)
    message = f"{key}: {violation.message}" if key else violation.message
    return Problem(message, path=path.name, line=file.line(pointer), key=key or None, hint=violation.hint)


def _build(data: dict[str, Any], path: Path) -> Plan:
    data = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key != "format"}
    nested = {
        "project": Project(**data["project"]),
        "datasets": Datasets(**{use: Dataset(**row) if row else None for use, row in data["datasets"].items()}),
        "targets": _targets(data.get("targets", {})),
        "tolerances": Tolerances(**data.get("tolerances", {})),
        "baseline": BaselineWish(**_with_tuple(data["baseline"], "logs")),
        "request": Request(**_with_tuple(data["request"], "kpis")),
        "training": Training(**data["training"]) if "training" in data else None,
        "precisions": (given,) if isinstance(given := data.pop("precision"), str) else given,
        "documents": path.parent / data["documents"],
        "runs": path.parent / data.get("runs", "runs"),
    }
    return Plan(**{**data, **nested, "path": path, "root": path.parent})


def _targets(data: dict[str, Any]) -> Targets:
    accuracy = data.get("accuracy")
    return Targets(**{**data, "accuracy": AccuracyTarget(**accuracy) if accuracy else None})


def _with_tuple(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {**data, key: tuple(data.get(key, ()))}
