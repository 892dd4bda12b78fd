"""``npueval run`` and ``npueval report``: the same answer, with and without measuring first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from npueval import workflow
from npueval.cli.base import Reply, verb
from npueval.plaindata import to_plain
from npueval.triggers.answers import Block
from npueval.workflow import Evaluation

_TOLD = 5


def writes_documents(function: Callable[..., Reply]) -> Callable[..., Reply]:
    """The arguments of a command that patches the documents and can show the evaluation in other forms."""
    file = click.Path(path_type=Path, dir_okay=False)
    for option in (
        click.option("--csv", type=file, help="Write every row of the comparison to this file."),
        click.option("--html", type=file, help="Write the whole evaluation to this file, as one page."),
        click.option("--force", multiple=True, metavar="ADDRESS", help="Overwrite a person's text at this place."),
        click.option("--diff", is_flag=True, help="Show the changes of the documents."),
        click.option("--dry-run", is_flag=True, help="Measure and write nothing; show what would change."),
        click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml"),
    ):
        function = option(function)
    return function


@verb("run")
@writes_documents
@click.option("--profile", "profiled", is_flag=True, help="Profile a few iterations after the timing.")
@click.option("--fresh", is_flag=True, help="Measure again even where nothing has changed since the last Run.")
def command(
    plan: Path,
    dry_run: bool,
    diff: bool,
    force: tuple[str, ...],
    fresh: bool,
    profiled: bool,
    html: Path | None,
    csv: Path | None,
) -> Reply:
    """Doctor, check, measure, baseline, compare, report, lint: from the plan to checked documents.

    Exit status 3 where this machine must not or cannot run NPU tests: the block says why and what to run elsewhere.

    \b
    Example:  npueval run npueval.yaml
              npueval run npueval.yaml --dry-run --diff
              npueval run npueval.yaml --html report.html --csv report.csv
    """
    views = wanted_views(html, csv, dry_run=dry_run)
    done = workflow.run(plan, dry_run=dry_run, fresh=fresh, profiled=profiled, force=force, progress=tell)
    return answer(done, diff=diff, views=views)


def tell(line: str) -> None:
    """Progress goes to stderr."""
    click.echo(line, err=True)


def wanted_views(html: Path | None, csv: Path | None, *, dry_run: bool) -> Mapping[str, Path | None]:
    """The files to write; none of them goes together with ``--dry-run``."""
    if dry_run and (html or csv):
        raise click.UsageError("--dry-run writes nothing: leave out --html and --csv")
    return {"html": html, "csv": csv}


def answer(done: Evaluation, *, diff: bool, views: Mapping[str, Path | None]) -> Reply:
    """The reply of a command that reports."""
    kept = [str(path) for path in workflow.keep_views(done, **views)]
    paragraphs = [*_paragraphs(done, diff=diff), *(f"written: {path}" for path in kept)]
    return Reply({**_data(done), "views": kept}, "\n\n".join(paragraphs), done.status, done.warnings)


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
    parts += _doubts(comparison.doubts)
    if diff and done.patch.diff:
        parts.append(done.patch.diff.rstrip())
    changed = ", ".join(done.patch.changed) or "none"
    made = "".join(f"\ncreated: {path}" for path in done.created)
    parts.append(f"documents: {done.reading.plan.documents}{made}\nchanged: {changed}\nlint: {_lint(done)}")
    return parts


def _doubts(found: Sequence[str]) -> list[str]:
    """The first of what a reader must know, and how many more there are."""
    if not found:
        return []
    more = [f"- 另有 {len(found) - _TOLD} 条，见 runs/comparison.json"] * (len(found) > _TOLD)
    return ["\n".join([f"存疑 {len(found)} 条：", *(f"- {doubt}" for doubt in found[:_TOLD]), *more])]


def _lint(done: Evaluation) -> str:
    lines = [f"{each.path}:{each.line}:{each.column} {each.code} {each.message}" for each in done.findings]
    return "\n".join([f"{len(lines)} findings", *lines]) if lines else "clean"
