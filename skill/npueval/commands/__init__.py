"""Commands that are safe to paste: every value quoted for its shell, one command a line, output kept with ``tee``.

A template is a list of steps; bash and PowerShell (7.3 and later, which passes double quotes on unharmed) are two ways
of writing the same steps down. Values in ``<…>`` are
for the reader to fill in; they are quoted too, so that an unfilled one is a wrong name and never a redirection.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from npueval.errors import NpuevalError
from npueval.language import Text

Shell = Literal["bash", "powershell"]
SHELLS: tuple[Shell, ...] = ("bash", "powershell")
_PLAIN_WORD = re.compile(r"--?[A-Za-z][A-Za-z-]*|[A-Za-z_][A-Za-z0-9_]*|\d+")
# PowerShell reads the typographic single quotes as single quotes.
_SINGLE_QUOTES = re.compile("['\u2018\u2019\u201a\u201b]")
_STOP = ("if ($LASTEXITCODE) { exit $LASTEXITCODE }",)
LOGS = "logs"


class CommandError(NpuevalError):
    """A value that no one-line command can carry."""

    code = "COMMAND_INVALID"


@dataclass(frozen=True)
class Run:
    """A program with its arguments; with ``log`` its output also goes to ``logs/<log>_<time>.log``."""

    argv: tuple[str, ...]
    log: str | None = None


@dataclass(frozen=True)
class Source:
    """Load a script into the current shell (``set_env.sh``; under PowerShell its ``.ps1``)."""

    script: str


@dataclass(frozen=True)
class Export:
    """Set an environment variable for what follows."""

    name: str
    value: str


Step = Run | Source | Export


@dataclass(frozen=True)
class Template:
    """A titled list of steps. ``note`` says where to run them and what to replace."""

    key: str
    title: Text
    steps: tuple[Step, ...]
    note: Text

    def lines(self, shell: Shell = "bash") -> tuple[str, ...]:
        """The commands, one a line. Raises :class:`CommandError` for a value with a control character."""
        return (*_preamble(self.steps, shell), *(_written(step, shell) for step in self.steps))

    def script(self, shell: Shell = "bash") -> str:
        """The same commands as a file that stops at the first failure."""
        preamble = _preamble(self.steps, shell)
        if shell == "powershell":
            # $ErrorActionPreference does not stop at programs that fail, and takes their stderr for an error.
            steps = [line for step in self.steps for line in (_written(step, shell), *_STOP[: isinstance(step, Run)])]
            return "\n".join((*preamble, *steps, ""))
        # CANN's set_env.sh reads variables that may be unset, so `-u` stands behind it.
        loaded = [_written(step, shell) for step in self.steps if isinstance(step, Source)]
        rest = [_written(step, shell) for step in self.steps if not isinstance(step, Source)]
        return "\n".join(("#!/usr/bin/env bash", *loaded, "set -euo pipefail", *preamble, *rest, ""))


def quoted(value: str, shell: Shell) -> str:
    """``value`` as one literal argument of ``shell``."""
    if re.search(r"[\x00-\x1f\x7f]", value):
        raise CommandError(f"{value!r} holds a control character", hint="rename it: it cannot be pasted as one line")
    if shell == "bash":
        return shlex.quote(value)
    if _PLAIN_WORD.fullmatch(value):
        return value
    return "'" + _SINGLE_QUOTES.sub(lambda quote: quote[0] * 2, value) + "'"


def file_argument(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path.startswith("-") else path


def _preamble(steps: Sequence[Step], shell: Shell) -> tuple[str, ...]:
    if not any(isinstance(step, Run) and step.log for step in steps):
        return ()
    if shell == "powershell":
        return (f"New-Item -ItemType Directory -Force -Path {LOGS} | Out-Null",)
    return ("set -o pipefail", f"mkdir -p {LOGS}")


def _written(step: Step, shell: Shell) -> str:
    write = {"bash": _in_bash, "powershell": _in_powershell}[shell]
    return write(step)


def _in_bash(step: Step) -> str:
    if isinstance(step, Source):
        return f"source {quoted(step.script, 'bash')}"
    if isinstance(step, Export):
        return f"export {step.name}={quoted(step.value, 'bash')}"
    command = " ".join(quoted(part, "bash") for part in step.argv)
    return f"{command} 2>&1 | tee {LOGS}/{step.log}_$(date +%Y%m%d_%H%M%S).log" if step.log else command


def _in_powershell(step: Step) -> str:
    if isinstance(step, Source):
        return f". {quoted(re.sub(r'[.]sh$', '.ps1', step.script), 'powershell')}"
    if isinstance(step, Export):
        return f"$env:{step.name} = '{_SINGLE_QUOTES.sub(lambda quote: quote[0] * 2, step.value)}'"
    words = [quoted(part, "powershell") for part in step.argv]
    command = " ".join(words if words[0] == step.argv[0] else ["&", *words])
    log = f"('{LOGS}/{step.log}_{{0:yyyyMMdd_HHmmss}}.log' -f (Get-Date))"
    return f"{command} 2>&1 | Tee-Object -FilePath {log}" if step.log else command
