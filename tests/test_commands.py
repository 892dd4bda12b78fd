"""Commands pasted into a real shell reach their programs unharmed; PowerShell is held to its quoting rules."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npueval.commands import SHELLS, CommandError, Export, Run, Source, Template, file_argument, quoted
from npueval.commands.templates import Values, templates
from npueval.language import same

NASTY = [
    "plan.yaml",
    "my plan.yaml",
    "计划 一.yaml",
    "it's.yaml",
    'a"b.yaml',
    "$HOME;rm -rf x.yaml",
    "`id`&|.yaml",
    "-n.yaml",
    "*?[a]!.yaml",
    "<plan>.yaml",
    "a\\b.yaml",
    "~.yaml",
    "#x.yaml",
]
BASH = shutil.which("bash") or "bash"

STUB = """#!/bin/sh
{ printf '%s\\0' "${0##*/}"; for word; do printf '%s\\0' "$word"; done; printf '\\n'; } >> "$CALLS"
echo "output of ${0##*/}"
exit ${STUB_STATUS:-0}
"""


class Bench:
    """A folder with stand-ins for the programs, and a shell to paste into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        for name in ("npueval", "torchrun", "npu-smi", "python"):
            (self.programs / name).write_text(STUB, encoding="utf-8", newline="\n")
            (self.programs / name).chmod(0o755)

    def paste(self, text: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        path = f"{self.programs}{os.pathsep}/usr/bin{os.pathsep}/bin"
        env = {"PATH": path, "CALLS": str(self.calls), "LC_ALL": "C.UTF-8", **variables}
        return subprocess.run([BASH, "--norc"], input=text, text=True, capture_output=True, cwd=self.folder, env=env)

    def called(self) -> list[list[str]]:
        lines = self.calls.read_text(encoding="utf-8").split("\0\n")
        return [line.split("\0") for line in lines if line]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "work 文件夹 $x;'q'")


def template(*steps: Run | Source | Export) -> Template:
    return Template("t", same("t"), steps, same("n"))


def set_env(folder: Path, name: str) -> str:
    script = folder / name / "set_env.sh"
    script.parent.mkdir()
    # Like CANN's own, it reads a variable that may not be set.
    script.write_text('export LOADED="yes:$NOT_SET_BEFORE"\n', encoding="utf-8", newline="\n")
    return str(script)


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("form", ["lines", "script"])
def test_pasted_into_bash(bench: Bench, name: str, form: str) -> None:
    script = set_env(bench.folder, "Ascend 工具 'x' $y")
    made = template(
        Source(script),
        Export("ASCEND_RT_VISIBLE_DEVICES", name),
        Run(("npueval", "measure", name, "--name", name), log="one"),
        Run(("npueval", "x", "$ASCEND_RT_VISIBLE_DEVICES")),
    )
    text = "\n".join(made.lines()) + "\n" if form == "lines" else made.script()
    done = bench.paste(text + 'npueval "$ASCEND_RT_VISIBLE_DEVICES" "$LOADED"\n'.replace("npueval", "torchrun"))
    assert (done.returncode, done.stderr) == (0, "")
    assert bench.called() == [
        ["npueval", "measure", name, "--name", name],
        ["npueval", "x", "$ASCEND_RT_VISIBLE_DEVICES"],
        ["torchrun", name, "yes:"],
    ]
    (log,) = (bench.folder / "logs").iterdir()
    assert re.fullmatch(r"one_\d{8}_\d{6}\.log", log.name)
    assert log.read_text(encoding="utf-8") == "output of npueval\n"


def test_a_failing_program_is_not_hidden_by_its_log(bench: Bench) -> None:
    made = template(Run(("npueval", "run"), log="one"), Run(("npueval", "never")))
    done = bench.paste("\n".join(made.lines()[:-1]) + "\n", STUB_STATUS="3")
    assert done.returncode == 3
    bench.calls.unlink()
    done = bench.paste(made.script(), STUB_STATUS="3")
    assert done.returncode == 3
    assert bench.called() == [["npueval", "run"]]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=20))
