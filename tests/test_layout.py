"""Where the documents lie: today's layout, older ones, and from one to the other."""

import stat
from pathlib import Path

import pytest

from npueval import patching
from npueval.documents import layout
from npueval.errors import DocumentError

NAMES = ["Compare", "Mig_Readme", "Mig_report", "environment", "Summary"]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "mig_docs"
    layout.create(folder)
    return folder


@pytest.fixture
def flat(docs: Path) -> Path:
    """The documents as older projects have them."""
    for name in ("Compare", "Mig_Readme", "Mig_report"):
        (docs / "working" / f"{name}.md").rename(docs / f"{name}.md")
    (docs / "working" / "environment.md").rename(docs / "env.md")
    return docs


def test_all_five_are_created_once(docs: Path) -> None:
    assert list(layout.find(docs)) == NAMES
    assert layout.missing(docs) == []
    (docs / "Summary.md").write_text("手写", encoding="utf-8")
    (docs / "working" / "Compare.md").unlink()

    assert layout.create(docs) == [docs / "working" / "Compare.md"]
    assert (docs / "Summary.md").read_text(encoding="utf-8") == "手写"
    assert layout.create(docs) == []


def test_an_old_layout_is_used_where_it_is_and_reported(flat: Path) -> None:
    assert layout.find(flat)["environment"] == flat / "env.md"
    assert layout.missing(flat) == []
    assert layout.create(flat) == []
    assert {Path(str(problem.path)).name for problem in layout.oddities(flat)} == {
        "Compare.md",
        "Mig_Readme.md",
        "Mig_report.md",
        "env.md",
    }


def test_the_upgrade_moves_all_and_can_be_taken_back(flat: Path) -> None:
    (flat / "Compare.md").write_text("手写", encoding="utf-8")
    (flat / "Compare.md").chmod(0o640)

    made = layout.upgrade(flat)

    assert (flat / "env.md", flat / "working" / "environment.md") in made
    assert layout.oddities(flat) == []
    moved = flat / "working" / "Compare.md"
    assert moved.read_text(encoding="utf-8") == "手写"
    assert stat.S_IMODE(moved.stat().st_mode) == 0o640
    assert layout.upgrade(flat) == []

    patching.undo(flat)
    assert layout.find(flat)["Compare"] == flat / "Compare.md"
    assert not moved.exists()


def test_links_that_the_upgrade_breaks_are_told(flat: Path) -> None:
    (flat / "run.log").write_text("x", encoding="utf-8")
    text = "# 对比\n\n[日志](run.log) [说明](Mig_Readme.md) [总结](Summary.md#1) [网](https://a.cn/b) [无](none.md)\n"
    (flat / "Compare.md").write_text(text, encoding="utf-8")

    told = [
        str(problem) for problem in layout.broken_links(layout.moves(flat)) if problem.path == str(flat / "Compare.md")
    ]

    assert [line.partition(": ")[2] for line in told] == [
        "the link to run.log breaks when this document moves (from working/ it is ../run.log)",
        "the link to Summary.md breaks when this document moves (from working/ it is ../Summary.md)",
    ]


def test_a_link_is_not_moved(flat: Path) -> None:
    (flat / "Compare.md").rename(flat / "real.md")
    (flat / "Compare.md").symlink_to(flat / "real.md")

    with pytest.raises(DocumentError, match="is a link"):
        layout.upgrade(flat)
    assert (flat / "env.md").exists()


def test_a_second_copy_is_told_and_not_read(docs: Path) -> None:
    (docs / "Compare.md").write_text("旧", encoding="utf-8")

    (problem,) = layout.oddities(docs)

    assert problem.path == str(docs / "Compare.md")
    assert layout.find(docs)["Compare"] == docs / "working" / "Compare.md"
    assert layout.moves(docs) == []


def test_file_names_in_another_case_are_found(docs: Path) -> None:
    (docs / "working" / "Mig_Readme.md").rename(docs / "working" / "mig_readme.md")

    assert layout.find(docs)["Mig_Readme"].name in ("mig_readme.md", "Mig_Readme.md")
    assert layout.oddities(docs) == []
    assert layout.moves(docs) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [("compare", "Compare"), ("Mig_readme", "Mig_Readme"), ("env", "environment"), ("working/Compare.md", "Compare")],
)
def test_names_of_documents(text: str, name: str) -> None:
    assert layout.name_of(text) == name


def test_an_unknown_name_is_told_the_five() -> None:
    with pytest.raises(DocumentError, match="there are Compare, Mig_Readme, Mig_report, environment, Summary"):
        layout.name_of("Compares")


def test_a_document_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be read"):
        layout.read(tmp_path)


def test_the_folder_of_a_project(docs: Path, tmp_path: Path) -> None:
    assert layout.folder_of(tmp_path) == docs
    assert layout.folder_of(docs) == docs
    with pytest.raises(DocumentError, match="npueval init makes them"):
        layout.folder_of(docs / "working" / "none")
