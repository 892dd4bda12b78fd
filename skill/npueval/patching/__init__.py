"""Edits into the documents: located, spliced, parsed again and proven, then written as one transaction."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from npueval import atomic
from npueval.documents import layout, markdown, transactions
from npueval.documents.addresses import Address
from npueval.documents.journal import Change
from npueval.documents.tree import Document
from npueval.errors import DocumentError, Problem
from npueval.patching.ledger import PATH as LEDGER
from npueval.patching.ledger import Ledger
from npueval.patching.proving import prove
from npueval.patching.revising import revise
from npueval.patching.revision import Conflict, Revision
from npueval.patching.splicing import entries, orphans, splices
from npueval.patching.writing import splice
from npueval.records import Edit

Check = Callable[[Mapping[str, Document]], Iterable[Problem]]
"""Looks at all documents together; a patch may not add to the problems that it finds."""


@dataclass(frozen=True)
class PatchResult:
    """What became of the edits. With a refusal nothing is written at all; a conflict keeps only its own text.

    ``applied`` and ``unchanged`` hold addresses, ``changed`` the names of the documents whose bytes differ (or would,
    in a dry run), ``changes`` these bytes; ``notes`` says what is odd and was kept.
    """

    changed: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    refusals: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    ledger: Change | None = None

    @cached_property
    def diff(self) -> str:
        """The changes of the documents as a unified diff."""
        return "".join(map(unified, self.changes))


def patch(
    folder: Path,
    edits: Sequence[Edit],
    *,
    dry_run: bool = False,
    force: Collection[str] = (),
    checks: Sequence[Check] = (),
) -> PatchResult:
    """Apply edits to the documents in ``folder``, all documents or none.

    ``force`` holds addresses at which a person's text may be overwritten. Raises :class:`DocumentError` when a document
    cannot be read or written; what is wrong with single edits comes back as ``refusals``.
    """
    if dry_run:
        transactions.settle(folder)
    with nullcontext() if dry_run else transactions.exclusive(folder):
        result = _Desk.open(folder).patched(edits, force, checks)
        changes = [*result.changes, *filter(None, [result.ledger])]
        if changes and not dry_run:
            transactions.commit(folder, changes)
    return result


def undo(folder: Path, *, dry_run: bool = False) -> tuple[Change, ...]:
    """Take the last transaction back, if nobody has touched its files since.

    Raises :class:`DocumentError` otherwise, and when there is nothing to take back.
    """
    with transactions.exclusive(folder):
        changes = transactions.last_changes(folder)
        if not dry_run:
            transactions.commit(folder, changes, undoes=True)
    return changes


def applied(revision: Revision) -> Document | None:
    """The proven document with the revision in it; ``None`` where its bytes stay.

    What cannot be written or proven joins the revision's refusals, and the bytes stay.
    """
    if revision.refusals:
        return None
    document = revision.document
    with revision.refusing(document.name):
        made = splices(revision)
        data = splice(document.data, made)
        if revision.refusals or data == document.data:
            return None
        after = markdown.parse(data, path=document.path, name=document.name)
        prove(revision, after, made)
        return after
    return None


def unified(change: Change) -> str:
    """A change as a unified diff."""
    before, after = (_diff_lines(data or b"") for data in (change.before, change.after))
    return "".join(difflib.unified_diff(before, after, str(change.path), str(change.path)))


def _diff_lines(data: bytes) -> list[str]:
    lines = re.findall(r"[^\n]*\n|[^\n]+", data.decode())
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


@dataclass
class _Desk:
    """The documents of a folder, each read and parsed once, when it is first needed."""

    folder: Path
    paths: Mapping[str, Path]
    ledger: Ledger
    opened: dict[str, Document] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> _Desk:
        return cls(folder, layout.find(folder), Ledger.load(folder))

    def document(self, name: str) -> Document:
        if name not in self.opened:
            path = self.paths[name]
            self.opened[name] = markdown.parse(layout.read(path), path=path, name=name)
        return self.opened[name]

    def patched(self, edits: Sequence[Edit], force: Collection[str], checks: Sequence[Check]) -> PatchResult:
        by_name, refusals = self._sorted(edits)
        revisions = [revise(self.document(name), self.ledger, own, force=force) for name, own in by_name.items()]
        afters = [applied(revision) for revision in revisions]
        for revision in revisions:
            refusals += revision.refusals
        changed = {after.name: after for after in afters if after}
        if not refusals:
            refusals += self._disagreements(changed, checks)
        if refusals:
            return _summary(revisions, refusals)
        changes = [Change(self.paths[name], self.opened[name].data, after.data) for name, after in changed.items()]
        return replace(
            _summary(revisions, []),
            changed=tuple(changed),
            changes=tuple(changes),
            ledger=self._ledger_change(revisions, changed),
        )

    def _sorted(self, edits: Sequence[Edit]) -> tuple[dict[str, list[Edit]], list[Problem]]:
        """The edits by document, and the addresses that lead to none."""
        by_name: dict[str, list[Edit]] = {}
        refusals: dict[Problem, None] = {}
        for edit in edits:
            if isinstance(name := self._name(edit), str):
                by_name.setdefault(name, []).append(edit)
            else:
                refusals[name] = None
        return by_name, list(refusals)

    def _name(self, edit: Edit) -> str | Problem:
        try:
            name = layout.name_of(Address.parse(edit.address).document)
        except DocumentError as error:
            return Problem(f"{edit.address}: {error.message}", hint=error.hint)
        if name in self.paths:
            return name
        return Problem(f"{name} is not in this folder", str(self.folder), hint="npueval init creates it")

    def _disagreements(self, changed: Mapping[str, Document], checks: Sequence[Check]) -> list[Problem]:
        if not checks or not changed:
            return []
        before = {name: self.document(name) for name in self.paths}
        known = {problem.message for check in checks for problem in check(before)}
        found = [problem for check in checks for problem in check({**before, **changed})]
        return [problem for problem in found if problem.message not in known]

    def _ledger_change(self, revisions: Sequence[Revision], changed: Mapping[str, Document]) -> Change | None:
        ledger = self.ledger
        for revision in revisions:
            after = changed.get(revision.document.name, revision.document)
            gone = orphans(revision, after) if after is not revision.document else ()
            ledger = ledger.changed(entries(revision, after), gone)
        if ledger == self.ledger:
            return None
        path = self.folder / LEDGER
        return Change(path, atomic.read(path), ledger.to_bytes())


def _summary(revisions: Sequence[Revision], refusals: Sequence[Problem]) -> PatchResult:
    applied = dict.fromkeys(address for revision in revisions for address in revision.applied)
    unchanged = dict.fromkeys(address for revision in revisions for address in revision.unchanged)
    return PatchResult(
        applied=tuple(applied),
        unchanged=tuple(address for address in unchanged if address not in applied),
        conflicts=tuple(conflict for revision in revisions for conflict in revision.conflicts),
        refusals=tuple(refusals),
        notes=tuple(dict.fromkeys(note for revision in revisions for note in revision.notes)),
    )