def test_any_words_pass_through_bash(words: list[str]) -> None:
    line = " ".join(["printf", "'%s\\0'", *(quoted(word, "bash") for word in words)])
    done = subprocess.run(
        [BASH, "--norc"], input=line + "\n", capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.split("\0")[:-1] == words


SINGLE = "'\u2018\u2019\u201a\u201b"
SPECIAL = set("'\"`$;&|(){}<>@#,\u2018\u2019\u201a\u201b\u201c\u201d\u201e \t")


def powershell_words(line: str) -> list[str]:
    """Argument mode as documented: blanks part words; inside single quotes only a doubled quote is special."""
    words: list[str] = []
    place = 0
    while place < len(line):
        if line[place] == " ":
            place += 1
        elif line[place] in SINGLE:
            word, place = literal(line, place + 1)
            words.append(word)
            assert place == len(line) or line[place] == " ", "a word must end behind its quote"
        else:
            end = line.find(" ", place)
            bare = line[place : end if end >= 0 else len(line)]
            assert not SPECIAL & set(bare), f"{bare!r} would be read as more than a word"
            assert not re.match(r"-[^ ]*[.:]|\d+\D|%", bare), f"{bare!r} would be taken apart"
            words.append(bare)
            place += len(bare)
    return words


def literal(line: str, place: int) -> tuple[str, int]:
    word = ""
    while True:
        if line[place] in SINGLE:
            if place + 1 < len(line) and line[place + 1] in SINGLE:
                word, place = word + line[place], place + 2
                continue
            return word, place + 1
        word, place = word + line[place], place + 1


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=8))
def test_any_words_pass_through_powershell(words: list[str]) -> None:
    assert powershell_words(" ".join(quoted(word, "powershell") for word in words)) == words


def test_powershell_form() -> None:
    made = template(
        Source("C:\\Program Files\\Ascend\\set_env.sh"),
        Export("ASCEND_RT_VISIBLE_DEVICES", "0,1"),
        Run(("my tool", "it's", "-n", "计划.yaml"), log="one"),
    )
    log = "('logs/one_{0:yyyyMMdd_HHmmss}.log' -f (Get-Date))"
    assert made.lines("powershell") == (
        "New-Item -ItemType Directory -Force -Path logs | Out-Null",
        ". 'C:\\Program Files\\Ascend\\set_env.ps1'",
        "$env:ASCEND_RT_VISIBLE_DEVICES = '0,1'",
        f"& 'my tool' 'it''s' -n '计划.yaml' 2>&1 | Tee-Object -FilePath {log}",
    )
    assert made.script("powershell").endswith(f"{log}\nif ($LASTEXITCODE) {{ exit $LASTEXITCODE }}\n")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\tb", "a\0b", "\x1b[0m"])
def test_control_characters_are_refused(shell: str, value: str) -> None:
    with pytest.raises(CommandError, match="control character"):
        template(Run(("npueval", value))).lines(shell)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NASTY)
def test_every_template_runs_when_pasted(bench: Bench, name: str) -> None:
    script = set_env(bench.folder, "Ascend 工具")
    values = Values(plan=name, set_env=script, visible="0,1", cards=2, rtol=1e-2, atol=1e-3)
    for made in templates(values):
        done = bench.paste("\n".join(made.lines()) + "\n")
        assert (done.returncode, done.stderr) == (0, ""), made.key
    plan = file_argument(name)
    assert [call for call in bench.called() if plan in call] == [
        ["npueval", "smoke", plan],
        ["npueval", "measure", plan],
        ["torchrun", "--standalone", "--nproc_per_node=2", "-m", "npueval", "measure", plan],
        ["npueval", "baseline", "kit", plan, "-o", "gpu_kit.pyz"],
        ["npueval", "baseline", "ingest", "<gpu_result>", "--plan", plan],
        ["npueval", "run", plan],
    ]


def test_the_plan_that_a_command_looks_for_by_itself_is_not_named() -> None:
    made = {each.key: each.lines() for each in templates(Values(plan="npueval.yaml", gpu_visible="2"))}
    assert made["gpu_ingest"] == ("npueval baseline ingest '<gpu_result>'",)
    assert made["gpu_run"] == ("export CUDA_VISIBLE_DEVICES=2", "python gpu_kit.pyz --device cuda:0")


def test_what_is_for_the_reader_to_fill_in_stays_one_word() -> None:
    for made in templates(Values(plan="p.yaml")):
        for shell in SHELLS:
            for line in made.lines(shell):
                assert "<" not in re.sub(r"'[^']*'", "", line), line


def test_one_command_a_line() -> None:
    for made in templates(Values(plan="p.yaml")):
        for shell in SHELLS:
            assert all("\n" not in line and ";" not in line for line in made.lines(shell))
