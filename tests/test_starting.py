from pathlib import Path

import pytest

from npueval import plan
from npueval.documents import layout
from npueval.errors import NpuevalError
from npueval.starting import PLAN, start


def test_a_project_gets_its_documents_and_a_plan_that_loads(tmp_path: Path) -> None:
    project = tmp_path / "项 目: 'a' # b"
    project.mkdir()
    started = start(project)
    assert {path.name for path in started.created} == {
        "Compare.md", "Mig_Readme.md", "Mig_report.md", "environment.md", "Summary.md", PLAN,
    }  # fmt: skip
    assert plan.load(project / PLAN).project.name == project.name


def test_what_is_there_is_kept_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / PLAN).write_bytes(b"mine: 1\r\n")
    (tmp_path / "mig_docs").mkdir()
    (tmp_path / "mig_docs" / "Summary.md").write_bytes("# 我的总结\r\n".encode())
    start(tmp_path)
    assert start(tmp_path).created == ()
    assert (tmp_path / PLAN).read_bytes() == b"mine: 1\r\n"
    assert (tmp_path / "mig_docs" / "Summary.md").read_bytes() == "# 我的总结\r\n".encode()


def test_an_old_layout_is_used_where_it_is_and_moved_when_asked(tmp_path: Path) -> None:
    old = tmp_path / "mig_docs" / "env.md"
    old.parent.mkdir()
    old.write_text("# 环境\n", encoding="utf-8")
    started = start(tmp_path)
    assert old.name not in {path.name for path in started.created}
    assert "environment.md" not in {path.name for path in started.created}
    assert any("--upgrade" in str(oddity) for oddity in started.oddities)
    new = tmp_path / "mig_docs" / "working" / "environment.md"
    assert start(tmp_path, upgrade=True, dry_run=True).moved == ((old, new),)
    assert old.exists()
    assert start(tmp_path, upgrade=True).moved == ((old, new),)
    assert new.read_text(encoding="utf-8") == "# 环境\n"
    assert not old.exists()


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    assert len(start(tmp_path, dry_run=True).created) == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_project_is_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NpuevalError):
        start(tmp_path / name)


def test_the_layout_names_five_documents() -> None:
    assert len(layout.HOMES) == 5
