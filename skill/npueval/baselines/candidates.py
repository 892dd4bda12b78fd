"""Scan a tree for logs, rank the runs in them as baselines, and choose the one that serves a plan best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from npueval import metrics
from npueval.baselines import scanning
from npueval.baselines.neighbours import Neighbourhood
from npueval.baselines.scanning import Progress
from npueval.logs.assessing import CONDITIONS, NoBaseline, assess, is_complete
from npueval.logs.extracting import Extract, extract
from npueval.logs.quoting import visible
from npueval.plan import Plan
from npueval.records import Baseline, Grade

_TIMESTAMPED = re.compile(r"\d{8}_\d{6}")


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
    """Every candidate of a tree, the best first, and every file that looked like a log and is none.

    ``npu_training`` are the logs of a training on an NPU, whether or not they can be a baseline.
    """

    root: str
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    files: int
    npu_training: tuple[str, ...] = ()


def scan(root: Path, globs: Sequence[str] = (), progress: Progress | None = None) -> Scan:
    """Read every log under ``root`` (matching ``globs``, relative to it) and rank the runs in them."""
    candidates: list[Candidate] = []
    rejected: list[Rejected] = []
    on_npu: list[str] = []
    around = Neighbourhood(root)
    paths = list(scanning.files(root, globs, progress))
    for number, path in enumerate(paths, start=1):
        shown = visible(path.relative_to(root).as_posix())
        if progress:
            progress(number, len(paths), shown)
        extracted = extract(path, shown)
        if any(run.trained_on("npu") for run in extracted.runs):
            on_npu.append(extracted.path)
        if extracted.rejected:
            rejected.append(Rejected(extracted.path, extracted.rejected))
        for found in _judged(extracted, path, around):
            if isinstance(found, Candidate):
                candidates.append(found)
            else:
                rejected.append(found)
    candidates = sorted(_parts_doubted(candidates), key=_rank)
    return Scan(str(root), tuple(candidates), tuple(rejected), len(paths), tuple(on_npu))


def best(found: Scan, plan: Plan) -> Baseline:
    """The candidate that serves the plan best; without one a Baseline of source ``none`` that says why."""
    if found.candidates:
        return min(
            found.candidates, key=lambda candidate: (not _has_target(candidate, plan), *_rank(candidate))
        ).baseline
    where = "、".join(plan.baseline.logs) or "整个项目"
    doubts = tuple(f"{item.path}：{item.reason}" for item in found.rejected)
    return Baseline(source="none", grade=Grade.NONE, doubts=doubts, reason=f"{where}中没有可作基线的日志")


def judged(extract: Extract, path: Path) -> list[Candidate | Rejected]:
    """What each run of one log is worth, with what the files beside it say; its facts come to hold that too."""
    return list(_judged(extract, path, Neighbourhood(path.parent)))


def _judged(extract: Extract, path: Path, around: Neighbourhood) -> Iterator[Candidate | Rejected]:
    several = (f"文件里有 {len(extract.runs)} 次运行，各自单列",) if len(extract.runs) > 1 else ()
    for run in extract.runs:
        lines = (run.first_line, run.last_line)
        if run.fact("device_kind") == "npu":
            yield Rejected(f"{extract.path}:{run.first_line}", "在 NPU 上运行，是迁移后的一侧，不能作基线")
            continue
        try:
            told = around.complete(run, path)
            yield Candidate(extract.path, run.format, lines, assess(run, (*extract.doubts, *several, *told)))
        except NoBaseline as error:
            yield Rejected(f"{extract.path}:{run.first_line}", str(error))


def _parts_doubted(candidates: list[Candidate]) -> Iterator[Candidate]:
    """Several timestamped logs in one folder may be one training in parts: every resume writes another file."""
    together: dict[tuple[PurePosixPath, str], set[str]] = {}
    for item in candidates:
        path = PurePosixPath(item.path)
        if _TIMESTAMPED.search(path.name):
            together.setdefault((path.parent, item.format), set()).add(path.name)
    for item in candidates:
        path = PurePosixPath(item.path)
        names = together.get((path.parent, item.format), set())
        if path.name in names and len(names) > 1:
            doubt = f"同目录有 {len(names)} 个同类日志（{'、'.join(sorted(names)[:3])}），可能是一次训练续训拆成的几段"
            baseline = item.baseline
            item = replace(item, baseline=replace(baseline, doubts=(*baseline.doubts, doubt)))
        yield item


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
