"""Every command that we print, write down or advise is one that we take: a renamed option breaks a test here."""

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

import npueval
from npueval.cli import cli
from npueval.commands import Run
from npueval.commands.templates import Values, templates
from npueval.kit.asking import parser

PACKAGE = Path(npueval.__file__).parent
ROOT = PACKAGE.parents[1]
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted(
    path
    for folder in (ROOT / "examples", ROOT / "doc_templates", PACKAGE, ROOT)
    for path in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
    if path.name != "CHANGELOG.md"
)
SCRIPTS = [ROOT / "scripts" / "demo", ROOT / "doc_templates" / "npueval.yaml"]
# Options of other programs, which our texts name too.
FOREIGN = {"--standalone", "--nproc_per_node", "--no-optional-locks", "--porcelain", "--untracked-files", "--export"}
FILLED = Values("npueval.yaml", cards=8, rtol=1e-2, atol=1e-3)
PROSE = {"measures", "to", "how", "made", "has"}
EXAMPLE = re.compile(r"^ *(?:Example:|Start:|Then:)? +((?:\S+ .*\| )?(?:torchrun .*)?npueval [a-z].*)$", re.MULTILINE)
# A word of a command's arguments, not of a sentence: a file, a place to fill in, a number, what an f-string fills in.
ARGUMENT = re.compile(r"-.*|X|.*[.<>/#_\d].*")


def commands(group: click.Group = cli, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command by its words; a group is one too."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


COMMANDS = dict(commands())
OPTIONS = {option for command in [cli, *COMMANDS.values()] for p in command.params for option in p.opts}
OPTIONS |= {"--help", "--json", *(option for action in parser()._actions for option in action.option_strings)}


def refusal(words: list[str], *, whole: bool = True) -> str:
    """Why our command line would not take these words (``npueval`` left out); ``whole``: arguments must be there."""
    name = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in COMMANDS), None)
    if name is None:
        return "" if not words or words in (["--help"], ["--version"]) else f"no such command: {words[0]}"
    command = COMMANDS[name]
    given = words[len(name) :]
    given = given[: given.index("--")] if "--" in given else given
    context = click.Context(command, info_name=" ".join(name))
    try:
        found, rest, _order = command.make_parser(context).parse_args(list(given))
        for parameter in command.params:
            value = found.get(parameter.name)
            if isinstance(value, str) and not isinstance(parameter.type, click.Path) and "<" not in value:
                parameter.type_cast_value(context, value)
    except click.BadOptionUsage as error:
        return error.format_message() if whole else ""
    except click.ClickException as error:
        return error.format_message()
    if isinstance(command, click.Group):
        return "" if not rest else f"no such command: {' '.join(words)}"
    absent = [p.name for p in command.params if p.required and p.value_is_missing(found.get(p.name)) and whole]
    return f"left over: {rest}" if rest else f"missing: {absent}" if absent else ""


def called(line: str) -> list[list[str]]:
    """The words of each call of ours in a line of shell."""
    line = re.sub(r"\s+(\(.*\)|#.*)$", "", line.strip().rstrip("\\"))
    parts = re.split(r"\s\|{1,2}\s|&&|;", line)
    return [words for part in parts if (words := _ours(part)) is not None]


def _ours(part: str) -> list[str] | None:
    words = [word for word in shlex.split(part, comments=True) if not re.fullmatch(r"\d?>&\d|>\S*", word)]
    for place, word in enumerate(words):
        if word.rpartition("/")[2] == "npueval" and (place == 0 or words[place - 1] == "-m"):
            return words[place + 1 :]
    return None


@pytest.mark.parametrize("values", [FILLED, Values("-odd name.yaml")], ids=["filled", "open"])
def test_the_command_templates(values: Values) -> None:
    steps = [step for template in templates(values) for step in template.steps if isinstance(step, Run)]
    found = [call for step in steps for call in called(shlex.join(step.argv))]
    assert len(found) >= 8
    assert [refusal(call) for call in found] == [""] * len(found)
    kits = [step.argv[2:] for step in steps if step.argv[:2] == ("python", "gpu_kit.pyz")]
    assert kits
    assert all(parser().parse_args(kit).device for kit in kits)


