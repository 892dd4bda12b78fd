"""Where the five documents lie: today, and in the layouts that older projects still have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from npueval import resources
from npueval.documents import transactions
from npueval.documents.journal import Change
from npueval.documents.labels import fold
from npueval.errors import DocumentError, Problem

FOLDER = "mig_docs"
_LINK = re.compile(r"\]\(<?([^)<>\s#:]+)")


@dataclass(frozen=True)
class Home:
    """A document's name, its path in ``mig_docs``, where older projects keep it, and other names it goes by."""

    name: str
    path: str
    old_paths: tuple[str, ...]
    aliases: tuple[str, ...] = ()


HOMES = (
    Home("Compare", "working/Compare.md", ("Compare.md",)),
    Home("Mig_Readme", "working/Mig_Readme.md", ("Mig_Readme.md",)),
    Home("Mig_report", "working/Mig_report.md", ("Mig_report.md",)),
    Home("environment", "working/environment.md", ("working/env.md", "environment.md", "env.md"), ("env",)),
    Home("Summary", "Summary.md", ("working/Summary.md",)),
)
_HOMES = {fold(name): home for home in HOMES for name in (home.name, *home.aliases)}


def name_of(text: str) -> str:
    """The document that ``text`` means: ``mig_readme``, ``env.md`` and ``working/Compare.md`` are understood.

    Raises :class:`DocumentError` for anything else.
    """
    stem = Path(text.strip()).name.removesuffix(".md")
    home = _HOMES.get(fold(stem))
    if home is None:
        known = ", ".join(home.name for home in HOMES)
        raise DocumentError(f"no document {text.strip()!r}", code="ADDRESS_MISSING", hint=f"there are {known}")
    return home.name


def folder_of(path: Path) -> Path:
    """The documents folder that ``path`` means: itself, or the ``mig_docs`` of a project.

    Raises :class:`DocumentError` where there are no documents.
    """
    for folder in (path / FOLDER, path):
        if folder.is_dir() and find(folder):
            return folder
    raise DocumentError(
        "no migration documents here", code="DOCUMENT_MISSING", path=path, hint="npueval init makes them"
    )


def find(folder: Path) -> Mapping[str, Path]:
    """The documents that are there, by name; file names match in any case, the present layout goes before old ones."""
    return {home.name: found[0] for home in HOMES if (found := _standing(folder, home))}


def oddities(folder: Path) -> list[Problem]:
    """Documents that lie where older layouts have them, and second copies that nobody reads."""
    problems = []
    for home in HOMES:
        if not (standing := _standing(folder, home)):
            continue
        used, *copies = standing
        if fold(used.relative_to(folder).as_posix()) != fold(home.path):
            hint = f"npueval init --upgrade moves it to {home.path}"
            problems.append(Problem(f"{home.name} lies where older layouts have it", path=str(used), hint=hint))
        message = f"not read: {home.name} is {used}"
        problems += [Problem(message, path=str(copy), hint="remove one of them") for copy in copies]
    return problems


def read(path: Path) -> bytes:
    """The bytes of a document. Raises :class:`DocumentError` where they cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise DocumentError(message, code="DOCUMENT_UNREADABLE", path=path) from error


def template(name: str) -> bytes:
    """The bytes of the blank document of that name."""
    return resources.template(_HOMES[fold(name)].path)


def missing(folder: Path) -> list[Path]:
    """The paths of the documents that are not there, in any layout."""
    return [folder / home.path for home in HOMES if not _standing(folder, home)]


def create(folder: Path) -> list[Path]:
    """Write the blank documents that are not there yet, all or none, and return their paths; nothing is overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    with transactions.exclusive(folder):
        wanted = [home for home in HOMES if not _standing(folder, home)]
        changes = [Change(folder / home.path, None, template(home.name)) for home in wanted]
        if changes:
            transactions.commit(folder, changes)
    return [change.path for change in changes]


def moves(folder: Path) -> list[tuple[Path, Path]]:
    """Where documents of an old layout lie and where they belong."""
    found = find(folder)
    wanted = ((found[home.name], folder / home.path) for home in HOMES if home.name in found)
    return [(old, new) for old, new in wanted if fold(str(old)) != fold(str(new))]


def broken_links(made: Iterable[tuple[Path, Path]]) -> list[Problem]:
    """Relative links in documents that move, which lead somewhere now and will lead nowhere then."""
    moved = {old.resolve(): new.resolve() for old, new in made}
    return [problem for old, new in moved.items() for problem in _broken_links(old, new, moved)]


def _broken_links(old: Path, new: Path, moved: Mapping[Path, Path]) -> Iterator[Problem]:
    for line, text in enumerate(old.read_bytes().decode(errors="replace").split("\n"), 1):
        for target in _LINK.findall(text):
            leads = (old.parent / target).resolve()
            if leads.exists() and (new.parent / target).resolve() != moved.get(leads, leads):
                hint = f"from {new.parent.name}/ it is {os.path.relpath(moved.get(leads, leads), new.parent)}"
                yield Problem(f"the link to {target} breaks when this document moves", str(old), line, hint=hint)


def upgrade(folder: Path) -> list[tuple[Path, Path]]:
    """Move the documents of an old layout to where they belong, all or none, and return the moves.

    Raises :class:`DocumentError` for one that is a link: only its owner knows which of the two files is to move.
    """
    with transactions.exclusive(folder):
        made = moves(folder)
        changes = [change for old, new in made for change in _move(old, new)]
        if changes:
            transactions.commit(folder, changes)
    return made


def _move(old: Path, new: Path) -> tuple[Change, Change]:
    if old.is_symlink():
        raise DocumentError("is a link, which is not moved", code="DOCUMENT_LINKED", path=old, hint="move it by hand")
    data = read(old)
    return Change(new, None, data, like=old), Change(old, data, None)


def _standing(folder: Path, home: Home) -> list[Path]:
    """The files that are this document, the one that is used first."""
    candidates = (_in_any_case(folder / path) for path in (home.path, *home.old_paths))
    return [path for path in candidates if path is not None]


def _in_any_case(path: Path) -> Path | None:
    if path.is_file():
        return path
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else ()
    return next((each for each in beside if fold(each.name) == fold(path.name) and each.is_file()), None)
