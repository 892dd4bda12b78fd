"""What every command shares: one reply on stdout, everything else on stderr, errors as one line or one object."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from npueval.errors import Exit, NotExecuted, NpuevalError

if TYPE_CHECKING:
    from npueval.environment import Environment
    from npueval.plan import Plan

LONGEST_LIST = 200
_REFUSED_BY_THE_SYSTEM = frozenset(
    (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
)
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
_OUTPUT = click.option("--output", type=click.Path(path_type=Path), help="Write the whole JSON answer to this file.")


class Interrupted(NpuevalError):
    """The user ended the command."""

    code = "INTERRUPTED"
    status = Exit.INTERRUPTED


@dataclass(frozen=True)
class Reply:
    """What a command answers: ``data`` for machines (JSON-able), ``text`` for people, and the exit status."""

    data: Any
    text: str = ""
    status: Exit = Exit.OK
    warnings: Sequence[str] = ()


def verb(name: str, **settings: Any) -> Callable[[Callable[..., Reply]], click.Command]:
    """Make a click command of a function that returns a :class:`Reply`; adds ``--json`` and ``--output``."""

    def decorate(function: Callable[..., Reply]) -> click.Command:
        @functools.wraps(function)
        def invoke(as_json: bool, output: Path | None, **arguments: Any) -> None:
            with stdout_reserved() as stdout:
                reply = function(**arguments)
            _answer(name, reply, as_json=as_json, output=output, stdout=stdout)
            click.get_current_context().exit(int(reply.status))

        make_command: Callable[..., click.Command] = click.command(name.split(" ")[-1], **settings)
        return make_command(_AS_JSON(_OUTPUT(invoke)))

    return decorate


def refuse_given(names: Collection[str], what: str) -> None:
    """A usage error where the user gave one of these parameters, which mean nothing for ``what``."""
    context = click.get_current_context()
    given = [
        parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
        for parameter in context.command.params
        if parameter.name in names
        and context.get_parameter_source(parameter.name) is not click.core.ParameterSource.DEFAULT
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} means nothing for {what}")


def refused(plan: Plan, error: NotExecuted, device: str | None, environment: Environment | None = None) -> Reply:
    """The not-executed block, where the device that a command was to use is not there."""
    from npueval.workflow import refusal

    block = refusal.block(plan, error, device=device, environment=environment)
    return Reply(block.as_json(), block.markdown(), Exit.NOT_EXECUTED)


@contextlib.contextmanager
def stdout_reserved() -> Iterator[TextIO]:
    """Lend stdout's name to stderr, down to the file descriptor, so that a user's ``print`` cannot spoil the reply."""
    real = sys.stdout
    real.flush()
    saved = os.dup(1) if _is_descriptor(real, 1) and _is_descriptor(sys.stderr, 2) else None
    if saved is not None:
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield real
    finally:
        if saved is not None:
            real.flush()
            os.dup2(saved, 1)
            os.close(saved)


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError):
        return False


def _answer(name: str, reply: Reply, *, as_json: bool, output: Path | None, stdout: TextIO) -> None:
    envelope = {
        "ok": True,
        "status": int(reply.status),
        "command": name,
        "format": f"npueval/{name.replace(' ', '-')}/1",
        "data": reply.data,
        "warnings": list(reply.warnings),
    }
    if output is not None:
        written(output, _dumps(envelope) + "\n")
    if as_json:
        cut: dict[str, int] = {}
        envelope["data"] = bounded(reply.data, "data", cut)
        click.echo(_dumps({**envelope, "cut": cut} if cut else envelope), file=stdout)
        return
    for warning in reply.warnings:
        click.echo(f"warning: {warning}", err=True)
    if reply.text:
        click.echo(reply.text.rstrip("\n"), file=stdout)


def written(path: Path, text: str, *, encoding: str = "utf-8", newline: str = "\n") -> None:
    """Write a file that the user named; :class:`NpuevalError` where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding=encoding, newline=newline)
    except OSError as error:
        raise NpuevalError(f"cannot write: {error.strerror}", code="NOT_WRITABLE", path=path) from None


def bounded(data: Any, place: str, cut: dict[str, int]) -> Any:
    """``data`` with every list cut to :data:`LONGEST_LIST`; ``cut`` receives the place and the full length."""
    if isinstance(data, dict):
        return {key: bounded(value, f"{place}.{key}", cut) for key, value in data.items()}
    if isinstance(data, list | tuple):
        if len(data) > LONGEST_LIST:
            cut[place] = len(data)
        return [bounded(value, f"{place}[{i}]", cut) for i, value in enumerate(data[:LONGEST_LIST])]
    return data


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


def answer_error(error: BaseException) -> int:
    """Print what ended a command and return the exit status; raise again what is no doing of the user's."""
    # What stands after -- is for the command that is timed.
    as_json = "--json" in takewhile(lambda word: word != "--", sys.argv)
    if isinstance(error, NpuevalError):
        return _fail(as_json, error)
    if isinstance(error, click.ClickException):
        return _fail(as_json, NpuevalError(error.format_message(), code="USAGE", hint="--help shows the usage"))
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return _fail(as_json, Interrupted("interrupted"))
    if isinstance(error, OSError) and error.errno in _REFUSED_BY_THE_SYSTEM:
        told = NpuevalError(error.strerror or str(error), code="FILE_REFUSED", path=error.filename)
        return _fail(as_json, told)
    if isinstance(error, BrokenPipeError):
        # The reader has gone (`| head`); leave nothing for the interpreter's last flush to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.OK
    raise error


def _fail(as_json: bool, error: NpuevalError) -> int:
    # Where stdout takes nothing (a full disk) the line on stderr is all there is.
    with contextlib.suppress(OSError):
        if as_json:
            click.echo(_dumps({"ok": False, "status": int(error.status), "error": error_data(error)}))
            return int(error.status)
    click.echo(f"npueval: {error}", err=True)
    return int(error.status)


def error_data(error: NpuevalError) -> dict[str, Any]:
    """The JSON form of an error: code, message, hint, path, line, and every problem that was found."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "path": error.path,
        "line": error.line,
        "problems": [{k: v for k, v in vars(problem).items() if v is not None} for problem in error.problems],
    }
