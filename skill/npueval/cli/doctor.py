"""``npueval doctor``: may tests run on this machine's NPU, and what is to be done where they may not."""

from __future__ import annotations

from pathlib import Path

import click

from npueval import gate
from npueval.cli.base import Reply, verb
from npueval.diagnosis import Diagnosis, Outcome
from npueval.environment import record
from npueval.errors import Exit
from npueval.language import Lang, Text

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
    "--timeout", type=click.FloatRange(1), default=180.0, show_default=True, help="Seconds for the torch probe."
)
@click.option("--lang", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
def command(project: Path, merge: tuple[Path, Path] | None, timeout: float, lang: Lang) -> Reply:
    """Read this machine and the project's demands; say AUTO, MANUAL_STOP or UNKNOWN. Changes and installs nothing.

    \b
    Example:  npueval doctor my_project
              npueval doctor my_project --json --output inside.json
              npueval doctor --merge inside.json outside.json
    """
    if merge:
        found = gate.merge(gate.load(merge[0]), gate.load(merge[1]))
    else:
        found = gate.examine(project, environment=record(project, probe_timeout_s=timeout))
    status = Exit.OK if found.runnable else Exit.FINDINGS
    return Reply(found.as_json(), "\n".join(_lines(found, lang)), status)


def _lines(found: Diagnosis, lang: Lang) -> list[str]:
    lines = [f"{found.gate.value}: {_HEADS[found.runnable].say(lang)}", ""]
    lines += [f"  {_MARKS[e.outcome]} {e.item.say(lang)}: {e.finding.say(lang)}" for e in found.evidence]
    if found.actions:
        lines += ["", f"{_TO_DO.say(lang)}:"]
    for number, action in enumerate(found.actions, 1):
        lines.append(f"  {number}. {action.text.say(lang)}")
        lines += [f"     $ {action.command}"] if action.command else []
    return lines
