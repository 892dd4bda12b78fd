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
    from npueval.kit.ingest import Ingested
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


@command.add_command
@verb("baseline kit", short_help="Build the one-file measurement for a GPU host.")
@click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml")
@click.option("-o", "target", type=click.Path(path_type=Path), default="gpu_kit.pyz", help="Where to write the kit.")
def kit(plan: Path, target: Path) -> Reply:
    """Pack the measuring code, the plan, the workload with what it needs, and golden outputs into one file.

    It runs on a host with nothing but Python, torch and numpy, and writes one result file to bring back.

    \b
    Example:  npueval baseline kit npueval.yaml -o gpu_kit.pyz
              python gpu_kit.pyz --device cuda:0            (there)
              npueval baseline ingest gpu_result-….json     (here again)
    """
    from npueval import plan as plans
    from npueval.kit import building

    made = building.build(plans.load(plan), target)
    data = {"path": str(made.path), "manifest_sha256": made.manifest.sha256, "files": sorted(made.manifest.files)}
    size = made.path.stat().st_size / 1e6
    return Reply(data, f"{made.path}  {size:.1f} MB, {len(made.manifest.files)} files\nthere: python {made.path.name}")


@command.add_command
@verb("baseline ingest", short_help="Check what came back from the GPU host and keep it.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--plan", type=click.Path(path_type=Path), default="npueval.yaml", show_default=True)
@click.option("--fact", "facts", multiple=True, metavar="KEY=VALUE", help="What the file does not say, as batch=8.")
def ingest(file: Path, plan: Path, facts: tuple[str, ...]) -> Reply:
    """Take in a kit's result, or figures of trtexec, vLLM, ais_bench, our CSV or a log, each at its grade.

    Exit status 1 where a check failed, so that the result is of a lower grade than its form could have.

    \b
    Example:  npueval baseline ingest gpu_result-20260101T000000Z-cuda-1a2b.json
              npueval baseline ingest times.json --fact batch=8 --fact device='NVIDIA A100'
    """
    from npueval import plan as plans
    from npueval.kit.ingest import ingest as take_in

    done = take_in(file, plans.load(plan), _pairs(facts))
    return Reply(_ingested_data(done), _ingested_text(done), _ingested_status(done), done.baseline.doubts)


def _pairs(facts: tuple[str, ...]) -> dict[str, str]:
    pairs = dict(fact.partition("=")[::2] for fact in facts)
    if not all(key and value for key, value in pairs.items()):
        raise click.UsageError("--fact takes KEY=VALUE")
    return pairs


def _ingested_status(done: Ingested) -> Exit:
    return Exit.OK if all(check.passed for check in done.checks) else Exit.FINDINGS


def _ingested_data(done: Ingested) -> dict[str, Any]:
    from npueval.plaindata import to_plain

    checks = [asdict(check) for check in done.checks]
    return {"path": str(done.path), "grade": done.grade.value, "checks": checks, "baseline": to_plain(done.baseline)}


def _ingested_text(done: Ingested) -> str:
    lines = [f"{'ok  ' if each.passed else 'FAIL'} {each.name}  {each.detail}".rstrip() for each in done.checks]
    return "\n".join([*lines, f"grade {done.grade.value}: {done.path}", "npueval report writes it into the documents"])


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
