"""The verb behind ``npueval lint``: find the documents, read them, and hold every rule against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from npueval.documents import layout, markdown, transactions
from npueval.documents.tree import Document
from npueval.errors import DocumentError
from npueval.records import Finding
from npueval.rules import RULES, Documents, Rule


def lint(paths: Sequence[Path], *, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Every finding in the documents at ``paths``, sorted by place.

    A folder is a project or its ``mig_docs`` and is checked as a whole set; files are checked together with the other
    given files of their set. Raises :class:`DocumentError` for a path that does not exist, cannot be read, or is none
    of the documents; a document that is not UTF-8 is a finding.
    """
    found = {finding for documents in _sets(paths) for rule in rules for finding in rule.findings(documents)}
    return sorted(
        found, key=lambda finding: (finding.path, finding.line, finding.column, finding.code, finding.message)
    )


def _sets(paths: Iterable[Path]) -> Iterator[Documents]:
    files: dict[Path, dict[str, Path]] = {}
    for path in paths:
        if path.is_dir():
            yield _whole(layout.folder_of(path))
        elif path.is_file():
            folder = path.parent.parent if path.parent.name == "working" else path.parent
            files.setdefault(folder, {})[_name(path)] = path
        else:
            raise DocumentError("no such file or folder", code="DOCUMENT_MISSING", path=path)
    for found in files.values():
        yield Documents(*_read(found))


def _whole(folder: Path) -> Documents:
    if transactions.unfinished(folder):
        with transactions.exclusive(folder):  # Entering settles what a killed writer has left half done.
            pass
    missing = tuple(str(path) for path in layout.missing(folder))
    return Documents(*_read(layout.find(folder)), missing, tuple(layout.oddities(folder)))


def _name(path: Path) -> str:
    try:
        return layout.name_of(path.name)
    except DocumentError as error:
        raise DocumentError("not one of the migration documents", path=path, hint=error.hint) from None


def _read(found: Mapping[str, Path]) -> tuple[dict[str, Document], tuple[DocumentError, ...]]:
    results = {name: _parse(name, path) for name, path in found.items()}
    readable = {name: result for name, result in results.items() if isinstance(result, Document)}
    return readable, tuple(result for result in results.values() if isinstance(result, DocumentError))


def _parse(name: str, path: Path) -> Document | DocumentError:
    try:
        return markdown.parse(path.read_bytes(), path=path, name=name)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", path=path) from None
    except DocumentError as error:
        if error.code != "DOCUMENT_ENCODING":
            raise
        return error
