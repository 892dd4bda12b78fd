"""``npueval doctor``: may tests run on this machine's NPU, and what is to be done where they may not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from npueval import gate, patching
from npueval.cli.base import Reply, verb
from npueval.documents import layout
from npueval.environment import record
from npueval.errors import Exit
from npueval.gate.diagnosis import Diagnosis, Outcome
from npueval.language import Lang, Text
from npueval.patching import PatchResult

_FILE = click.Path(path_type=Path, dir_okay=False)
_MARKS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.UNKNOWN: "?", Outcome.NOTE: "·"}
_HEADS = {
    True: Text("可直接执行测试", "tests can run here"),
    False: Text("不能直接执行测试", "tests cannot run here"),
}
_TO_DO = Text("待办（按顺序）", "To do, in this order")


@verb("doctor")
@click.argument("project", type=click.Path(path_type=Path, file_okay=False, exists=True), default=".")
@click.option("--merge", nargs=2, type=_FILE, metavar="INSIDE OUTSIDE", help="Join two readings made with --json.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=180.0, show_default=True, help="Seconds for torch to answer."
)
@click.option("--lang", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@click.option("--dry-run", is_flag=True, help="Leave environment.md as it is.")
@click.option("--diff", is_flag=True, help="Show what changes in environment.md.")
def command(
    project: Path, merge: tuple[Path, Path] | None, timeout: float, lang: Lang, dry_run: bool, diff: bool
) -> Reply:
    """Read this machine and the project's demands; say AUTO, MANUAL_STOP or UNKNOWN.

    Installs and changes nothing; environment.md is filled in where the project has one. Exit status 0 where tests can
    run here; 1 for MANUAL_STOP, UNKNOWN, and an AUTO that still lacks something which pip can install.

    \b
    Example:  npueval doctor my_project
              npueval doctor my_project --json --output inside.json
              npueval doctor my_project --merge inside.json outside.json
    """
    if merge:
        found = gate.merge(gate.load(merge[0]), gate.load(merge[1]), project)
    else:
        found = gate.examine(project, environment=record(project, probe_timeout_s=timeout))
    written = _fill_in(project, found, dry_run=dry_run)
    shown = [written.diff] if written and diff else []
    text = "\n".join([*_lines(found, lang), *shown])
    return Reply(found.as_json(), text, Exit.OK if found.runnable else Exit.FINDINGS, _warnings(written))


def _fill_in(project: Path, found: Diagnosis, *, dry_run: bool) -> PatchResult | None:
    folder = project / layout.FOLDER
    if "environment" not in layout.find(folder):
        return None
    return patching.patch(folder, gate.edits(found), dry_run=dry_run)


def _warnings(written: PatchResult | None) -> list[str]:
    warnings = (
        [f"not changed, {conflict.address}: {conflict.reason}" for conflict in written.conflicts] if written else []
    )
    warnings += [f"environment.md is left as it is: {refusal}" for refusal in written.refusals] if written else []
    other = shutil.which("skill")
    if other and Path(other).parent != Path(sys.executable).parent:
        warnings.append(f"`skill` on this PATH is {other}, another program; use `npueval`")
    return warnings


def _lines(found: Diagnosis, lang: Lang) -> list[str]:
    lines = [f"{found.gate.value}: {_HEADS[found.runnable].say(lang)}", ""]
    lines += [f"  {_MARKS[e.outcome]} {e.item.say(lang)}: {e.finding.say(lang)}" for e in found.evidence]
    if found.actions:
        lines += ["", f"{_TO_DO.say(lang)}:"]
    for number, action in enumerate(found.actions, 1):
        lines.append(f"  {number}. {action.text.say(lang)}")
        lines += [f"     $ {action.command}"] if action.command else []
    return lines
