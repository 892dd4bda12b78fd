"""``skill baseline``: find and read logs, build the kit for a GPU host, take in what comes back."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, verb
from npueval.errors import Exit

if TYPE_CHECKING:
    from npueval.kit.ingest import Ingested


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

    A file is a log by its name, or where its first 64 KiB look like one; a --glob takes every file that matches it.

    Exit status 1 where no log can be a baseline.

    \b
    Example:  npueval baseline scan . --glob 'logs/**/*.log'
    """
    from npueval import baselines
    from npueval.cli import logs_shown
    from npueval.globs import leads_out

    if outside := [glob for glob in globs if leads_out(glob)]:
        raise click.UsageError(f"--glob is relative to FOLDER and stays in it: {', '.join(outside)}")
    with _bar() as tell:
        found = baselines.scan(folder, globs, tell)
    return Reply(
        logs_shown.scan_data(found), logs_shown.scan_text(found), Exit.OK if found.candidates else Exit.FINDINGS
    )


@command.add_command
@verb("baseline extract", short_help="Show everything that one log says.")
@click.argument("file", type=click.Path(path_type=Path))
def extract(file: Path) -> Reply:
    """Show everything that a log says: its runs, their series, facts and doubts, each with its line.

    Each run comes with its verdict: what it lacks as a baseline, and where that may be found.

    \b
    Example:  npueval baseline extract logs/train.log --json
    """
    from npueval import baselines
    from npueval.cli import logs_shown
    from npueval.logs.extracting import extract as read

    found = read(file)
    verdicts = baselines.judged(found, file)
    status = Exit.OK if found.runs else Exit.FINDINGS
    return Reply(logs_shown.extract_data(found, verdicts), logs_shown.extract_text(found, verdicts), status)


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
    from npueval.commands.templates import on_gpu, taken_in
    from npueval.kit import building

    loaded = plans.load(plan)
    made = building.build(loaded, target)
    data = {"path": str(made.path), "manifest_sha256": made.manifest.sha256, "files": sorted(made.manifest.files)}
    size = made.path.stat().st_size / 1e6
    _, there = on_gpu(loaded.baseline.gpu.get("visible_devices", "0"), made.path.name)
    lines = (
        f"{made.path}  {size:.1f} MB, {len(made.manifest.files)} files",
        f"there: {shlex.join(there.argv)}",
        f"here, with what it writes: {shlex.join(taken_in(plan.name, '<gpu_result>').argv)}",
    )
    return Reply(data, "\n".join(lines))


@command.add_command
@verb("baseline ingest", short_help="Check what came back from the GPU host and keep it.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--plan", type=click.Path(path_type=Path), default="npueval.yaml", show_default=True)
@click.option("--fact", "facts", multiple=True, metavar="KEY=VALUE", help="What the file does not say, as batch=8.")
def ingest(file: Path, plan: Path, facts: tuple[str, ...]) -> Reply:
    """Take in a kit's result, or figures of trtexec, vLLM, evalscope, ais_bench, our CSV or a log, each at its grade.

    Exit status 1 where a check failed, so that the result is of a lower grade than its form could have, where what is
    not said leaves no ratio (grade D), or where nothing could be kept. The report uses the newest result of a device,
    and any measured result before figures.

    \b
    Example:  npueval baseline ingest gpu_result-20260101T000000Z-cuda-1a2b.json
              npueval baseline ingest times.json --fact batch=8 --fact precision=fp16 --fact device='NVIDIA A100'
    """
    from npueval import plan as plans
    from npueval.kit.ingest import ingest as take_in
    from npueval.workflow import archive

    loaded = plans.load(plan)
    done = take_in(file, loaded, _pairs(facts))
    overtaken = archive.overtaken(loaded, done.run) if done.path else ""
    notes = [*done.notes, *([overtaken] if overtaken else []), *done.baseline.doubts]
    return Reply(_ingested_data(done), _ingested_text(done), _ingested_status(done), notes)


def _pairs(facts: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for fact in facts:
        key, _, value = (part.strip() for part in fact.partition("="))
        if not key or not value or key in pairs:
            raise click.UsageError("--fact takes KEY=VALUE, each key once")
        pairs[key] = value
    return pairs


def _ingested_status(done: Ingested) -> Exit:
    from npueval.records import Grade

    whole = done.path is not None and all(check.passed for check in done.checks)
    return Exit.OK if whole and done.grade is not Grade.D else Exit.FINDINGS


def _ingested_data(done: Ingested) -> dict[str, Any]:
    from npueval.plaindata import to_plain

    checks = [asdict(check) for check in done.checks]
    path = str(done.path) if done.path else None
    return {"path": path, "grade": done.grade.value, "checks": checks, "baseline": to_plain(done.baseline)}


def _ingested_text(done: Ingested) -> str:
    lines = [f"{'ok  ' if each.passed else 'FAIL'} {each.name}  {each.detail}".rstrip() for each in done.checks]
    if done.path is None:
        return "\n".join([*lines, f"grade {done.grade.value}"])
    return "\n".join([*lines, f"grade {done.grade.value}: {done.path}", "npueval report writes it into the documents"])


@contextmanager
def _bar() -> Iterator[Callable[[int, int | None, str], None] | None]:
    """A bar over the logs that are read, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, file=sys.stderr, label="looking for logs", show_eta=False) as bar:

        def tell(done: int, total: int | None, path: str) -> None:
            if total is None:
                return
            bar.length, bar.label = total, path[-40:].ljust(40)
            bar.update(done - bar.pos)

        yield tell
