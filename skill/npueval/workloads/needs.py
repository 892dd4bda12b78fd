"""The files that a workload declares it needs: code, data and weights, relative to its own file."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from npueval.errors import Problem, WorkloadError

_BLOCK = 1 << 20


def fingerprints(declared: object, workload: Path) -> dict[str, str]:
    """The SHA-256 of every declared file. :class:`WorkloadError` naming every one that is absent or no path."""
    names = declared if isinstance(declared, tuple | list) else [declared]
    problems = [Problem(f"needs {name!r}: {reason}") for name in names if (reason := _unusable(name, workload.parent))]
    if problems:
        raise WorkloadError("what the workload needs is not there", path=workload, problems=problems)
    return {str(name): sha256(workload.parent / str(name)) for name in names}


def imported_beside(workload: Path) -> dict[str, str]:
    """The modules of the workload's own folder that are loaded now, by their SHA-256; environments in it left out."""
    root = workload.parent
    files = {Path(found) for module in list(sys.modules.values()) if (found := getattr(module, "__file__", None))}
    own = {file.relative_to(root): file for file in files if file.is_relative_to(root) and file != workload}
    return {
        name.as_posix(): sha256(file)
        for name, file in sorted(own.items())
        if file.is_file() and not any(part.startswith(".") or part == "site-packages" for part in name.parts)
    }


def changed(held: Mapping[str, str], folder: Path) -> Iterator[str]:
    """The files whose bytes are no longer those of ``held`` (path relative to ``folder`` → SHA-256)."""
    for name, digest in held.items():
        path = folder / name
        if not path.is_file() or sha256(path) != digest:
            yield name


def altered(held: Mapping[str, str], folder: Path) -> Iterator[str]:
    """The files that are here with other bytes than ``held`` says; one that is absent may be unchanged elsewhere."""
    for name, digest in held.items():
        path = folder / name
        if path.is_file():
            status = path.stat()
            if _remembered(path, status.st_mtime_ns, status.st_size) != digest:
                yield name


@lru_cache(maxsize=256)
def _remembered(path: Path, _changed_ns: int, _size: int) -> str:
    """Weights are large, and every record names them."""
    return sha256(path)


def sha256(path: Path) -> str:
    """The hash of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _unusable(name: object, folder: Path) -> str:
    if not isinstance(name, str) or not name:
        return "a need is the path of a file, as text"
    return "" if (folder / name).is_file() else "no such file beside the workload"
