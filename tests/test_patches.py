"""The hard cases of editing, in ``data/patches``: the document before, the edits, the document after.

A file holds several cases, each ``=== title`` and the parts ``--- before``, ``--- edits`` and ``--- after`` (or
``--- refused`` and words of the refusal, or ``--- kept`` and words of the conflict). Bytes that an editor would not
show or keep are written ␍ (CR), ⇥ (tab), · (blank at an edge), ⍽ (no-break space), □ (ideographic space), ⌂ (byte order
mark), ␤ (line separator U+2028), and ∎ where the file ends without a line ending.

Edits: ``PATH := TEXT``; ``PATH :=! TEXT`` by force; ``PATH :=x`` and ``PATH :=o`` tick and untick;
``PATH :+ CELL ¦ CELL`` a row, ``PATH :+LABEL+ CELL ¦ CELL`` a row after another; ``PATH :-`` takes our row out;
``\\n`` in a text is a line break. Edits are made together; a line ``then`` starts the next batch.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from npueval.patching import PatchResult, patch
from npueval.records import Edit

FOLDER = Path(__file__).parent / "data" / "patches"
SIGNS = str.maketrans({"␍": "\r", "⇥": "\t", "·": " ", "⍽": "\u00a0", "□": "\u3000", "⌂": "\ufeff", "␤": "\u2028"})
EDIT = re.compile(
    r"(?P<path>.*?) :(?:(?P<tick>=[xo])|=(?P<force>!?) ?(?P<text>.*)|\+(?:(?P<after>.*?)\+)? (?P<cells>.*)|-)"
)


@dataclass(frozen=True)
class Case:
    title: str
    before: bytes
    edits: tuple[tuple[Edit, ...], ...]
    force: tuple[str, ...]
    after: bytes
    refused: str
    kept: str


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.case")):
        for number, text in enumerate(re.split("^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:], 1):
            title, _, rest = text.partition("\n")
            parts = dict(part.partition("\n")[::2] for part in re.split("^--- ", rest, flags=re.MULTILINE)[1:])
            yield case(f"{path.stem} {number}: {title}", parts)


def case(title: str, parts: dict[str, str]) -> Case:
    batches = [batch.strip("\n").split("\n") for batch in parts["edits"].split("\nthen\n")]
    edits = tuple(tuple(map(edit, batch)) for batch in batches)
    force = tuple(edit(line).address for batch in batches for line in batch if " :=!" in line)
    refused, kept = (parts.get(name, "").strip() for name in ("refused", "kept"))
    before = shown(parts["before"])
    return Case(title, before, edits, force, shown(parts["after"]) if "after" in parts else before, refused, kept)


def edit(line: str) -> Edit:
    found = EDIT.fullmatch(line)
    assert found, line
    address = f"Compare#{found['path'].translate(SIGNS)}"
    if found["tick"]:
        return Edit(address, found["tick"] == "=x", source="run-1")
    if found["text"] is not None:
        return Edit(address, found["text"].translate(SIGNS).replace("\\n", "\n"), source="run-1")
    cells = tuple(cell.strip() for cell in found["cells"].split("¦")) if found["cells"] else ()
    return Edit(address, cells, source="run-1", after=found["after"])


def shown(text: str) -> bytes:
    return re.sub("∎\n+$", "", text).translate(SIGNS).encode()


@pytest.mark.parametrize("case", [*cases()], ids=lambda case: case.title)
def test_case(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "Compare.md"
    path.write_bytes(case.before)

    results = [patch(tmp_path, batch, force=case.force) for batch in case.edits]

    assert path.read_bytes().decode() == case.after.decode()
    assert case.refused in said(results) if case.refused else not any(result.refusals for result in results)
    conflicts = [f"{each.address}: {each.reason}: {each.kept}" for result in results for each in result.conflicts]
    assert (case.kept in "\n".join(conflicts)) if case.kept else not conflicts
    # Twice is once.
    again = patch(tmp_path, case.edits[-1], force=case.force)
    assert not again.changes
    assert path.read_bytes() == case.after


def said(results: list[PatchResult]) -> str:
    return "\n".join(f"{refusal}" for result in results for refusal in result.refusals)
