"""Files that are wholly old or wholly new: written beside the target, synced, and put in its place in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def staged_beside(target: Path) -> Path:
    """Where the new bytes of ``target`` wait; a fixed name, so that a crash leaves nothing that cannot be found."""
    return target.with_name(f".{target.name}.npueval-new")


def stage(target: Path, data: bytes, *, like: Path | None = None) -> Path:
    """Write ``data`` beside ``target``, synced to the disk, with the mode, owner and attributes of what stands there.

    A new file takes them from ``like``, if given.
    """
    staged = staged_beside(target)
    staged.unlink(missing_ok=True)
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _write_all(descriptor, data)
        model = target if target.exists() else like
        if model is not None:
            _take_over(model, staged)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return staged


def put(staged: Path, target: Path) -> None:
    """Let the staged file become ``target``."""
    staged.replace(target)
    sync_folder(target.parent)


def write(target: Path, data: bytes) -> None:
    """Replace a whole file in one step; where that fails, nothing is left beside it."""
    try:
        put(stage(target, data), target)
    finally:
        staged_beside(target).unlink(missing_ok=True)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Where to write a new ``target``, of this process alone; put in its place at the end, removed where that fails.

    For what is made anew or too large to hold: unlike :func:`write` it is not synced, and takes over no mode.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield staged
        staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)


def remove(target: Path) -> None:
    """Remove a file, if it is there, for good."""
    target.unlink(missing_ok=True)
    sync_folder(target.parent)


def read(path: Path) -> bytes | None:
    """The bytes of a file; ``None`` where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder outlast a power cut (Windows has no such call and needs none)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _take_over(old: Path, new: Path) -> None:
    status = old.stat()
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (new.stat().st_uid, new.stat().st_gid):
        os.chown(new, status.st_uid, status.st_gid)
    # Mode, flags and extended attributes (access lists among them); the times are to be the new file's own.
    shutil.copystat(old, new)
    with suppress(OSError):
        os.utime(new)
