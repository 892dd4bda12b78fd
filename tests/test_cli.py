"""What every command shares, tried on a command made here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from npueval.cli import base, cli
from npueval.errors import Exit, NpuevalError, Problem

PROBE = """
import os, sys
import click
import npueval.cli
from npueval.cli.base import Reply, verb
from npueval.errors import Exit, NpuevalError, Problem

@click.group()
def cli(): pass

npueval.cli.cli = cli

@verb("probe")
@click.argument("what")
def command(what):
    print("chatter from python")
    os.system("echo chatter from a child")
    if what == "error":
        raise NpuevalError("it is wrong", code="WRONG", hint="mend it", path="a b.md", line=3,
                           problems=[Problem("first", line=1), Problem("second", line=2, key="k")])
    if what == "interrupt":
        raise KeyboardInterrupt
    return Reply({"list": list(range(1000))}, text="数字 done", status=Exit.FINDINGS, warnings=["careful"])

cli.add_command(command)
npueval.cli.main()
"""


def probe(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", PROBE, "probe", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        encoding="utf-8",
    )


def shell(arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        f'"{sys.executable}" -c "$PROBE" probe {arguments}',
        shell=True,
        executable="/bin/bash",
        env={**os.environ, "PROBE": PROBE, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_text_goes_to_stdout_and_everything_else_to_stderr() -> None:
    done = probe("ok")
    assert (done.returncode, done.stdout) == (Exit.FINDINGS, "数字 done\n")
    assert "chatter from python" in done.stderr
    assert "chatter from a child" in done.stderr
    assert "warning: careful" in done.stderr


def test_json_is_one_bounded_object_on_stdout(tmp_path: Path) -> None:
    done = probe("ok", "--json", "--output", str(tmp_path / "whole.json"))
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["status"], answer["format"]) == (True, Exit.FINDINGS, "npueval/probe/1")
    assert answer["warnings"] == ["careful"]
    assert len(answer["data"]["list"]) == base.LONGEST_LIST
    assert answer["cut"] == {"data.list": 1000}
    whole = json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))
    assert len(whole["data"]["list"]) == 1000


def test_an_error_is_text_for_people_and_an_object_for_machines() -> None:
    done = probe("error")
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
    assert "npueval: a b.md:3: it is wrong (mend it)" in done.stderr
    done = probe("error", "--json")
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["status"]) == (False, Exit.BAD_INPUT)
    error = answer["error"]
    assert (error["code"], error["hint"], error["path"], error["line"]) == ("WRONG", "mend it", "a b.md", 3)
    assert error["problems"][1] == {"message": "second", "line": 2, "key": "k"}


@pytest.mark.parametrize(("arguments", "status"), [(["interrupt"], 130), ([], 2), (["ok", "--nonsense"], 2)])
def test_exit_statuses(arguments: list[str], status: int) -> None:
    done = probe(*arguments)
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_an_interruption_is_json_when_asked() -> None:
    answer = json.loads(probe("interrupt", "--json").stdout)
    assert (answer["ok"], answer["status"], answer["error"]["code"]) == (False, Exit.INTERRUPTED, "INTERRUPTED")


def test_what_a_timed_command_is_asked_is_not_asked_of_us() -> None:
    done = probe("--", "error", "--json")
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
    assert "npueval: " in done.stderr


def test_a_usage_error_is_json_when_asked() -> None:
    assert json.loads(probe("--json").stdout)["error"]["code"] == "USAGE"


@pytest.mark.parametrize(("closed", "said"), [(">&-", ""), ("2>&-", "数字 done\n"), ("<&- >&- 2>&-", "")])
def test_a_closed_stream_is_no_error(closed: str, said: str) -> None:
    done = shell(f"ok {closed}")
    assert (done.returncode, done.stdout) == (Exit.FINDINGS, said)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["", "--json"])
def test_a_stdout_that_takes_nothing_is_one_line(form: str) -> None:
    done = shell(f"ok {form} >/dev/full")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (Exit.BAD_INPUT, "npueval: No space left on device")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = shell('ok --json | head -c 10 >/dev/null; echo "${PIPESTATUS[0]}"')
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_every_command_has_help_with_an_example(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    members = command.commands.values() if isinstance(command, click.Group) else [command]
    for member in members:
        help_text = member.help or ""
        assert "npueval " in help_text, f"{member.name} shows no example"
        assert member.get_short_help_str()


def test_problems_are_listed_beneath_the_message() -> None:
    error = NpuevalError("bad", problems=[Problem("one", path="p", line=1), Problem("two")])
    assert str(error).splitlines() == ["bad", "  p:1: one", "  two"]
