"""What a project's own files demand: Python, framework, CUDA-only ties, CANN, driver, chip, container.

Every demand is quoted with its file and line. Files are read as text, line by line: nothing is installed or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from npueval.gate.demands import Kind, scanner
from npueval.gate.versions import read, satisfies
from npueval.records import Citation

_FILES = (
    "README*",
    "docs/README*",
    "docs/*nstall*",
    "model/README*",
    "requirements*.txt",
    "requirements/*.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "environment*.yml",
    "environment*.yaml",
    "Dockerfile*",
    "docker/Dockerfile*",
)
_LONGEST_FILE = 500_000


@dataclass(frozen=True)
class Need:
    """One demand. ``constraint`` is the version as the file writes it (may be empty); ``name`` what it is about."""

    kind: Kind
    name: str
    constraint: str
    source: Citation

    def __str__(self) -> str:
        return f"{self.name}{self.constraint if not self.constraint[:1].isdigit() else ' ' + self.constraint}"


@dataclass(frozen=True)
class Needs:
    """Everything that was found, in the order of the files, and the files that were read."""

    items: tuple[Need, ...]
    files: tuple[str, ...]

    def of(self, kind: Kind) -> tuple[Need, ...]:
        """The demands of one kind."""
        return tuple(need for need in self.items if need.kind == kind)

    def about(self, name: str) -> tuple[Need, ...]:
        """The demands on one package or component that state a version."""
        return tuple(need for need in self.items if need.name == name and need.constraint)

    def completed(self, other: Needs) -> Needs:
        """With what another reading of the project found in files that this one does not have."""
        further = tuple(name for name in other.files if name not in self.files)
        items = tuple(need for need in other.items if need.source.path in further)
        return Needs((*self.items, *items), (*self.files, *further))

    def conflicts(self) -> tuple[tuple[Need, Need], ...]:
        """Pairs of demands on the same thing that no version can meet together (both exact, and different)."""
        pairs = []
        for kind, name in dict.fromkeys((need.kind, need.name) for need in self.items):
            exact = [need for need in self.of(kind) if need.name == name and _exact(need.constraint)]
            pairs += [(exact[0], other) for other in exact[1:] if _contradict(exact[0], other)]
        return tuple(pairs)


def _exact(constraint: str) -> str | None:
    found = re.fullmatch(r"(?:===?|=)?\s*(\d[\w.]*)", constraint)
    return found[1] if found else None


def _contradict(one: Need, other: Need) -> bool:
    first, second = read(_exact(one.constraint)), read(_exact(other.constraint))
    if first is None or second is None:
        return False
    return not (satisfies(first, second.text) or satisfies(second, first.text))


def find(project_root: Path) -> Needs:
    """Read the project's README, requirements, pyproject, conda and Docker files; absent ones are simply not listed."""
    paths = dict.fromkeys(path for pattern in _FILES for path in sorted(project_root.glob(pattern)))
    texts = {path.relative_to(project_root).as_posix(): _text(path) for path in paths}
    read_files = {shown: text for shown, text in texts.items() if text is not None}
    items = chain.from_iterable(_of_file(shown, text) for shown, text in read_files.items())
    return Needs(tuple(dict.fromkeys(items)), tuple(read_files))


def _text(path: Path) -> str | None:
    """The text of a regular file of a sensible size that may be read; else ``None``."""
    try:
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None
    return None


def _of_file(shown: str, text: str) -> Iterator[Need]:
    scan = scanner(shown.rpartition("/")[2])
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        for kind, name, constraint in scan(line.strip()):
            yield Need(kind, name, constraint, Citation(shown, number, line.strip()[:200]))
