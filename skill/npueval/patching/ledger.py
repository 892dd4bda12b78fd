"""Which texts in the documents are ours: for each one its address, a hash, and the Run or Baseline it came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from npueval.documents.labels import fold
from npueval.errors import FormatError

FORMAT = "npueval/ledger/1"
PATH = ".npueval/ledger.json"
BY_HAND = "set"
"""The source of what a person wrote by `npueval set`: no Run may overwrite it, another `set` may."""


@dataclass(frozen=True)
class Entry:
    """One text that we wrote: where, what (as SHA-256 of its UTF-8 bytes), and from which Run or Baseline."""

    address: str
    sha256: str
    source: str

    @classmethod
    def of(cls, address: str, text: str, source: str) -> Entry:
        """The entry of a text that was just written."""
        return cls(address, hashlib.sha256(text.encode()).hexdigest(), source)

    def holds(self, text: str) -> bool:
        """Whether ``text`` is still what we wrote."""
        return hashlib.sha256(text.encode()).hexdigest() == self.sha256


@dataclass(frozen=True)
class Ledger:
    """The entries by folded address, so that a label may change its width, blanks or case and stay ours."""

    entries: Mapping[str, Entry] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Ledger:
        """The ledger of a documents folder; empty where there is none. Raises :class:`FormatError`."""
        path = folder / PATH
        return cls.read(path.read_bytes(), path) if path.exists() else cls()

    @classmethod
    def read(cls, data: bytes, path: Path) -> Ledger:
        """The ledger in these bytes. Raises :class:`FormatError` when it is broken, or newer than this release."""
        try:
            held = json.loads(data)
            form = held["format"]
            entries = [Entry(each["address"], each["sha256"], each["source"]) for each in held["entries"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"not a ledger of npueval ({error})", path=path, hint="restore it from git") from error
        if form != FORMAT:
            raise FormatError(f"ledger of format {form!r}, and this release reads {FORMAT!r}", path=path)
        return cls({fold(entry.address): entry for entry in entries})

    def get(self, address: str) -> Entry | None:
        """The entry of an address, if we ever wrote there."""
        return self.entries.get(fold(address))

    def changed(self, added: Iterable[Entry], removed: Iterable[str] = ()) -> Ledger:
        """The ledger with some entries added or replaced and some addresses forgotten."""
        entries = {**self.entries, **{fold(entry.address): entry for entry in added}}
        for address in removed:
            entries.pop(fold(address), None)
        return Ledger(entries)

    def stale(self, sources: Collection[str]) -> tuple[Entry, ...]:
        """The entries from a Run or Baseline that is not among the current ``sources``.

        What a person set, and what came from no measurement, is never stale.
        """
        current = {*sources, BY_HAND, ""}
        return tuple(entry for entry in self.entries.values() if entry.source not in current)

    def to_bytes(self) -> bytes:
        """The file's content: one entry a line, by address, so that version control shows what changed."""
        entries = sorted(self.entries.values(), key=lambda entry: entry.address)
        lines = ",\n".join(json.dumps(vars(entry), ensure_ascii=False) for entry in entries)
        return f'{{"format": {json.dumps(FORMAT)}, "entries": [\n{lines}\n]}}\n'.encode()
