"""The plan: what to measure and how (``npueval.yaml``). Every mistake is reported at once, with its line and key."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from npueval.contracts import Pointer, violations
from npueval.errors import PlanError, Problem
from npueval.records import Direction
from npueval.resources import schema

MINIMUM_WARMUP = 10
MINIMUM_ITERATIONS = 100


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
    """Acceptance targets at the target batch; latencies in ms, throughput in the plan's unit, ``margin`` a fraction."""

    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    throughput: float | None = None
    ratio_to_baseline: float | None = None
    margin: float = 0.02
    accuracy: AccuracyTarget | None = None


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
    """A checked plan. ``root`` is its folder, against which every relative path has been resolved."""

    path: Path
    root: Path
    sha256: str
    project: Project
    workload: str
    device: str
    precision: str
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


def load(path: str | Path) -> Plan:
    """Read and check a plan.

    Raises :class:`PlanError` with every problem that was found: unreadable file, YAML syntax, unknown or missing keys,
    values out of range, minimums undercut without a reason.
    """
    path = Path(path).absolute()
    raw = _read(path)
    tree = _parse(raw, path)
    data = _plain(tree)
    problems = [_problem(tree, path, *mistake) for mistake in _mistakes(data)]
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
        raise PlanError(f"the plan has {count}", path=path, problems=problems)
    return _build(data, path, hashlib.sha256(raw).hexdigest())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise PlanError("no such plan", path=path, hint="npueval init PROJECT writes a first one") from None
    except OSError as error:
        raise PlanError(f"cannot read the plan: {error.strerror}", path=path) from None


def _parse(raw: bytes, path: Path) -> CommentedMap:
    try:
        tree = YAML().load(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise PlanError(f"not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}", path=path) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        message = (error.problem or "cannot be parsed").split("\n")[0]
        raise PlanError(f"not YAML: {message}", path=path, line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise PlanError(f"not YAML: {str(error).splitlines()[0]}", path=path) from None
    if not isinstance(tree, CommentedMap):
        raise PlanError("a plan is a mapping of keys to values", path=path, line=1)
    return tree


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


Mistake = tuple[Pointer, str, "str | None", "str | None"]


def _mistakes(data: dict[str, Any]) -> Iterator[Mistake]:
    """(pointer, message, key, hint) of everything that is wrong."""
    found = [(v.pointer, v.message, v.key, v.hint) for v in violations(data, schema("plan"))]
    yield from found
    yield from _not_finite(data, ())
    if not found:
        yield from _below_minimum(data)


def _not_finite(value: Any, pointer: Pointer) -> Iterator[Mistake]:
    if isinstance(value, float) and not math.isfinite(value):
        yield pointer, f"{value} is not a number to plan with", None, None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _not_finite(item, (*pointer, key))


def _below_minimum(data: dict[str, Any]) -> Iterator[Mistake]:
    reasons = data.get("reasons", {})
    for key, minimum in (("warmup", MINIMUM_WARMUP), ("iterations", MINIMUM_ITERATIONS)):
        if data.get(key, minimum) < minimum and key not in reasons:
            yield (
                (key,),
                f"{data[key]} is below the minimum of {minimum}",
                None,
                f"raise it, or say why in reasons.{key}",
            )
    absent = [batch for batch in (1, data["target_batch"]) if batch not in data["batches"]]
    if absent and "batches" not in reasons:
        numbers = ", ".join(str(batch) for batch in dict.fromkeys(absent))
        yield ("batches",), f"batch {numbers} is not measured", None, "add it, or say why in reasons.batches"


def _problem(
    tree: CommentedMap, path: Path, pointer: Pointer, message: str, key: str | None, hint: str | None
) -> Problem:
    dotted = ".".join(str(part) for part in (*pointer, *([key] if key else [])))
    line = _line(tree, pointer if key is None else (*pointer, key))
    return Problem(
        f"{dotted}: {message}" if dotted else message, path=path.name, line=line, key=dotted or None, hint=hint
    )


def _line(tree: Any, pointer: Pointer) -> int:
    """The 1-based line of a value, or of the nearest enclosing one that stands in the file."""
    line = 1
    for part in pointer:
        if not isinstance(tree, CommentedMap | CommentedSeq) or (isinstance(tree, CommentedMap) and part not in tree):
            break
        line = tree.lc.data[part][0] + 1
        tree = tree[part]
    return line


def _build(data: dict[str, Any], path: Path, sha256: str) -> Plan:
    data = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key != "format"}
    nested = {
        "project": Project(**data["project"]),
        "datasets": Datasets(**{use: Dataset(**row) if row else None for use, row in data["datasets"].items()}),
        "targets": _targets(data.get("targets", {})),
        "tolerances": Tolerances(**data.get("tolerances", {})),
        "baseline": BaselineWish(**_with_tuple(data["baseline"], "logs")),
        "request": Request(**_with_tuple(data["request"], "kpis")),
        "training": Training(**data["training"]) if "training" in data else None,
        "documents": path.parent / data["documents"],
        "runs": path.parent / data.get("runs", "runs"),
    }
    return Plan(**{**data, **nested, "path": path, "root": path.parent, "sha256": sha256})


def _targets(data: dict[str, Any]) -> Targets:
    accuracy = data.get("accuracy")
    return Targets(**{**data, "accuracy": AccuracyTarget(**accuracy) if accuracy else None})


def _with_tuple(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {**data, key: tuple(data.get(key, ()))}
