"""``npueval check``: are tests triggered? The five parts, or the block that says why nothing runs."""

from __future__ import annotations

from pathlib import Path

import click

from npueval import gate, plan, triggers
from npueval.cli.base import Reply, verb, written
from npueval.commands import Template
from npueval.errors import Exit
from npueval.language import Lang
from npueval.triggers.answers import Block


@verb("check")
@click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path))
@click.option("--lang", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@click.option(
    "--diagnosis",
    "reading",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Use this reading of `npueval doctor --json` instead of looking at the machine.",
)
@click.option(
    "--scripts", type=click.Path(path_type=Path, file_okay=False), help="Write the commands into this folder."
)
def command(plan_file: Path, lang: Lang, reading: Path | None, scripts: Path | None) -> Reply:
    """Decide both triggers with their evidence; print the five parts, or the block (exit status 3).

    \b
    Example:  npueval check npueval.yaml
              npueval check npueval.yaml --lang en --json
              npueval check npueval.yaml --scripts npu_commands
    """
    wanted = plan.load(plan_file)
    diagnosis = gate.against(wanted.root, gate.load(reading)) if reading else gate.examine(wanted.root)
    answer = triggers.answer(wanted, diagnosis, triggers.decide(wanted, diagnosis), lang)
    if scripts:
        _write(triggers.commands(wanted, diagnosis), scripts)
    status = Exit.NOT_EXECUTED if isinstance(answer, Block) else Exit.OK
    return Reply(answer.as_json(), answer.markdown(), status)


def _write(templates: tuple[Template, ...], folder: Path) -> None:
    for template in templates:
        written(folder / f"{template.key}.sh", template.script("bash"))
        # Windows PowerShell takes a script without a byte order mark for the system's old code page.
        written(folder / f"{template.key}.ps1", template.script("powershell"), encoding="utf-8-sig", newline="\r\n")
