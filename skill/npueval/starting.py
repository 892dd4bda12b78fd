"""The first step in a project: blank documents and a first plan. Nothing that is there is overwritten."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from npueval import resources
from npueval.documents import layout
from npueval.errors import NpuevalError, Problem

PLAN = "npueval.yaml"


@dataclass(frozen=True)
class Started:
    """What was made, what was moved out of an old layout, and what is odd: links that break, second copies."""

    created: tuple[Path, ...]
    moved: tuple[tuple[Path, Path], ...] = ()
    oddities: tuple[Problem, ...] = ()


def start(project: Path, *, upgrade: bool = False, dry_run: bool = False) -> Started:
    """Give a project its documents and its plan; with ``upgrade``, move documents of an old layout where they belong.

    With ``dry_run`` nothing is written and the answer is what would be. Raises :class:`NpuevalError` where the project
    is no folder or cannot be written to.
    """
    if not project.is_dir():
        raise NpuevalError("no such folder", code="PROJECT_MISSING", path=project)
    folder, plan = project / layout.FOLDER, project / PLAN
    moves = layout.moves(folder) if upgrade else []
    created = [*layout.missing(folder), *([] if plan.exists() else [plan])]
    broken = layout.broken_links(moves)
    if not dry_run:
        _write(folder, plan, upgrade=upgrade)
    return Started(tuple(created), tuple(moves), (*broken, *layout.oddities(folder)))


def _write(folder: Path, plan: Path, *, upgrade: bool) -> None:
    try:
        if upgrade and folder.is_dir():
            layout.upgrade(folder)
        layout.create(folder)
        if not plan.exists():
            plan.write_text(first_plan(plan.absolute().parent.name), encoding="utf-8", newline="\n")
    except OSError as error:
        raise NpuevalError(f"cannot write: {error.strerror}", code="NOT_WRITABLE", path=error.filename) from None


def first_plan(project_name: str) -> str:
    """The text of a plan to start from; a JSON string is a YAML string whatever the name holds."""
    return resources.first_plan().replace("PROJECT_NAME", json.dumps(project_name, ensure_ascii=False))
