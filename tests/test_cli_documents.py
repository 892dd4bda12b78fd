"""`npueval show`, `set` and `undo`, as they are typed."""

import io
import json
import sys
from pathlib import Path

import pytest

from npueval.cli import main
from npueval.documents import layout

WARMUP = "Compare#2.3/Warmup 次数"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    layout.create(tmp_path / "mig_docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    def typed(*arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["npueval", *arguments])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as done:
            main()
        status = done.value.code
        out, err = capfd.readouterr()
        return status, out.strip("\n"), err

    return typed


def test_a_place_is_set_shown_and_taken_back(run) -> None:
    assert run("set", WARMUP, "10") == (0, f"set: {WARMUP}", "")
    assert run("show", WARMUP) == (0, "10", "")
    assert run("set", WARMUP, "10") == (0, f"unchanged: {WARMUP}", "")
    assert run("undo")[1] == "taken back: mig_docs/working/Compare.md"
    assert run("show", WARMUP) == (0, "", "")
    assert run("undo")[0] == 2


def test_the_json_form_tells_the_place(run) -> None:
    status, out, _ = run("show", "mig_readme#4.1/code", "--json")

    data = json.loads(out)["data"]
    assert status == 0
    assert (data["address"], data["kind"]) == ("Mig_Readme#4.1/code[1]", "code")
    assert data["line"] > 1
    assert data["path"] == "mig_docs/working/Mig_Readme.md"


def test_a_section_and_a_document_list_their_addresses(run) -> None:
    status, out, _ = run("show", "Compare#4", "--docs", "mig_docs")

    assert status == 0
    addresses = [line.partition("\t")[0] for line in out.split("\n")]
    assert "Compare#4/延迟 p50 (ms)/NPU（迁移后）" in addresses
    data = json.loads(run("show", "Compare", "--json")[1])["data"]
    assert len(data["places"]) > 50
    assert data["more"] == 0


def test_a_long_listing_is_cut_with_a_count(run, project: Path) -> None:
    path = project / "mig_docs/working/Compare.md"
    rows = "".join(f"| {number} | x |\n" for number in range(300))
    path.write_bytes(path.read_bytes() + f"\n## 99 大表\n\n| 名 | 值 |\n|---|---|\n{rows}".encode())

    assert json.loads(run("show", "Compare#99", "--json")[1])["data"]["more"] == 100
    assert run("show", "Compare#99")[1].split("\n")[-1] == "… and 100 more"


def test_diff_and_dry_run(run, project: Path) -> None:
    before = (project / "mig_docs/working/Compare.md").read_bytes()

    status, out, _ = run("set", WARMUP, "10", "--dry-run")
    assert status == 0
    assert "+- Warmup 次数：10" in out
    assert (project / "mig_docs/working/Compare.md").read_bytes() == before

    assert "+- Warmup 次数：10" in run("set", WARMUP, "10", "--diff")[1]
    assert "-- Warmup 次数：10" in run("undo", "--dry-run")[1]
    assert run("show", WARMUP)[1] == "10"


def test_values_from_stdin(run) -> None:
    assert run("set", "Mig_Readme#4.1/code[1]", "-", stdin="a b\n  | tee 日志\n".encode())[0] == 0
    assert run("show", "Mig_Readme#4.1/code[1]")[1] == "a b\n  | tee 日志"
    assert run("set", WARMUP, "-", "--br", stdin=b"10\n20\n")[0] == 0
    assert run("show", WARMUP)[1] == "10<br>20"
    status, _, err = run("set", WARMUP, "-", stdin="测量".encode("gbk"))
    assert status == 2
    assert "stdin is not UTF-8: byte 0xb2 at offset 0" in err


def test_a_person_s_text_is_kept_unless_forced(run, project: Path) -> None:
    path = project / "mig_docs/working/Compare.md"
    path.write_bytes(path.read_bytes().replace("- Warmup 次数：".encode(), "- Warmup 次数：手写".encode()))

    status, out, _ = run("set", WARMUP, "10")
    assert status == 1
    assert out == f"kept, written by a person: {WARMUP}: '手写' (--force overwrites it)"
    assert run("set", WARMUP, "10", "--force")[0] == 0


def test_rows(run) -> None:
    row = "Mig_report#7.1/2025-06-01"
    assert run("set", "--row", row, "2025-06-01", "输出 NaN")[0] == 0
    assert run("show", row)[1].startswith("| 2025-06-01 | 输出 NaN |")
    assert run("set", "--row", row)[0] == 0
    assert run("show", row)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "Compare#2.9/x"), "no section '2.9' in Compare (nearest: 2.4, 2.3"),
        (("show", "Compares#2"), "no document 'Compares' (there are Compare,"),
        (("show", "#2"), "not an address: '#2'"),
        (("show", "Compare#\udcff"), "not an address"),
        (("set", WARMUP), "give one VALUE"),
        (("set", WARMUP, "a\nb"), "one line (put <br> for the line breaks, or set --br)"),
        (("set", WARMUP, "\udcff"), "the value holds the character U+DCFF"),
        (("show", WARMUP, "--docs", "elsewhere"), "no migration documents here"),
    ],
)
def test_a_mistake_is_one_clear_line(run, arguments: tuple[str, ...], words: str) -> None:
    status, out, err = run(*arguments)

    assert (status, out) == (2, "")
    assert words in err
    assert len(err.strip().split("\n")) == 1
