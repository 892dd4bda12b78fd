"""Find the files of a tree that may be logs: a cheap look at the name, then at the first kilobytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

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

    Links are not followed and nothing but regular files is returned; version control, virtual environments and caches
    are skipped, and so is a folder that cannot be read. What this tool wrote is no evidence, wherever it lies and
    whatever the globs say.
    """
    wanted = [pattern(glob) for glob in globs]
    for seen, (relative, entry) in enumerate(_walk(root, PurePosixPath()), start=1):
        if progress:
            progress(seen, None, str(relative))
        if wanted:
            if any(each.fullmatch(str(relative)) for each in wanted) and not _is_ours(Path(entry.path)):
                yield Path(entry.path)
        elif _may_be_log(entry):
            yield Path(entry.path)


def _walk(folder: Path, relative: PurePosixPath) -> Iterator[tuple[PurePosixPath, os.DirEntry[str]]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_file(follow_symlinks=False):
            yield relative / entry.name, entry
        elif entry.is_dir(follow_symlinks=False) and not _skipped(entry):
            yield from _walk(Path(entry.path), relative / entry.name)


def _skipped(entry: os.DirEntry[str]) -> bool:
    if entry.name in SKIPPED_FOLDERS or Path(entry.path, "pyvenv.cfg").exists():
        return True
    return any(_is_ours(Path(entry.path, name)) for name in OUR_ANSWERS)


def _may_be_log(entry: os.DirEntry[str]) -> bool:
    if _LOG_NAMES.search(entry.name):
        return True
    likely = _PERHAPS.search(entry.name) or ("." not in entry.name and _TELLING.search(entry.name))
    telling = _TELLING.search(entry.name) is not None and ".json" not in entry.name
    return bool(likely) and _holds_a_needle(Path(entry.path), telling=telling)


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
