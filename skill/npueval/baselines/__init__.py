"""Find, rank and keep baselines: scan a tree for logs, choose the one that the plan can be held against."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npueval import metrics, runs
from npueval.baselines import scanning
from npueval.baselines.scanning import Progress
from npueval.errors import FormatError
from npueval.logs.assessing import CONDITIONS, NoBaseline, assess, is_complete
from npueval.logs.extracting import Extract, extract
from npueval.plaindata import from_plain, to_plain
from npueval.plan import Plan
from npueval.records import Baseline, Fact, Grade
from npueval.runs import Run

FORMAT = "npueval/baseline"
VERSION = 1
BROUGHT = "gpu_baseline.json"
"""Where the figures of another tool lie that the user brought from a GPU, in the plan's folder of Runs."""


@dataclass(frozen=True)
class Candidate:
    """A run in a log that can serve as a baseline. ``lines`` are the first and last line of the run."""

    path: str
    format: str
    lines: tuple[int, int]
    baseline: Baseline

    @property
    def complete(self) -> bool:
        """Whether it holds a metric, a data set or split, an environment, and a batch or hyper-parameters."""
        return is_complete(self.baseline)


@dataclass(frozen=True)
class Rejected:
    """A file (or one run of it) that is no baseline, and why (Chinese)."""

    path: str
    reason: str


@dataclass(frozen=True)
class Scan:
    """Every candidate of a tree, the best first, and every file that looked like a log and is none."""

    root: str
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    files: int


def scan(root: Path, globs: Sequence[str] = (), progress: Progress | None = None) -> Scan:
    """Read every log under ``root`` (matching ``globs``, relative to it) and rank the runs in them."""
    candidates: list[Candidate] = []
    rejected: list[Rejected] = []
    paths = list(scanning.files(root, globs, progress))
    for path in paths:
        for found in _judge(extract(path, path.relative_to(root).as_posix())):
            if isinstance(found, Candidate):
                candidates.append(found)
            else:
                rejected.append(found)
    return Scan(str(root), tuple(sorted(candidates, key=_rank)), tuple(rejected), len(paths))


def best(found: Scan, plan: Plan) -> Baseline:
    """The candidate that serves the plan best; without one a Baseline of source ``none`` that says why."""
    if found.candidates:
        return min(
            found.candidates, key=lambda candidate: (not _has_target(candidate, plan), *_rank(candidate))
        ).baseline
    where = "、".join(plan.baseline.logs) or "整个项目"
    reasons = "；".join(f"{item.path}：{item.reason}" for item in found.rejected[:3])
    reason = f"在 {where} 中没有找到可作基线的日志" + (f"（{reasons}）" if reasons else "")
    return Baseline(source="none", grade=Grade.NONE, reason=reason)


def brought(plan: Plan) -> Baseline | None:
    """The figures that were ingested for a plan in another form than a Run, if any."""
    path = plan.runs / BROUGHT
    return load(path) if path.exists() else None


def save(baseline: Baseline, path: Path) -> None:
    """Write a Baseline as JSON, in one step."""
    data = {"format": f"{FORMAT}/{VERSION}", **to_plain(baseline)}
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    staged.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    staged.replace(path)


def load(path: Path) -> Baseline:
    """Read a Baseline. :class:`FormatError` where the file is absent, damaged, no Baseline, or of a newer format."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"cannot read the baseline: {error}", path=path) from None
    return from_data(data, path)


def load_any(path: Path) -> tuple[Baseline, Run | None]:
    """A baseline file, or a Run that serves as one: the Baseline and, where there is one, the Run."""
    try:
        return load(path), None
    except FormatError as error:
        try:
            run = runs.load(path)
        except FormatError as other:
            raise FormatError(
                "neither a baseline nor a Run", path=path, hint=f"{error.message}; {other.message}"
            ) from None
    return of_run(run), run


def of_run(run: Run) -> Baseline:
    """A Run as a baseline: the facts of its environment. Its figures stay in the Run, with their samples."""
    packages = run.environment.get("packages") or {}
    facts = {
        "device": run.device.model,
        "device_kind": {"cuda": "gpu"}.get(run.device.kind, run.device.kind),
        "framework": ", ".join(f"{name} {packages[name]}" for name in ("torch", "numpy") if packages.get(name)),
        "batch": ", ".join(dict.fromkeys(str(case.batch) for case in run.cases)),
        "precision": run.precision,
        "cards": str(run.cards),
        "date": run.created[:10],
    }
    known = {key: Fact(value) for key, value in facts.items() if value}
    return Baseline(source="gpu", grade=Grade.B, facts=known, doubts=tuple(run.all_doubts()))


def from_data(data: Any, path: Path | None = None) -> Baseline:
    """The Baseline of its JSON form; :class:`FormatError` where it is none."""
    name, _, version = str(data.get("format") if isinstance(data, dict) else "").rpartition("/")
    if name != FORMAT or not version.isdigit():
        raise FormatError("not a baseline", path=path, hint=f'it must say "format": "{FORMAT}/{VERSION}"')
    if int(version) > VERSION:
        message = f"this baseline has format {version}, this release reads up to {VERSION}"
        raise FormatError(message, path=path, hint="update npueval to read it")
    return from_plain(Baseline, {key: value for key, value in data.items() if key != "format"})


def _judge(extract: Extract) -> Iterator[Candidate | Rejected]:
    if extract.rejected:
        yield Rejected(extract.path, extract.rejected)
    several = (f"文件里有 {len(extract.runs)} 次运行，各自单列",) if len(extract.runs) > 1 else ()
    for run in extract.runs:
        lines = (run.first_line, run.last_line)
        try:
            yield Candidate(extract.path, run.format, lines, assess(run, (*extract.doubts, *several)))
        except NoBaseline as error:
            yield Rejected(f"{extract.path}:{run.first_line}", str(error))


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    """Complete before partial, less missing, fewer doubts, more figures, the later run of a file, then by name."""
    baseline = candidate.baseline
    absent = sum(name in baseline.missing for name in CONDITIONS)
    doubts, figures = len(baseline.doubts), len(baseline.figures)
    return (absent, baseline.grade.value, doubts, -figures, candidate.path, -candidate.lines[0])


def _has_target(candidate: Candidate, plan: Plan) -> bool:
    target = plan.targets.accuracy
    if target is None:
        return True
    wanted = metrics.canonical(target.metric)
    return any(metrics.canonical(figure.metric) == wanted for figure in candidate.baseline.figures)
