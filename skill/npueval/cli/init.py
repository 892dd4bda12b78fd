"""``npueval init``."""

from __future__ import annotations

from pathlib import Path

import click

from npueval.cli.base import Reply, verb
from npueval.starting import Started, start


@verb("init")
@click.argument("project", type=click.Path(path_type=Path), default=".")
@click.option("--upgrade", is_flag=True, help="Move documents of an old layout to where they belong.")
@click.option("--dry-run", is_flag=True, help="Say what would be written and moved, and do nothing.")
def command(project: Path, upgrade: bool, dry_run: bool) -> Reply:
    """Create the blank migration documents and a first plan; never overwrite anything.

    \b
    Example:  npueval init my_project
              npueval init --upgrade my_project
    """
    started = start(project, upgrade=upgrade, dry_run=dry_run)
    return Reply(
        {
            "created": [str(path) for path in started.created],
            "moved": [{"from": str(old), "to": str(new)} for old, new in started.moved],
            "dry_run": dry_run,
        },
        text="\n".join(_lines(started, "would be " if dry_run else "")),
        warnings=[str(oddity) for oddity in started.oddities],
    )


def _lines(started: Started, would: str) -> list[str]:
    lines = [f"{would}moved {old} to {new}" for old, new in started.moved]
    lines += [f"{would}created {path}" for path in started.created]
    return lines or ["nothing to do: everything is there"]
