"""What a transaction over several files is about to do, written down before it does it.

1. *staging*: old bytes are saved, new bytes wait beside each file. Killed here, everything is taken back.
2. *committed*: the files are replaced one after the other. Killed here, the next command finishes the work.
3. The journal becomes ``last.json``, from which the transaction can be taken back.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npueval import atomic
from npueval.errors import DocumentError, FormatError

STATE = ".npueval"
FORMAT = "npueval/journal/1"


@dataclass(frozen=True)
class Change:
    """What a file held when it was read, and what it is to hold; ``None`` is no file.

    A new file takes mode and owner from the file ``like``, if given.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    like: Path | None = None


@dataclass(frozen=True)
class _File:
    """A file of the transaction: its path within the folder, and the hashes of its old and new bytes."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Journal:
    """One transaction. ``undoes``: it takes another one back."""

    folder: Path
    identity: str
    undoes: bool
    files: tuple[_File, ...]
    committed: bool = False

    @classmethod
    def of(cls, folder: Path, changes: Sequence[Change], *, undoes: bool) -> Journal:
        """The journal of changes that are about to be made."""
        files = (
            _File(os.path.relpath(change.path, folder), _digest(change.before), _digest(change.after))
            for change in changes
        )
        return cls(folder, uuid.uuid4().hex, undoes, tuple(files))

    @classmethod
    def load(cls, folder: Path, name: str) -> Journal | None:
        """Read ``journal.json`` or ``last.json``; ``None`` where there is none. Raises :class:`FormatError`."""
        path = folder / STATE / name
        data = atomic.read(path)
        if data is None:
            return None
        try:
            held = json.loads(data)
            files = tuple(_File(each["path"], each["before"], each["after"]) for each in held["files"])
            journal = cls(folder, held["identity"], held["undoes"], files, held["committed"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"not a journal of npueval ({error})", path=path) from error
        if held["format"] != FORMAT or any(_leaves(folder, file.path) for file in files):
            raise FormatError(f"journal of format {held['format']!r}, not {FORMAT!r}", path=path)
        return journal

    def stage(self, changes: Sequence[Change]) -> None:
        """Save the old bytes and write the new ones beside each file."""
        self._write()
        self._saved(0).parent.mkdir()
        for number, change in enumerate(changes):
            if change.before is not None:
                atomic.write(self._saved(number), change.before)
            if change.after is not None:
                target = self._target(self.files[number])
                target.parent.mkdir(parents=True, exist_ok=True)
                atomic.stage(target, change.after, like=change.like)

    def commit(self) -> None:
        """From here on the transaction will be finished, by whomever."""
        replace(self, committed=True)._write()

    def replace_all(self, *, keep_touched: bool = False) -> None:
        """Put every file in its place. One that is neither old nor new was changed by a person: kept, or an error."""
        for file in self.files:
            target = self._target(file)
            now = _digest(atomic.read(target))
            if now == file.before != file.after:
                if file.after is None:
                    atomic.remove(target)
                else:
                    atomic.put(atomic.staged_beside(target), target)
            elif now != file.after and not keep_touched:
                raise _touched([file.path], self.folder)

    def require_untouched(self) -> None:
        """Raise :class:`DocumentError` when a file has changed since it was read."""
        touched = [file.path for file in self.files if _digest(atomic.read(self._target(file))) != file.before]
        if touched:
            raise _touched(touched, self.folder)

    def require_replaced(self) -> None:
        """Raise :class:`DocumentError` when a file no longer holds what the transaction wrote."""
        touched = [file.path for file in self.files if _digest(atomic.read(self._target(file))) != file.after]
        if touched:
            raise _touched(touched, self.folder)

    def restore(self) -> None:
        """Give every file its old bytes back that has got the new ones."""
        for number, file in enumerate(self.files):
            target = self._target(file)
            if _digest(atomic.read(target)) != file.after or file.before == file.after:
                continue
            if file.before is None:
                atomic.remove(target)
            else:
                atomic.write(target, self._saved(number).read_bytes())
        self.discard()

    def discard(self) -> None:
        """Remove what was staged, and the journal last."""
        for file in self.files:
            atomic.staged_beside(self._target(file)).unlink(missing_ok=True)
        shutil.rmtree(self._saved(0).parent, ignore_errors=True)
        atomic.remove(self.folder / STATE / "journal.json")

    def finish(self) -> None:
        """Keep the journal as the last transaction; drop what only the one before it needed."""
        for file in self.files:
            atomic.staged_beside(self._target(file)).unlink(missing_ok=True)
        atomic.put(self.folder / STATE / "journal.json", self.folder / STATE / "last.json")
        for saved in (self.folder / STATE).glob("saved-*"):
            if saved != self._saved(0).parent:
                shutil.rmtree(saved, ignore_errors=True)

    def reversed(self) -> tuple[Change, ...]:
        """The changes that take the transaction back."""
        return tuple(
            Change(
                self.folder / file.path,
                atomic.read(self._target(file)),
                None if file.before is None else self._saved(number).read_bytes(),
            )
            for number, file in enumerate(self.files)
        )

    def _target(self, file: _File) -> Path:
        """The file itself, where the path is a link to it."""
        return Path(os.path.realpath(self.folder / file.path))

    def _saved(self, number: int) -> Path:
        return self.folder / STATE / f"saved-{self.identity}" / str(number)

    def _write(self) -> None:
        held = {
            "format": FORMAT,
            "identity": self.identity,
            "undoes": self.undoes,
            "committed": self.committed,
            "files": [vars(file) for file in self.files],
        }
        atomic.write(self.folder / STATE / "journal.json", json.dumps(held, ensure_ascii=False, indent=1).encode())


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _leaves(folder: Path, path: str) -> bool:
    return not Path(os.path.normpath(folder / path)).is_relative_to(os.path.normpath(folder))


def _touched(paths: Sequence[str], folder: Path) -> DocumentError:
    return DocumentError(
        f"changed by somebody else in the meantime: {', '.join(paths)}",
        code="DOCUMENT_CHANGED",
        path=folder,
        hint="nothing was written; run the command again",
    )
