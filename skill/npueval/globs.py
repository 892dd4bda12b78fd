"""Globs of a project's files: relative to a folder, never leading out of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def pattern(glob: str) -> re.Pattern[str]:
    """What a glob means: ``*`` stays inside a folder, ``**/`` crosses any number of them."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part) or re.escape(part) for part in parts))


def leads_out(glob: str) -> bool:
    """Whether a glob can match nothing below its folder: it is absolute, or goes up."""
    return glob.startswith(("/", "~")) or ".." in PurePosixPath(glob).parts


def found(root: Path, glob: str) -> Iterator[Path]:
    """The files under ``root`` that a glob means; only the folders that it names are walked."""
    wanted, start = pattern(glob), _fixed(glob)
    deepest = None if "**" in glob else len(PurePosixPath(glob).parts) - 1
    for folder, folders, names in os.walk(root / start):
        below = PurePosixPath(Path(folder).relative_to(root).as_posix())
        yield from (Path(folder, name) for name in names if wanted.fullmatch((below / name).as_posix()))
        if len(below.parts) == deepest:
            folders.clear()


def _fixed(glob: str) -> str:
    """The folders at the beginning of a glob that hold no wildcard."""
    return re.split(r"[*?]", glob.removeprefix("./"))[0].rpartition("/")[0]
