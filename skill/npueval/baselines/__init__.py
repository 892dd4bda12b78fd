"""Baselines: found in logs and ranked, brought from another host, kept as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npueval import atomic, runs
from npueval.baselines.candidates import Candidate, Rejected, Scan, best, judged, scan
from npueval.contracts import Violation, violations
from npueval.errors import FormatError, Problem
from npueval.plaindata import body_of, from_plain, versioned
from npueval.plan import Plan
from npueval.records import Baseline, Fact, Grade
from npueval.resources import schema
from npueval.runs import Run

__all__ = [
    "BROUGHT",
    "ORIGINALS",
    "Candidate",
    "Rejected",
    "Scan",
    "best",
    "brought",
    "from_data",
    "judged",
    "load",
    "load_any",
    "of_run",
    "save",
    "scan",
]

FORMAT = "npueval/baseline"
VERSION = 1
BROUGHT = "gpu_baseline.json"
"""Where the figures of another tool lie that the user brought from a GPU, in the plan's folder of Runs."""
ORIGINALS = "brought"
"""The folder beside it for the files that they were read from."""


def brought(plan: Plan) -> Baseline | None:
    """The figures that were ingested for a plan in another form than a Run, if any."""
    path = plan.runs / BROUGHT
    return load(path) if path.exists() else None


def save(baseline: Baseline, path: Path) -> None:
    """Write a Baseline as JSON, in one step."""
    data = versioned(FORMAT, VERSION, baseline)
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    with atomic.replacing(path) as staged:
        staged.write_text(text, encoding="utf-8", newline="\n")


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
    held = run.environment.get("packages")
    packages = held if isinstance(held, Mapping) else {}
    facts = {
        "device": run.device.model,
        "device_kind": {"cuda": "gpu"}.get(run.device.kind, run.device.kind),
        "framework": ", ".join(f"{name} {packages[name]}" for name in ("torch", "numpy") if packages.get(name)),
        "batch": ", ".join(dict.fromkeys(str(case.batch) for case in run.cases if case.batch)),
        "precision": run.precision,
        "cards": str(run.cards),
        "date": run.created[:10],
    }
    known = {key: Fact(value) for key, value in facts.items() if value}
    return Baseline(source="gpu", grade=Grade.B, facts=known, doubts=tuple(doubt.zh for doubt in run.all_doubts()))


def from_data(data: Any, path: Path | None = None) -> Baseline:
    """The Baseline of its JSON form; :class:`FormatError` where it is none."""
    body = body_of(data, FORMAT, VERSION, "baseline", path)
    if found := violations(data, schema("baseline")):
        raise FormatError("not a baseline", path=path, problems=[_problem(each) for each in found])
    return from_plain(Baseline, body)


def _problem(violation: Violation) -> Problem:
    place = ".".join(map(str, violation.pointer))
    return Problem(f"{place}: {violation.message}" if place else violation.message, hint=violation.hint)
