"""Several files changed as one: all of them or none, whenever the process is killed.

Every writer of a folder goes through :func:`exclusive`, which keeps the others out and settles what a killed one left.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from npueval.documents.journal import STATE, Change, Journal
from npueval.errors import DocumentError

PATIENCE_S = 30.0
# The ledger belongs to the documents and travels with them; the rest is this machine's business.
_IGNORED = b"*\n!.gitignore\n!ledger.json\n"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def exclusive(folder: Path, *, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Keep every other writer of this folder out, and first finish or take back what a killed one has left.

    Raises :class:`DocumentError` where the folder cannot be written or stays locked.
    """
    lock = FileLock(folder / STATE / "lock")
    with _clear_errors(folder):
        _open_state(folder)
        _acquire(lock, folder, patience_s)
        try:
            recover(folder)
        except BaseException:
            lock.release()
            raise
    try:
        yield
    finally:
        lock.release()


def unfinished(folder: Path) -> bool:
    """Whether a killed process has left a transaction that :func:`exclusive` will settle."""
    return (folder / STATE / "journal.json").exists()


def settle(folder: Path) -> None:
    """Before reading documents: finish or take back what a killed process has left. Writes nothing otherwise."""
    if unfinished(folder):
        with exclusive(folder):
            pass


def recover(folder: Path) -> None:
    """Settle what a killed process has left: finished once it was committed, else taken back. Under the lock only."""
    journal = Journal.load(folder, "journal.json")
    if journal is None:
        return
    if not journal.committed:
        journal.discard()
        return
    try:
        journal.replace_all(keep_touched=True)
    except FileNotFoundError:
        journal.restore()
    else:
        journal.finish()


def commit(folder: Path, changes: Sequence[Change], *, undoes: bool = False) -> None:
    """Make all changes or none; under the lock only. ``undoes`` marks the taking back of a transaction.

    Raises :class:`DocumentError` when a file has changed since it was read, has hard links, cannot be written, or when
    the disk is full; every file then holds its old bytes.
    """
    _refuse_unsafe(changes)
    journal = Journal.of(folder, changes, undoes=undoes)
    with _clear_errors(folder):
        try:
            journal.stage(changes)
            journal.require_untouched()
            journal.commit()
        except BaseException:
            journal.discard()
            raise
        try:
            journal.replace_all()
        except BaseException:
            journal.restore()
            raise
        journal.finish()


def last_changes(folder: Path) -> tuple[Change, ...]:
    """The changes that take the last transaction back; under the lock only.

    Raises :class:`DocumentError` when there is none, or somebody has changed one of its files since.
    """
    journal = Journal.load(folder, "last.json")
    if journal is None or journal.undoes:
        raise DocumentError("there is no transaction to take back", code="NOTHING_TO_UNDO", path=folder)
    journal.require_replaced()
    return journal.reversed()


def _acquire(lock: FileLock, folder: Path, patience_s: float) -> None:
    try:
        lock.acquire(timeout=patience_s)
    except Timeout:
        raise DocumentError(
            f"another npueval has been writing here for {patience_s:g} s",
            code="DOCUMENT_LOCKED",
            path=folder,
            hint="wait for it to end and try again",
        ) from None


def _open_state(folder: Path) -> None:
    if not folder.is_dir():
        raise DocumentError("no such folder", code="DOCUMENT_MISSING", path=folder, hint="npueval init creates it")
    state = folder / STATE
    state.mkdir(exist_ok=True)
    if not (state / ".gitignore").exists():
        (state / ".gitignore").write_bytes(_IGNORED)


def _refuse_unsafe(changes: Sequence[Change]) -> None:
    targets = [Path(os.path.realpath(change.path)) for change in changes]
    for change, target in zip(changes, targets, strict=True):
        if targets.count(target) > 1:
            raise DocumentError("two documents are links to this file", code="DOCUMENT_LINKED", path=target)
        if not target.exists():
            continue
        if not target.is_file():
            raise DocumentError("not a regular file", code="DOCUMENT_NOT_A_FILE", path=change.path)
        if target.stat().st_nlink > 1:
            raise DocumentError(
                "has more than one hard link; replacing it would part them",
                code="DOCUMENT_LINKED",
                path=change.path,
                hint="make it a file of its own: cp FILE FILE.new && mv FILE.new FILE",
            )
        if not os.access(target, os.W_OK):
            raise DocumentError("is read-only", code="DOCUMENT_READ_ONLY", path=change.path, hint="chmod u+w FILE")


@contextmanager
def _clear_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        if error.errno in _FULL:
            message, code = "the disk is full; the documents are unchanged", "DISK_FULL"
        elif error.errno in _READ_ONLY:
            message, code = f"cannot be written ({error.strerror}); the documents are unchanged", "DOCUMENT_READ_ONLY"
        else:
            message, code = f"cannot be written ({error.strerror or error})", "DOCUMENT_UNWRITABLE"
        raise DocumentError(message, code=code, path=place) from error
