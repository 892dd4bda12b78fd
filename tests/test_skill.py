"""What an agent reads: valid, short, and true to the code."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from skills_ref import read_properties, validate

import npueval
from npueval.cli import COMMANDS
from npueval.documents.addresses import resolve
from npueval.documents.structure import blank
from npueval.errors import Exit
from npueval.rules import RULES

FOLDER = Path(npueval.__file__).parent
SKILL = (FOLDER / "SKILL.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / "references").glob("*.md"))}


def test_the_skill_is_valid() -> None:
    assert validate(FOLDER) == []
    description = read_properties(FOLDER).description
    assert all(word in description for word in ("Ascend", "NPU", "性能", "Use when", "Do not use"))


def test_the_skill_is_short() -> None:
    assert len(SKILL.splitlines()) < 120


def test_every_page_is_linked_and_every_link_leads_somewhere() -> None:
    assert set(re.findall(r"\]\(references/([^)]+)\)", SKILL)) == set(PAGES)


@pytest.mark.parametrize("text", [SKILL, *PAGES.values()], ids=["SKILL.md", *PAGES])
def test_commands_documents_and_rules_are_called_by_their_names(text: str) -> None:
    assert set(re.findall(r"[`:] *npueval ([a-z]+)", text)) <= set(COMMANDS)
    assert set(re.findall(r"NPE\d{3}", text)) <= {rule.code for rule in RULES}
    for address in re.findall(r"`(\w+#[^`]+)`", text):
        assert resolve(blank(address.partition("#")[0]), address).address


def test_the_exit_statuses_are_the_program_s() -> None:
    told = {int(number) for number in re.findall(r"^\| (\d) \|", SKILL, flags=re.MULTILINE)}
    assert told == set(Exit) - {Exit.INTERRUPTED}


def test_generated_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    script = FOLDER.parents[1] / "scripts" / "generate.py"
    with pytest.raises(SystemExit) as done:
        runpy.run_path(str(script), run_name="__main__")
    assert done.value.code == 0, capsys.readouterr().out + "\nrun scripts/generate.py"