def test_every_action_and_remark_of_the_package() -> None:
    """Texts that are a command from their first word, and the examples of --help."""
    wrong = []
    for path, text in texts():
        lines = [text] if is_command(text) else []
        lines += EXAMPLE.findall(text)
        lines += re.findall(r"`(npueval(?: [^`]*)?)`", text)
        wrong += [f"{path}: {line}: {why}" for line in lines for why in problems(line)]
    assert wrong == []


def problems(line: str, *, whole: bool = False) -> list[str]:
    return [why for call in called(line) if (why := refusal(call, whole=whole))]


def is_command(text: str) -> bool:
    """Whether a text is a command from its first word to its last."""
    words = text.split()
    name = next((n for n in (3, 2) if tuple(words[1:n]) in COMMANDS), 0)
    values = [word for before, word in pairwise(words) if before.startswith("--")]
    return words[:1] == ["npueval"] and name > 0 and all(ARGUMENT.fullmatch(w) or w in values for w in words[name:])


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the package's code; what an f-string fills in is a word."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(path.relative_to(PACKAGE)), node.value
            elif isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
                yield str(path.relative_to(PACKAGE)), "".join(map(str, parts))


def test_what_is_out_of_date_is_repeated_by_a_command_of_ours() -> None:
    """The documents name these with the plan behind them."""
    source = (PACKAGE / "workflow" / "verification.py").read_text(encoding="utf-8")
    source += (PACKAGE / "workflow" / "__init__.py").read_text(encoding="utf-8")
    named = re.findall(r'_outdated\([^\n]*, plan, "(\w+)"\)|freshness\.command\([^\n]*, [\'"](\w+)[\'"]\)', source)
    words = {word for pair in named for word in pair if word}
    assert words == {"smoke", "golden", "train", "run"}
    assert [refusal([word, "npueval.yaml"]) for word in words] == [""] * len(words)


def test_every_command_that_a_text_names() -> None:
    """``… (npueval init --upgrade moves it)``: the command and the options right behind it."""
    wrong = []
    for path, text in texts():
        for call in re.findall(r"\bnpueval ((?:[a-z]+ ?){1,2}(?:--[a-z-]+ ?)*)", text):
            words = call.split()
            if words[0] in PROSE or "import npueval" in text or "from npueval" in text:
                continue
            name = next((n for n in (2, 1) if tuple(words[:n]) in COMMANDS), 0)
            known = {option for p in COMMANDS[tuple(words[:name])].params for option in p.opts} if name else set()
            options = [word for word in words[name or 1 :] if word.startswith("--")]
            wrong += [] if name and known >= {*options} else [f"{path}: npueval {call}"]
    assert wrong == []


def test_every_option_that_a_text_names() -> None:
    named = {
        (option, path)
        for path, text in texts()
        for option in re.findall(r"(?<![\w<!-])--[a-z][a-z_-]+", text)
        if not path.startswith(("reporting/page/", "documents/", "logs/")) and option not in OPTIONS | FOREIGN
    }
    assert named == set()


@pytest.mark.parametrize("path", [*PAGES, *SCRIPTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_of_a_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^(?:    |Example: | {10,})(?:\S+ .*\| )?(npueval .*|torchrun .*)$", text, re.M)
    lines += [line.replace('$bin/npueval"', 'npueval"') for line in re.findall(r'^("\$bin/npueval" .*)$', text, re.M)]
    spans = re.findall(r"`(npueval [^`]*)`", text)
    usage = [line for line in lines if "[OPTIONS]" in line or "..." in line]
    wrong = [f"{line}: {why}" for line in {*lines} - {*usage} for why in problems(line, whole=True)]
    wrong += [f"{span}: {why}" for span in spans for why in problems(span)]
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("measure --devise npu", "--devise"),
        ("verify npueval.yaml", "no such command: verify"),
        ("golden a.npy b.npy --precision fp12", "is not one of"),
        ("baseline fetch x", "no such command"),
        ("undo now", "left over: ['now']"),
        ("train", "missing: ['source']"),
        ("measure --runs 3 -- python x.py --any", ""),
    ],
)
def test_what_is_refused_here_is_what_the_program_refuses(words: str, why: str) -> None:
    found = refusal(words.split())
    assert found.startswith(why) if not why else why in found


def test_there_is_something_to_look_at() -> None:
    spans = [span for path in PAGES for span in re.findall(r"`npueval [^`]*`", path.read_text(encoding="utf-8"))]
    advised = [text for _, text in texts() if re.search(r"\bnpueval [a-z]+", text)]
    assert (len(spans) > 20, len(advised) > 60) == (True, True)
