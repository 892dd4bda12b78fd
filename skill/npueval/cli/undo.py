"""``npueval undo``."""

from __future__ import annotations

from pathlib import Path

import click

from npueval import patching
from npueval.cli.base import Reply, verb
from npueval.documents import layout
from npueval.patching.ledger import PATH as LEDGER


@verb("undo")
@click.option("--docs", type=click.Path(path_type=Path), default=Path(), help="The project or its mig_docs folder.")
@click.option("--diff", is_flag=True, help="Print what changes.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
def command(docs: Path, diff: bool, dry_run: bool) -> Reply:
    """Take back the last change that npueval made to the documents, all files or none.

    Refused when one of the files was touched since.

    \b
    Example:  npueval undo --diff
              npueval undo --docs my_project
    """
    folder = layout.folder_of(docs)
    changes = [change for change in patching.undo(folder, dry_run=dry_run) if change.path != folder / LEDGER]
    shown = "".join(map(patching.unified, changes)) if diff or dry_run else ""
    paths = [str(change.path) for change in changes]
    said = "\n".join(f"{'would take back' if dry_run else 'taken back'}: {path}" for path in paths)
    return Reply({"paths": paths, "diff": shown}, text=shown or said)
