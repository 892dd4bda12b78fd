"""``npueval lint``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from npueval.cli.base import Reply, verb
from npueval.errors import Exit
from npueval.linting import lint
from npueval.records import Finding


@verb("lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(paths: tuple[Path, ...]) -> Reply:
    """Check the migration documents: structure, order of work, baseline, agreement with each other.

    PATHS are projects, mig_docs folders or single documents. Every finding is one line, path:line:column code message;
    `npueval explain CODE` tells what a rule wants and why. Exit status 1 where there is a finding.

    \b
    Example:  npueval lint my_project
              npueval lint mig_docs/working/Compare.md
    """
    findings = lint(paths)
    return Reply(
        {"findings": [asdict(finding) for finding in findings]},
        text="\n".join([*map(_line, findings), _count(findings)]),
        status=Exit.FINDINGS if findings else Exit.OK,
    )


def _line(finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{finding.path}:{finding.line}:{finding.column} {finding.code} {finding.message}{hint}"


def _count(findings: list[Finding]) -> str:
    if not findings:
        return "clean"
    return (
        f"{len(findings)} finding{'s' * (len(findings) > 1)} in {len({finding.path for finding in findings})} file(s)"
    )
