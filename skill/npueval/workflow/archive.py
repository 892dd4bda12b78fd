"""What is kept beside the plan: the Runs, and the answers that are written anew each time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npueval import atomic, runs
from npueval.errors import FormatError, NpuevalError
from npueval.language import Text
from npueval.plan import Plan
from npueval.possible import unbelievable
from npueval.runs import Run
from npueval.workflow import freshness
from npueval.workloads.needs import changed

_OTHER_PLAN = Text("计划已改变", "measured by another version of the plan (its batches, precision, … differ)")
_OTHER_FILES = Text("{names} 已改变", "measured with other files than are here now: {names}")


@dataclass(frozen=True)
class Archive:
    """The Runs of a plan's folder, the newest first; ``passed_over`` names the files that were not used.

    ``outdated`` says for each kind of device why its newest Run of an older plan or workload no longer counts.
    """

    runs: tuple[tuple[Path, Run], ...]
    passed_over: tuple[str, ...] = ()
    outdated: Mapping[str, str] = field(default_factory=dict)

    def newest(self, kind: str, precision: str) -> Run | None:
        """The newest in-process Run on a kind of device (``npu``, ``cuda``, ``cpu``) at a precision."""
        wanted = kind, precision, "in-process"
        return next((run for _, run in self.runs if (run.device.kind, run.precision, run.scope) == wanted), None)

    def still_valid(self, plan: Plan, device: str, environment: str) -> Run | None:
        """The newest Run of a device (and of the plan's first precision), where measuring again would change nothing.

        That is: the plan (which made every Run here), the card where one is named, the workload, the files it needs and
        the machine (``environment`` is its digest) are what they were, and the Run is complete and valid.
        """
        kind, _, card = device.partition(":")
        run = self.newest(kind, plan.precision)
        if run is None or not (run.complete and run.valid) or run.environment.get("digest") != environment:
            return None
        if card and str(run.device.index) != card:
            return None
        workload = plan.root / plan.workload.partition(":")[0]
        return None if any(changed(run.workload.files(workload.name), workload.parent)) else run

    def files(self, root: Path) -> dict[str, str]:
        """The path of each Run, relative to the project."""
        return {run.id: _relative(path, root) for path, run in self.runs}


def open_archive(plan: Plan) -> Archive:
    """Read every Run in the plan's folder that was made by this very plan, at one of its precisions, with these files.

    What a GPU measured is a baseline: with which files it was is a condition of the comparison.
    """
    found: list[tuple[Path, Run]] = []
    outdated: list[tuple[Run, str]] = []
    passed_over = []
    for path in _run_files(plan.runs):
        try:
            run = runs.load(path)
        except FormatError as error:
            passed_over.append(f"{path.name}: {error.message}")
            continue
        reason = _outdated(run, plan)
        if reason is not None:
            outdated.append((run, reason.zh))
            passed_over.append(f"{path.name}: {reason.en}")
        elif untrue := unbelievable(run):
            passed_over.append(f"{path.name}: {untrue}")
        else:
            found.append((path, run))
    found.sort(key=lambda item: (item[1].created, item[1].id), reverse=True)
    outdated.sort(key=lambda item: (item[0].created, item[0].id))
    return Archive(tuple(found), tuple(passed_over), {run.device.kind: reason for run, reason in outdated})


def _outdated(run: Run, plan: Plan) -> Text | None:
    """Why a Run is none of this plan and these files any more."""
    if run.plan_sha256 not in {each.sha256 for each in plan.each()}:
        return _OTHER_PLAN
    names = freshness.altered(run.workload, plan) if run.device.kind != "cuda" else []
    return _OTHER_FILES.filled({"names": ", ".join(names)}) if names else None


def overtaken(plan: Plan, run: Run | None) -> str:
    """What the report will use instead of what was just brought (a ``run``, or ``None`` for figures of a GPU): a note.

    Empty where it uses that.
    """
    stock = open_archive(plan)
    kind, precision = (run.device.kind, run.precision) if run else ("cuda", plan.precision)
    used = stock.newest(kind, precision)
    if used is None or (run and used.id == run.id):
        return ""
    return f"the report uses {used.id}, {'which is newer' if run else 'a measurement with all its samples'}"


def _run_files(folder: Path) -> Iterator[Path]:
    """The files that say in their first bytes that they are Runs (other JSON lies beside them), and all packed ones."""
    yield from sorted(folder.glob("*.json.gz"))
    for path in sorted(folder.glob("*.json")):
        with path.open("rb") as file:
            if b'"npueval/run/' in file.read(200):
                yield path


def keep(path: Path, content: str | dict[str, Any]) -> Path:
    """Write an answer beside the Runs, in one step and only where it changed."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    data = text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if atomic.read(path) != data:
            atomic.write(path, data)
    except OSError as error:
        raise NpuevalError(f"cannot write: {error.strerror}", code="NOT_WRITABLE", path=path) from None
    return path


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
