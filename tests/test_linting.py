"""Documents are linted as people keep them: whole sets, single files, and what is no document at all.

A fixture (``tests/data/lint/*.md``) holds parts of several documents, each after a line ``=== Compare``; a line that ends
in ``{NPE201}`` is where that finding, and no other, is due. ``finished`` is a whole set of a finished migration.
"""

import re
import shutil
from pathlib import Path

import pytest

from npueval.errors import DocumentError
from npueval.layout import HOMES, create
from npueval.linting import lint
from npueval.rules import RULES

DATA = Path(__file__).parent / "data" / "lint"
FIXTURES = sorted(DATA.glob("*.md"))
# A fixture shows parts of documents; that the rest is missing is not its point.
STRUCTURE = ("NPE101", "NPE105")
PATHS = {home.name: home.path for home in HOMES}
DUE = re.compile(r" *\{(NPE\d{3})\}")


def unpacked(fixture: Path, folder: Path) -> list[tuple[str, int, str]]:
    """Write the documents of a fixture without their marks; return path, line and code of the findings that are due."""
    due: list[tuple[str, int, str]] = []
    _, *parts = re.split(r"^=== (\w+)\n", fixture.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        path = folder / PATHS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DUE.sub("", text), encoding="utf-8", newline="\n")
        for number, line in enumerate(text.split("\n"), start=1):
            due += [(str(path), number, code) for code in DUE.findall(line)]
    return sorted(due)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_findings_are_where_the_fixture_says(fixture: Path, tmp_path: Path) -> None:
    due = unpacked(fixture, tmp_path)
    rules = [rule for rule in RULES if rule.code not in STRUCTURE]
    assert [(finding.path, finding.line, finding.code) for finding in lint([tmp_path], rules=rules)] == due


def test_blank_documents_are_clean(tmp_path: Path) -> None:
    create(tmp_path / "mig_docs")
    assert lint([tmp_path]) == []


def test_a_finished_set_is_clean() -> None:
    assert lint([DATA / "finished"]) == []
