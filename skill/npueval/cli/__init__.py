"""The command line: parse, call one verb, print. Each command is one file of this folder, named like the command."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from npueval import __version__
from npueval.cli.base import run_main

COMMANDS = (
    "init",
    "doctor",
    "check",
    "measure",
    "smoke",
    "baseline",
    "golden",
    "train",
    "compare",
    "report",
    "run",
    "show",
    "set",
    "undo",
    "lint",
    "explain",
)


class Verbs(click.Group):
    """Imports the file of a command only when it is asked for, so that ``--help`` stays light."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"npueval.cli.{cmd_name}").command
        return command


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
    sys.exit(run_main(cli))
