"""The command line: parse, call one verb, print. Each command is one file of this folder, named like the command."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from npueval import __version__, interruption

COMMANDS = {
    "init": "Create the blank documents and a first plan.",
    "doctor": "Read the machine; may tests run here?",
    "check": "Triggers; the five parts, or the not-executed block.",
    "measure": "Measure the workload of a plan, or time a command.",
    "smoke": "A few inputs and training steps: does it run at all?",
    "baseline": "Find baselines in logs; make and take in the GPU kit.",
    "golden": "Compare two outputs number by number.",
    "train": "Judge a training log: does it learn?",
    "compare": "Comparability, ratios, verdict.",
    "report": "Write the results into the documents.",
    "run": "All of it, in order.",
    "show": "Read one place of a document.",
    "set": "Change one place of a document.",
    "undo": "Take back the last change of the documents.",
    "lint": "Check the documents.",
    "explain": "Tell what a rule wants and why.",
}


class Verbs(click.Group):
    """Imports the file of a command only when that command runs: ``--help`` needs no more than the table above."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"npueval.cli.{cmd_name}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="npueval")
def cli() -> None:
    """Measure a model migrated to an Ascend NPU, compare it with its baseline, write and check the documents.

    \b
    Start:    npueval init PROJECT
    Then:     npueval run PROJECT/npueval.yaml
    """


def main() -> None:
    """Entry point of ``skill``, ``npueval`` and ``python -m npueval``."""
    _open_streams()
    interruption.listen()
    try:
        status = cli.main(standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  (told apart, or raised again, by what is loaded only then)
        from npueval.cli.base import answer_error

        status = answer_error(error)
    sys.exit(status if isinstance(status, int) else 0)


def _open_streams() -> None:
    """Of a stream that the caller has closed nothing is read or seen, and no file of ours gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, number)
            if nowhere != number:
                os.close(nowhere)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
