"""``npueval run`` and ``npueval report``: the same answer, with and without measuring first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from npueval import workflow
from npueval.answers import Block
from npueval.cli.base import Reply, verb
from npueval.plaindata import to_plain
from npueval.workflow import Evaluation


def writes_documents(function: Callable[..., Reply]) -> Callable[..., Reply]:
    """The arguments of a command that patches the documents."""
    for option in (
        click.option("--force", multiple=True, metavar="ADDRESS", help="Overwrite a person's text at this place."),
        click.option("--diff", is_flag=True, help="Show the changes of the documents."),
        click.option("--dry-run", is_flag=True, help="Measure and write nothing; show what would change."),
        click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml"),
    ):
        function = option(function)
    return function


@verb("run")
@writes_documents
@click.option("--fresh", is_flag=True, help="Measure again even where nothing has changed since the last Run.")
def command(plan: Path, dry_run: bool, diff: bool, force: tuple[str, ...], fresh: bool) -> Reply:
    """Doctor, check, measure, baseline, compare, report, lint: from the plan to checked documents.

    Exit status 3 where this machine must not or cannot run NPU tests: the block says why and what to run elsewhere.

    \b
    Example:  npueval run npueval.yaml
              npueval run npueval.yaml --dry-run --diff
    """
    return answer(workflow.run(plan, dry_run=dry_run, fresh=fresh, force=force, progress=tell), diff=diff)


def tell(line: str) -> None:
    """Progress goes to stderr."""
    click.echo(line, err=True)


def answer(done: Evaluation, *, diff: bool) -> Reply:
    """The reply of a command that reports."""
    return Reply(_data(done), "\n\n".join(_paragraphs(done, diff=diff)), done.status, done.warnings)


def _data(done: Evaluation) -> dict[str, Any]:
    return {
        "executed": done.comparison.run_id is not None,
        "answer": done.reading.answer.as_json(),
        "comparison": to_plain(done.comparison),
        "documents": {
            "folder": str(done.reading.plan.documents),
            "created": [str(path) for path in done.created],
            "changed": list(done.patch.changed),
            "applied": len(done.patch.applied),
            "conflicts": [asdict(conflict) for conflict in done.patch.conflicts],
        },
        "findings": [asdict(finding) for finding in done.findings],
    }


def _paragraphs(done: Evaluation, *, diff: bool) -> list[str]:
    comparison = done.comparison
    parts = [done.reading.answer.markdown().rstrip()] if isinstance(done.reading.answer, Block) else []
    verdicts = (("性能", comparison.performance), ("精度", comparison.accuracy), ("总体", comparison.total))
    parts.append("\n".join(f"{name}：{each.verdict}（{each.reason}）" for name, each in verdicts))
    if diff and done.patch.diff:
        parts.append(done.patch.diff.rstrip())
    changed = ", ".join(done.patch.changed) or "none"
    parts.append(f"documents: {done.reading.plan.documents}\nchanged: {changed}\nlint: {_lint(done)}")
    return parts


def _lint(done: Evaluation) -> str:
    lines = [f"{each.path}:{each.line}:{each.column} {each.code} {each.message}" for each in done.findings]
    return "\n".join([f"{len(lines)} findings", *lines]) if lines else "clean"
