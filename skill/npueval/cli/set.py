"""``npueval set``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from npueval.cli.base import Reply, verb
from npueval.documents import layout
from npueval.documents.values import one_line
from npueval.errors import DocumentError, Exit
from npueval.patching import PatchResult, patch
from npueval.patching.ledger import BY_HAND
from npueval.records import Edit


@verb("set")
@click.argument("address")
@click.argument("values", nargs=-1, metavar="VALUE...")
@click.option("--docs", type=click.Path(path_type=Path), default=Path(), help="The project or its mig_docs folder.")
@click.option("--row", is_flag=True, help="The VALUEs are the cells of a row, which is added or brought up to date.")
@click.option("--after", metavar="LABEL", help="With --row: the row that a new one follows; by default the last.")
@click.option("--br", is_flag=True, help="Write line breaks in the value as <br>.")
@click.option("--force", is_flag=True, help="Overwrite what a person wrote there.")
@click.option("--diff", is_flag=True, help="Print what changes.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
def command(
    address: str,
    values: tuple[str, ...],
    docs: Path,
    row: bool,
    after: str | None,
    br: bool,
    force: bool,
    diff: bool,
    dry_run: bool,
) -> Reply:
    """Write one place of the migration documents; every other byte stays.

    VALUE is the new text, x or '' for a check box, - to read it from stdin. ADDRESS is what `npueval show` understands.
    A text that a person wrote is kept (exit status 1) unless --force is given.

    \b
    Example:  npueval set 'Compare#2.3/Warmup 次数' 10
              npueval set 'Mig_report#6/推理 smoke' x --diff
              run.sh 2>&1 | npueval set 'Mig_Readme#4.1/code[1]' -
              npueval set --row 'Mig_report#7.1/2025-06-01' 2025-06-01 '输出 NaN' infer.py
    """
    edit = Edit(address, _value(values, row=row, br=br), source=BY_HAND, after=after)
    result = patch(layout.folder_of(docs), [edit], dry_run=dry_run, force=[address] if force else [])
    if result.refusals:
        first = result.refusals[0]
        raise DocumentError(first.message, path=first.path, line=first.line, hint=first.hint)
    return _reply(result, shown=diff or dry_run)


def _value(values: tuple[str, ...], *, row: bool, br: bool) -> str | tuple[str, ...]:
    texts = tuple(_from_stdin() if value == "-" else value for value in values)
    texts = tuple(map(one_line, texts)) if br else texts
    if row:
        return texts
    if len(texts) != 1:
        raise click.UsageError("give one VALUE, or --row and the cells of a row")
    return texts[0]


def _from_stdin() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        message = f"stdin is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise DocumentError(message, code="VALUE_INVALID") from None


def _reply(result: PatchResult, *, shown: bool) -> Reply:
    data = {
        "changed": list(result.changed),
        "applied": list(result.applied),
        "unchanged": list(result.unchanged),
        "conflicts": [asdict(conflict) for conflict in result.conflicts],
        "diff": result.diff if shown else "",
    }
    kept = [f"kept, {each.reason}: {each.address}: {each.kept!r} (--force overwrites it)" for each in result.conflicts]
    said = [f"set: {address}" for address in result.applied] + [f"unchanged: {each}" for each in result.unchanged]
    text = result.diff if shown and result.diff else "\n".join(said + kept)
    return Reply(data, text=text, status=Exit.FINDINGS if kept else Exit.OK, warnings=result.notes)
