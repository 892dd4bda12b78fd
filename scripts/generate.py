"""Write the pages of ``skill/npueval/references`` that repeat what the code knows: rules, commands, plan keys.

``--check`` writes nothing and fails where a page is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from typing import Any

import click

from npueval.cli import cli
from npueval.resources import schema
from npueval.rules import RULES

Node = Mapping[str, Any]
PAGES = Path(__file__).parents[1] / "skill" / "npueval" / "references"
NOTE = "<!-- Written by scripts/generate.py; change the source and run it again. -->"


def rules() -> str:
    """Every lint rule: a table of all, then a page of each."""
    rows = [f"| {rule.code} | {rule.name} | {rule.law} |" for rule in RULES]
    table = ["| code | name (read: allow …) | what holds |", "| --- | --- | --- |", *rows]
    intro = (
        "`npueval lint` checks these; `npueval explain CODE` prints one. The examples show only the lines that matter."
    )
    return page("Lint rules", intro, "\n".join(table), *(rule.page() for rule in RULES))


def commands() -> str:
    """Every command with its arguments and options."""
    intro = """\
Every command also takes `--json` (one JSON object on stdout and nothing else), `--output FILE` (the whole answer as
JSON) and `--help`. Exit status: 0 done or clean · 1 findings or a failed verdict · 2 bad input · 3 not executed · 4 a
measurement failed · 130 interrupted."""
    with click.Context(cli, info_name="npueval") as context:
        return page("Commands", intro, *described(cli, context))


def described(command: click.Command, context: click.Context) -> Iterator[str]:
    """The command's own section and those of its subcommands; a group without arguments has none of its own."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner, f"{name} is announced and not there"
            with click.Context(inner, info_name=name, parent=context) as below:
                yield from described(inner, below)
        return
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield "\n\n".join([f"## {context.command_path}", f"    {usage}", text_of(command), *options_of(command)])


def text_of(command: click.Command) -> str:
    """The docstring; what follows click's mark for "keep these lines" becomes a code block."""
    first, *kept = cleandoc(command.help or "").split("\b\n")
    return "\n\n".join([first.strip(), *(f"```console\n{dedent(part).strip()}\n```" for part in kept)])


def options_of(command: click.Command) -> list[str]:
    """One table, or nothing where the command has only the options that all have."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    own = [option for option in options if option.name not in ("as_json", "output")]
    rows = [f"| `{spelling(option)}` | {meaning(option)} |" for option in own]
    return ["\n".join(["| option | |", "| --- | --- |", *rows])] if rows else []


def spelling(option: click.Option) -> str:
    """How the option is written, with the name of its value where it has one of its own."""
    names = ", ".join((*option.opts, *option.secondary_opts))
    return f"{names} {option.metavar}" if option.metavar else names


def meaning(option: click.Option) -> str:
    """The option's help, and its choices."""
    choices = (
        " · ".join(f"`{choice}`" for choice in option.type.choices) if isinstance(option.type, click.Choice) else ""
    )
    return " ".join(filter(None, [cell(option.help), choices]))


def plan() -> str:
    """Every key of the plan, from its schema."""
    whole = schema("plan")
    rows = [f"| `{key}` | {mark} | {value} | {cell(text)} |" for key, mark, value, text in keys(whole, whole["$defs"])]
    table = ["| key | | value | |", "| --- | --- | --- | --- |", *rows]
    intro = """\
`npueval init` writes a first plan. Paths are relative to it. Unknown keys are errors, and every mistake is reported at
once, with its line. ● means required; `*` stands for each of the keys above it."""
    return page("The plan, npueval.yaml", intro, "\n".join(table))


def keys(node: Node, shared: Node, above: str = "") -> Iterator[tuple[str, str, str, str]]:
    """(key, required mark, kind of value, description) of a schema's properties, parents before children."""
    alike: dict[str, Node] = {}
    for name, written in node.get("properties", {}).items():
        reference = named(written)
        inner = shared.get(reference, written)
        mark = "●" if name in node.get("required", ()) else ""
        yield f"{above}{name}", mark, kind(inner, shared), written.get("description", "")
        if reference:
            alike[reference] = inner
        else:
            yield from keys(inner, shared, f"{above}{name}.")
    for inner in alike.values():
        for form in inner.get("anyOf", [inner]):
            yield from keys(form, shared, f"{above}*.")


def named(node: Node) -> str:
    """The definition that a schema refers to; empty where it is written out."""
    return str(node.get("$ref", "")).rpartition("/")[2]


def kind(written: Node, shared: Node) -> str:
    """What a value may be, in few words."""
    node = shared.get(named(written), written)
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " · ".join(f"`{value}`" for value in node["enum"])
    if "anyOf" in node:
        return " or ".join(kind(form, shared) for form in node["anyOf"])
    if node.get("type") == "array":
        of = kind(node["items"], shared)
        return f"list of {of}" if "`" in of else "list"
    name = str(node["type"])
    return {"object": "mapping", "string": "text"}.get(name, name)


def page(title: str, *parts: str) -> str:
    """A Markdown page under its title, marked as generated."""
    return "\n\n".join([NOTE, f"# {title}", *parts]) + "\n"


def cell(text: str | None) -> str:
    """Text that may stand in a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


def written(name: str, text: str) -> bool:
    """Write a page; whether it was out of date."""
    path = PAGES / name
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def out_of_date(name: str, text: str) -> bool:
    """Show how a page differs from what it should be; whether it does."""
    path = PAGES / name
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    sys.stdout.writelines(unified_diff(old.splitlines(True), text.splitlines(True), name, "as it should be"))
    return old != text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    check = parser.parse_args().check
    pages = {"rules.md": rules(), "cli.md": commands(), "plan.md": plan()}
    stale = [name for name, text in pages.items() if (out_of_date if check else written)(name, text)]
    print(f"{'out of date' if check else 'written'}: {', '.join(stale) or 'none'}", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
