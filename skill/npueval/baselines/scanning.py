"""Find the files of a tree that may be logs: a cheap look at the name, then at the first kilobytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from npueval import logs
from npueval.globs import pattern
from npueval.logs import needles, streams

Progress = Callable[[int, int | None, str], None]
"""Called with how many files were seen (then: read), of how many (``None`` while the tree is walked), and the path."""

SKIPPED_FOLDERS = (
    *(".git", ".hg", ".svn", ".venv", "venv", "site-packages", "node_modules", "__pycache__", ".tox", ".nox"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".idea", ".vscode", ".npueval", "mig_docs", "kernel_meta"),
)
LOOK = 64 << 10
OUR_ANSWERS = ("comparison.json", "baseline.json", "gpu_baseline.json", "not-executed.json", "five-parts.json")
_OUR_MARK = b"npueval/"

_LOG_NAMES = re.compile(r"\.(?:log|out|err)(?:\.\d+)?(?:\.(?:gz|bz2|xz))?$|^(?:nohup|stdout|stderr)\b|tfevents", re.I)
_PERHAPS = re.compile(r"\.(?:txt|csv|tsv|json|jsonl|md|rst|res|result|stdout)(?:\.(?:gz|bz2|xz))?$", re.IGNORECASE)
_TELLING = re.compile(r"log|train|result|metric|bench|perf|eval|summary", re.IGNORECASE)


def files(root: Path, globs: Sequence[str] = (), progress: Progress | None = None) -> Iterator[Path]:
    """The files under ``root`` that may be logs (those that match a glob, where globs are given), in order.

    A name may say that a file is a log; of others of the right kind the first :data:`LOOK` bytes decide: what names no
    known record there is not read.

    Links are not followed and nothing but regular files is returned; version control, virtual environments and caches
    are skipped, and so is a folder that cannot be read. What this tool wrote is no evidence, wherever it lies and
    whatever the globs say.
    """
    patterns = [pattern(glob) for glob in globs]

    def is_wanted(relative: str, name: str) -> bool:
        return any(each.fullmatch(relative) for each in patterns) if patterns else _may_be_named_so(name)

    for path in _walk(root, is_wanted, progress):
        if not _is_ours(path) if patterns else _may_be_log(path):
            yield path


def _walk(root: Path, is_wanted: Callable[[str, str], bool], progress: Progress | None) -> Iterator[Path]:
    """The regular files of a tree that are wanted, in order; of the others nothing is kept, however many there are."""
    seen = 0

    def look(folder: str, relative: str) -> Iterator[tuple[str, str, bool]]:
        nonlocal seen
        found = []
        for entry in entries(folder):
            name = f"{relative}{entry.name}"
            if is_file(entry):
                seen += 1
                if progress:
                    progress(seen, None, name)
                if relative and _shuts(entry):
                    return iter(())
                if is_wanted(name, entry.name):
                    found.append((name, entry.path, False))
            elif _is_folder(entry) and entry.name not in SKIPPED_FOLDERS:
                found.append((name, entry.path, True))
        return iter(sorted(found))

    waiting = [look(str(root), "")]
    while waiting:
        name, path, is_folder = next(waiting[-1], ("", "", False))
        if not name:
            waiting.pop()
        elif is_folder:
            waiting.append(look(path, f"{name}/"))
        else:
            yield Path(path)


def entries(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, in no order, as far as it can be read."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a regular file, and no link to one."""
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _shuts(entry: os.DirEntry[str]) -> bool:
    """Whether a file says that its folder is a virtual environment or holds an answer of ours."""
    return entry.name == "pyvenv.cfg" or (entry.name in OUR_ANSWERS and _is_ours(Path(entry.path)))


def _may_be_named_so(name: str) -> bool:
    return bool(_LOG_NAMES.search(name) or _PERHAPS.search(name) or ("." not in name and _TELLING.search(name)))


def _may_be_log(path: Path) -> bool:
    telling = _TELLING.search(path.name) is not None and ".json" not in path.name
    return _LOG_NAMES.search(path.name) is not None or _holds_a_needle(path, telling=telling)


def _holds_a_needle(path: Path, *, telling: bool) -> bool:
    """A file whose name tells of results may hold them in its own words; any other must look like a known format."""
    head = _head(path)
    wanted = (*_NEEDLES, *_LAST_NEEDLES) if telling else _NEEDLES
    return not _says_it_is_ours(path, head) and bool(needles.among(wanted, head, needles.alike(head).split(b"\n")))


def _is_ours(path: Path) -> bool:
    """Whether the file says in its first bytes that this tool wrote it (a Run, a comparison, a kit's result …)."""
    return _says_it_is_ours(path, _head(path))


def _says_it_is_ours(path: Path, head: bytes) -> bool:
    return (".json" in path.name or ".csv" in path.name) and _OUR_MARK in head[:200]


def _head(path: Path) -> bytes:
    try:
        return streams.beginning(path)[:LOOK]
    except streams.Unreadable:
        return b""


_KNOWN = {needle for member in logs.MEMBERS for needle in member.needles}
_RIVALS = {"竞品", "标杆", "基线"}
"""How tables call the other side; a bare ``|`` would make a log of every document."""
_NEEDLES = tuple(needle.encode() for needle in _KNOWN | _RIVALS)
_LAST_NEEDLES = tuple(
    needle.encode() for member in logs.LAST_RESORT for needle in member.needles if needle not in _KNOWN | {"|"}
)
