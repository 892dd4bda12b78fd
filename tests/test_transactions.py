"""All files or none: faults at every step, other writers, links, full disks, and taking it back."""

import errno
import json
import multiprocessing
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from npueval.documents import transactions
from npueval.documents.journal import Change
from npueval.documents.transactions import commit, exclusive, last_changes, settle
from npueval.errors import DocumentError, FormatError

OLD = {"a.md": "旧 a", "working/b.md": "旧 b", "gone.md": "旧 c"}
NEW = {"a.md": "新 a", "working/b.md": "新 b", "made/new.md": "新 d"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in OLD.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it has written; only a power cut would, and none is tried here."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".npueval" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def changes(folder: Path) -> list[Change]:
    names = {**OLD, **NEW}
    return [
        Change(folder / name, OLD[name].encode() if name in OLD else None, NEW[name].encode() if name in NEW else None)
        for name in names
    ]


def change(folder: Path) -> None:
    with exclusive(folder):
        commit(folder, changes(folder))


def test_all_files_change_and_come_back(folder: Path) -> None:
    change(folder)
    assert contents(folder) == NEW

    with exclusive(folder):
        commit(folder, last_changes(folder), undoes=True)
    assert contents(folder) == OLD

    with exclusive(folder), pytest.raises(DocumentError, match="no transaction to take back"):
        last_changes(folder)


def test_nothing_is_taken_back_that_somebody_touched_since(folder: Path) -> None:
    change(folder)
    (folder / "a.md").write_text("手写", encoding="utf-8")

    with exclusive(folder), pytest.raises(DocumentError, match=r"changed by somebody else in the meantime: a\.md"):
        last_changes(folder)
    assert contents(folder) == {**NEW, "a.md": "手写"}


def test_a_file_that_changed_since_it_was_read_refuses_all(folder: Path) -> None:
    (folder / "working" / "b.md").write_text("手写", encoding="utf-8")

    with pytest.raises(DocumentError, match="changed by somebody else"):
        change(folder)

    assert contents(folder) == {**OLD, "working/b.md": "手写"}
    assert not list(folder.rglob("*.npueval-new"))


STEPS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir")


def killed_at(folder: Path, step: int, *, during: Callable[[Path], None]) -> bool:
    """Run ``during`` in a child that dies just before its ``step``-th system call of interest; whether it died."""
    child = os.fork()
    if child == 0:
        die_at(step)
        during(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def die_at(step: int) -> None:
    left = [step]

    def counting(real: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            if left[0] == 0:
                os.kill(os.getpid(), 9)
            left[0] -= 1
            return real(*arguments, **named)

        return counted

    for name in STEPS:
        setattr(os, name, counting(getattr(os, name)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_killed_anywhere_it_is_wholly_old_or_wholly_new_after_the_next_command(folder: Path) -> None:
    seen, step = set(), 0
    while killed_at(folder, step, during=change):
        settle(folder)
        now = contents(folder)
        assert now in (OLD, NEW), f"step {step}"
        seen.add("old" if now == OLD else "new")
        if now == NEW:
            with exclusive(folder):
                commit(folder, last_changes(folder), undoes=True)
        step += 1

    assert seen == {"old", "new"}
    assert step > 40
    assert contents(folder) == NEW


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_killed_while_it_settles_it_settles_all_the_same(folder: Path) -> None:
    step = 0
    while killed_at(folder, 38, during=change) and killed_at(folder, step, during=settle):
        settle(folder)
        assert contents(folder) in (OLD, NEW)
        with exclusive(folder):
            if contents(folder) == NEW:
                commit(folder, last_changes(folder), undoes=True)
        step += 1
    assert step > 5


def test_a_file_that_a_person_changed_after_the_crash_is_kept(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("npueval.documents.journal.Journal.replace_all", _crash)
        patched.setattr("npueval.documents.journal.Journal.restore", lambda _journal: None)
        with pytest.raises(_Crash):
            change(folder)
    (folder / "working" / "b.md").write_text("手写", encoding="utf-8")
    assert transactions.unfinished(folder)

    settle(folder)

    assert contents(folder) == {**NEW, "working/b.md": "手写"}
    assert not transactions.unfinished(folder)
    assert not list(folder.rglob("*.npueval-new"))


def test_new_bytes_that_somebody_removed_after_the_crash_take_all_back(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("npueval.documents.journal.Journal.replace_all", _crash)
        patched.setattr("npueval.documents.journal.Journal.restore", lambda _journal: None)
        with pytest.raises(_Crash):
            change(folder)
    (folder / "working" / ".b.md.npueval-new").unlink()

    settle(folder)

    assert contents(folder) == OLD


class _Crash(BaseException):
    pass


def _crash(*_arguments: object, **_named: object) -> None:
    raise _Crash


@pytest.mark.parametrize(
    ("failing", "number", "code", "words"),
    [
        ("write", errno.ENOSPC, "DISK_FULL", "the disk is full"),
        ("open", errno.ENOSPC, "DISK_FULL", "the disk is full"),
        ("fsync", errno.EDQUOT, "DISK_FULL", "the disk is full"),
        ("replace", errno.EROFS, "DOCUMENT_READ_ONLY", "cannot be written"),
        ("fsync", errno.EIO, "DOCUMENT_UNWRITABLE", "cannot be written"),
    ],
)
def test_a_disk_that_fails_leaves_the_old_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str, number: int, code: str, words: str
) -> None:
    settle(folder)
    real = getattr(os, failing)
    reached = []
    for turn in range(0, 30, 2):
        with monkeypatch.context() as patched:
            left = [turn]

            def fails(*arguments: object, _left: list[int] = left, **named: object) -> object:
                if _left[0] == 0:
                    raise OSError(number, os.strerror(number))
                _left[0] -= 1
                return real(*arguments, **named)

            patched.setattr(os, failing, fails)
            try:
                change(folder)
            except DocumentError as error:
                reached.append(error)
        settle(folder)
        if contents(folder) == NEW:
            with exclusive(folder):
                commit(folder, last_changes(folder), undoes=True)
        assert contents(folder) == OLD

    assert reached
    assert {error.code for error in reached} == {code}
    assert all(words in str(error) for error in reached)


AS_NOBODY = """
import os, sys
from pathlib import Path
from npueval.errors import DocumentError
from npueval.documents.transactions import exclusive
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with exclusive(Path(sys.argv[1])):
        pass
except DocumentError as error:
    print(error.code)
"""


def test_a_folder_where_nothing_may_be_written() -> None:
    """In a child without privileges, because nothing is forbidden to root, and where that child may look."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, folder], capture_output=True, text=True)
        Path(folder).chmod(0o755)
        left = list(Path(folder).iterdir())

    assert done.stdout == "DOCUMENT_READ_ONLY\n", done.stderr
    assert not left


def test_links_are_written_through(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "real.md"
    elsewhere.write_text(OLD["a.md"], encoding="utf-8")
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to(elsewhere)

    change(folder)

    assert (folder / "a.md").is_symlink()
    assert elsewhere.read_text(encoding="utf-8") == NEW["a.md"]
    assert sorted(path.name for path in elsewhere.parent.iterdir()) == ["real.md"]


def test_hard_links_are_refused(folder: Path) -> None:
    os.link(folder / "a.md", folder / "twin.md")

    with pytest.raises(DocumentError, match="more than one hard link"):
        change(folder)

    assert contents(folder) == {**OLD, "twin.md": OLD["a.md"]}


def test_two_names_of_one_file_are_refused(folder: Path) -> None:
    (folder / "working" / "b.md").unlink()
    (folder / "working" / "b.md").symlink_to(folder / "a.md")

    with pytest.raises(DocumentError, match="links to this file"):
        change(folder)


def test_a_folder_in_the_place_of_a_file(folder: Path) -> None:
    (folder / "a.md").unlink()
    (folder / "a.md").mkdir()

    with pytest.raises(DocumentError, match="not a regular file"):
        change(folder)


def test_mode_and_owner_are_kept(folder: Path) -> None:
    path = folder / "a.md"
    path.chmod(0o640)
    owner = (1234, 1235) if os.getuid() == 0 else (path.stat().st_uid, path.stat().st_gid)
    os.chown(path, *owner)

    change(folder)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (path.stat().st_uid, path.stat().st_gid) == owner


def test_settling_what_is_settled_writes_nothing(folder: Path) -> None:
    settle(folder)

    assert not (folder / ".npueval").exists()


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such folder"), exclusive(tmp_path / "none"):
        pass


def test_a_second_writer_waits_and_then_says_so(folder: Path) -> None:
    with (
        exclusive(folder),
        pytest.raises(DocumentError, match="another npueval has been writing here"),
        exclusive(folder, patience_s=0.05),
    ):
        pass


def add_one(folder: Path) -> None:
    for _ in range(20):
        with exclusive(folder):
            path = folder / "count"
            before = path.read_bytes()
            commit(folder, [Change(path, before, str(int(before) + 1).encode())])


def test_two_writers_at_once_lose_nothing(folder: Path) -> None:
    (folder / "count").write_text("0")
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=add_one, args=(folder,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert (folder / "count").read_text() == "40"


@pytest.mark.parametrize(
    "held",
    [
        "{",
        "[]",
        json.dumps({"format": "npueval/journal/2", "identity": "x", "undoes": False, "committed": True, "files": []}),
        json.dumps(
            {
                "format": "npueval/journal/1",
                "identity": "x",
                "undoes": False,
                "committed": True,
                "files": [{"path": "../a", "before": None, "after": None}],
            }
        ),
    ],
    ids=["broken", "other", "newer", "leaving the folder"],
)
def test_a_journal_that_is_not_ours_is_not_followed(folder: Path, held: str) -> None:
    (folder / ".npueval").mkdir()
    (folder / ".npueval" / "journal.json").write_text(held, encoding="utf-8")

    with pytest.raises(FormatError):
        settle(folder)


def test_only_the_ledger_goes_into_version_control(folder: Path) -> None:
    change(folder)

    assert (folder / ".npueval" / ".gitignore").read_text().split() == ["*", "!.gitignore", "!ledger.json"]
