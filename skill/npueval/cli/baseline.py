"""``skill baseline``: find and read logs, build the kit for a GPU host, take in what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, verb
from npueval.errors import Exit

if TYPE_CHECKING:
    from npueval.baselines import Candidate, Scan
    from npueval.logs.extracting import Extract
    from npueval.logs.logged import LoggedRun, Series
    from npueval.records import Figure


@click.group("baseline")
def command() -> None:
    """Find baselines in logs; build the kit for a GPU host; take in what comes back.

    \b
    Example:  npueval baseline scan .
              npueval baseline kit npueval.yaml -o kit.pyz
    """


@command.add_command
@verb("baseline scan", short_help="Find, rank and explain the logs of a folder.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--glob", "globs", multiple=True, metavar="GLOB", help="Only files that match, as in logs/**/*.log.")
def scan(folder: Path, globs: tuple[str, ...]) -> Reply:
    """Find every log under FOLDER, rank the runs in them as baselines, say what each lacks.

    Exit status 1 where no log can be a baseline.

    \b
    Example:  npueval baseline scan . --glob 'logs/**/*.log'
    """
    from npueval import baselines

    with _progress() as tell:
        found = baselines.scan(folder, globs, tell)
    return Reply(_scan_data(found), _scan_text(found), Exit.OK if found.candidates else Exit.FINDINGS)


@command.add_command
@verb("baseline extract", short_help="Show everything that one log says.")
@click.argument("file", type=click.Path(path_type=Path))
def extract(file: Path) -> Reply:
    """Show everything that a log says: its runs, their series, facts and doubts, each with its line.

    \b
    Example:  npueval baseline extract logs/train.log --json
    """
    from npueval.logs.extracting import extract as read

    found = read(file)
    return Reply(_extract_data(found), _extract_text(found), Exit.OK if found.runs else Exit.FINDINGS)


@contextmanager
def _progress() -> Iterator[Callable[[int, str], None] | None]:
    """A line that counts the files, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("scanning") as status:

        def tell(seen: int, path: str) -> None:
            if seen % 50 == 0:
                status.update(f"{seen} files  {path[-60:]}")

        yield tell


def _scan_data(found: Scan) -> dict[str, Any]:
    from npueval.plaindata import to_plain

    return {
        "root": found.root,
        "files_read": found.files,
        "candidates": [
            {"path": item.path, "format": item.format, "lines": item.lines, "complete": item.complete}
            | {"baseline": to_plain(item.baseline)}
            for item in found.candidates
        ],
        "rejected": [asdict(item) for item in found.rejected],
    }


def _scan_text(found: Scan) -> str:
    parts = [_candidate_text(rank, item) for rank, item in enumerate(found.candidates, start=1)]
    parts += [f"rejected  {item.path}: {item.reason}" for item in found.rejected]
    return "\n".join([*parts, f"{found.files} logs read, {len(found.candidates)} candidates"])


def _candidate_text(rank: int, item: Candidate) -> str:
    baseline = item.baseline
    first, last = item.lines
    lines = [
        f"{rank}. {item.path}:{first}-{last}  {item.format}, grade {baseline.grade.value}, "
        + ("complete" if item.complete else "partial")
    ]
    lines += [f"     {_figure_text(figure)}" for figure in baseline.figures]
    lines += [f"     missing: {'、'.join(baseline.missing)}"] * bool(baseline.missing)
    lines += [f"     doubt: {doubt}" for doubt in baseline.doubts]
    return "\n".join(lines)


def _figure_text(figure: Figure) -> str:
    return f"{figure.metric} = {figure.value:g} {figure.unit}  [{figure.source}]  {figure.original}"


def _extract_data(found: Extract) -> dict[str, Any]:
    head = {name: getattr(found, name) for name in ("path", "rejected", "lines", "encoding", "compression", "doubts")}
    return {**head, "runs": [_run_data(run) for run in found.runs]}


def _run_data(run: LoggedRun) -> dict[str, Any]:
    from npueval.plaindata import to_plain

    return {
        "format": run.format,
        "lines": [run.first_line, run.last_line],
        "finished": run.finished,
        "facts": {key: to_plain(fact) for key, fact in run.facts.items()},
        "conflicts": {key: to_plain(facts) for key, facts in run.conflicts.items()},
        "doubts": list(run.doubts),
        "series": [
            {
                "metric": series.column.metric,
                "phase": series.phase,
                "unit": series.column.unit,
                "per": series.column.per,
                "count": series.count,
                "not_finite": series.not_finite,
                "last": None if series.count == 0 else series.last,
                "best": None if series.count == 0 else series.best,
                "values": list(series.values),
                "lines": list(series.lines),
                "epochs": list(series.epochs),
                "steps": [step if step < float("inf") else None for step in series.steps],
            }
            for series in run.series.values()
        ],
    }


def _extract_text(found: Extract) -> str:
    if not found.runs:
        return "\n".join([f"{found.path}: {found.rejected}", *(f"doubt: {doubt}" for doubt in found.doubts)])
    parts = [f"{found.path}: {found.lines} lines, {found.encoding} {found.compression}".rstrip()]
    parts += [f"doubt: {doubt}" for doubt in found.doubts]
    return "\n".join([*parts, *(line for run in found.runs for line in _run_lines(run))])


def _run_lines(run: LoggedRun) -> Iterator[str]:
    yield f"run {run.path}:{run.first_line}-{run.last_line}  {run.format}{', finished' if run.finished else ''}"
    for key, fact in run.facts.items():
        yield f"  {key}: {fact.value}  [{fact.source}]"
    for key, facts in run.conflicts.items():
        yield f"  conflict {key}: " + " / ".join(f"{fact.value} [{fact.source}]" for fact in facts)
    yield from (f"  {_series_text(run, series)}" for series in run.series.values())
    yield from (f"  doubt: {doubt}" for doubt in run.doubts)


def _series_text(run: LoggedRun, series: Series) -> str:
    text = f"{series.phase} {series.column.metric} {series.column.unit}".rstrip() + f": {series.count} values"
    if series.count:
        text += f", last {series.last:g} [{run.path}:{series.last_at[0]}], best {series.best:g} [{series.best_at[0]}]"
    return text + (f", {series.not_finite} NaN/Inf [{series.first_not_finite}]" if series.not_finite else "")
