"""What a project's own files demand: Python, framework, CUDA-only ties, CANN, driver, chip, container.

Every demand is quoted with its file and line. Files are read as text, line by line: nothing is installed or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

from npueval.gate import textfile
from npueval.gate.demands import Kind, scanner
from npueval.gate.versions import compatible
from npueval.records import Citation

_FILES = (
    "README*",
    "docs/README*",
    "docs/*install*",
    "INSTALL",
    "INSTALL.md",
    "INSTALL.rst",
    "INSTALL.txt",
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
_MARKER = re.compile(r";\s*\(?(?:python_|platform_|sys_platform|os_name|implementation_|extra\b)")
_IMAGES = frozenset([".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".ico"])


@dataclass(frozen=True)
class Need:
    """One demand. ``constraint`` is the version as the file writes it (may be empty); ``name`` what it is about."""

    kind: Kind
    name: str
    constraint: str
    source: Citation

    @property
    def conditional(self) -> bool:
        """Whether it holds on some machines only (an environment marker of a requirement)."""
        return _MARKER.search(self.source.text) is not None

    def __str__(self) -> str:
        return f"{self.name}{self.constraint if not self.constraint[:1].isdigit() else ' ' + self.constraint}"


@dataclass(frozen=True)
class Needs:
    """Everything that was found, in the order of the files; the files that were read, and those that could not be."""

    items: tuple[Need, ...]
    files: tuple[str, ...]
    unread: tuple[str, ...] = ()

    def of(self, kind: Kind) -> tuple[Need, ...]:
        """The demands of one kind."""
        return tuple(need for need in self.items if need.kind == kind)

    def about(self, name: str) -> tuple[Need, ...]:
        """The demands on one package or component that state a version."""
        return tuple(need for need in self.items if need.name == name and need.constraint)

    def completed(self, other: Needs) -> Needs:
        """With what another reading of the project found in files that this one does not have."""
        here = (*self.files, *self.unread)
        further, unread = (tuple(name for name in names if name not in here) for names in (other.files, other.unread))
        items = tuple(need for need in other.items if need.source.path in further)
        return Needs((*self.items, *items), (*self.files, *further), (*self.unread, *unread))

    def conflicts(self) -> tuple[tuple[Need, Need], ...]:
        """Pairs of demands on the same thing that no version can meet together."""
        pairs: list[tuple[Need, Need]] = []
        for kind, name in dict.fromkeys((need.kind, need.name) for need in self.items):
            about = [need for need in self.of(kind) if need.name == name and need.constraint and not need.conditional]
            distinct = {need.constraint: need for need in reversed(about)}.values()
            pairs += combinations(sorted(distinct, key=about.index), 2)
        return tuple(pair for pair in pairs if _contradict(*pair))

    def disputed(self, need: Need) -> bool:
        """Whether the project contradicts itself on the thing: nothing is prepared before that is settled."""
        return any((one.kind, one.name) == (need.kind, need.name) for one, _ in self.conflicts())


def _contradict(one: Need, other: Need) -> bool:
    return compatible(one.constraint, other.constraint) is False


def find(project_root: Path) -> Needs:
    """Read the project's README, requirements, pyproject, conda and Docker files; absent ones are simply not listed."""
    paths = dict.fromkeys(path for pattern in _FILES for path in sorted(project_root.glob(_in_any_case(pattern))))
    documents = [path for path in paths if not path.is_dir() and path.suffix.lower() not in _IMAGES]
    texts = {path.relative_to(project_root).as_posix(): textfile.read(path) for path in documents}
    read_files = {shown: text for shown, text in texts.items() if text is not None}
    items = chain.from_iterable(_of_file(shown, text) for shown, text in read_files.items())
    unread = tuple(shown for shown in texts if shown not in read_files)
    return Needs(tuple(dict.fromkeys(items)), tuple(read_files), unread)


def _in_any_case(pattern: str) -> str:
    return "".join(f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else letter for letter in pattern)


def _of_file(shown: str, text: str) -> Iterator[Need]:
    scan = scanner(shown.rpartition("/")[2])
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        for kind, name, constraint in scan(line.strip()):
            yield Need(kind, name, constraint, Citation(shown, number, line.strip()[:200]))
