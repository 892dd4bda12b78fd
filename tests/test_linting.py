"""Documents are linted as people keep them: whole sets, single files, and what is no document at all.

A fixture (``tests/data/lint/*.md``) holds parts of several documents, each after a line ``=== Compare``; ``{NPE201}``
in a line says that this finding, and no other, is due there. ``finished`` is the whole set of a finished migration.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npueval.contracts import violations
from npueval.documents.layout import HOMES, create
from npueval.documents.markdown import parse
from npueval.errors import DocumentError, Exit
from npueval.linting import lint
from npueval.resources import schema
from npueval.rules import RULES, Documents

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


# One slip in one document of the finished set, and the rules that must notice it.
SLIPS = [
    ("Summary.md", "- 4.0.3 判定：AUTO", "- 4.0.3 判定：UNKNOWN", ["NPE301"]),
    ("Summary.md", "- [ ] MANUAL_STOP", "- [x] MANUAL_STOP", ["NPE301"]),
    ("working/environment.md", "- 判定：AUTO", "- 判定：MANUAL_STOP", ["NPE301"]),
    ("working/Mig_report.md", "Ascend 910B3 × 1", "Health UNKNOWN", []),
    ("working/Mig_report.md", "Ascend 910B3 × 1", "门禁 UNKNOWN", ["NPE301"]),
    ("working/Mig_report.md", "CANN 8.0.RC3，", "CANN 8.0.RC2，", ["NPE302"]),
    ("working/Compare.md", "| CANN 8.0.RC3 |", "| CANN 8.0.0 |", ["NPE302"]),
    ("Summary.md", "| 24.1.rc3 |", "| 23.0.rc3 |", ["NPE302"]),
    ("Summary.md", "| 冒烟 | sklearn digits |", "| 冒烟 | MNIST |", ["NPE303"]),
    ("working/Mig_report.md", "| 推理验收口径 | sklearn digits |", "| 推理验收口径 | MNIST |", ["NPE303"]),
    ("working/Compare.md", "| 昇腾 NPU 精度/性能 | sklearn digits |", "| 昇腾 NPU 精度/性能 | MNIST |", ["NPE303"]),
    ("Summary.md", "| GPU 实测（NVIDIA A10） |", "| 项目训练日志 |", ["NPE304"]),
    ("working/Mig_Readme.md", "python infer.py --device", "python infer_npu.py --device", ["NPE305"]),
    ("Summary.md", "| infer.py | 修改 |", "| model.py | 修改 |", ["NPE305"]),
    ("working/Mig_report.md", "- [x] 推理 smoke", "- [ ] 推理 smoke", ["NPE306", "NPE306"]),
    ("Summary.md", "- checkpoint", "- 训练 smoke：未执行\n- checkpoint", []),
    ("Summary.md", "- 训练 smoke（若适用）：通过", "- 训练 smoke（若适用）：未执行", ["NPE306"]),
    ("working/Mig_report.md", "- [x] 全量精度达标", "- [ ] 全量精度达标", ["NPE307"]),
    ("Summary.md", "- [ ] 性能不达标", "- [x] 性能不达标", ["NPE307"]),
    ("Summary.md", "| 总体结论 | 通过 |", "| 总体结论 | 不通过 |", ["NPE307"]),
    ("working/Compare.md", "| 快 9.6% | ≤ 8 | 达标 |", "| 快 9.6% | ≤ 8 | 未达标 |", ["NPE307"]),
    ("Summary.md", "端到端 p50 3.92 ms", "端到端 p50 3.29 ms", ["NPE308"]),
    ("Summary.md", "val_accuracy 97.78%", "val_accuracy 98.77%", ["NPE308"]),
    ("Summary.md", "main 分支", "N/A（无）", ["NPE309"]),
    ("working/Mig_report.md", "已修复：预热 20 次后复测正常", "待修复", ["NPE309"]),
    (
        "working/Mig_Readme.md",
        "| 推理 baseline（默认） | GPU | `python",
        "| 推理 baseline（默认） | GPU | 待补 `python",
        ["NPE207"],
    ),
    ("working/Compare.md", "| NPU（迁移后） |", "| NPU |", ["NPE101"]),
    ("working/Compare.md", "## 4. 性能对比", "##4. 性能对比", ["NPE101", "NPE102"]),
]


@pytest.mark.parametrize(("path", "old", "new", "codes"), SLIPS, ids=[f"{new[:24]}" for _, _, new, _ in SLIPS])
def test_one_slip_in_a_finished_set(path: str, old: str, new: str, codes: list[str], tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "finished", tmp_path / "mig_docs")
    text = (folder / path).read_text(encoding="utf-8")
    assert old in text
    (folder / path).write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")
    assert sorted({finding.code for finding in lint([tmp_path])}) == sorted(set(codes))


def test_a_missing_anchor_is_named_where_it_belongs(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "finished", tmp_path / "mig_docs")
    compare = folder / "working" / "Compare.md"
    text = compare.read_text(encoding="utf-8")
    compare.write_text(text.replace("- 统计量：p50、p95，最近秩\n", ""), encoding="utf-8")
    (finding,) = lint([compare])
    assert (finding.code, finding.path) == ("NPE101", str(compare))
    assert "统计量" in finding.message
    assert text.splitlines()[finding.line - 1].startswith("### 2.3")


def test_other_encodings_are_findings_with_their_offset(tmp_path: Path) -> None:
    create(tmp_path)
    compare, report = tmp_path / PATHS["Compare"], tmp_path / PATHS["Mig_report"]
    text = compare.read_text(encoding="utf-8")
    compare.write_bytes(text.encode("gb18030"))
    report.write_bytes(text.encode("utf-16"))
    findings = lint([tmp_path])
    assert [(finding.path, finding.code) for finding in findings] == [(str(compare), "NPE104"), (str(report), "NPE104")]
    assert "offset 2" in findings[0].message
    assert "UTF-16" in findings[1].message


def test_line_endings_and_a_byte_order_mark_are_nobody_s_business(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "finished", tmp_path / "mig_docs")
    for path in folder.rglob("*.md"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert lint([tmp_path]) == []


def test_files_are_checked_together_and_nothing_is_asked_of_the_others(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "finished", tmp_path / "mig_docs")
    summary, environment = folder / "Summary.md", folder / "working" / "environment.md"
    text = environment.read_text(encoding="utf-8")
    environment.write_text(text.replace("- 判定：AUTO", "- 判定：MANUAL_STOP"), encoding="utf-8")
    assert lint([summary]) == []
    assert [finding.code for finding in lint([summary, environment])] == ["NPE301"]


def test_an_old_layout_is_read_and_reported(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "finished", tmp_path / "mig_docs")
    (folder / "working" / "environment.md").rename(folder / "env.md")
    (finding,) = lint([tmp_path])
    assert (finding.code, finding.path) == ("NPE107", str(folder / "env.md"))


@pytest.mark.parametrize("name", ["README.md", "nothing"])
def test_what_is_no_document_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# README\n", encoding="utf-8")
    with pytest.raises(DocumentError):
        lint([tmp_path / name])
    with pytest.raises(DocumentError):
        lint([tmp_path])


FINISHED = {home.name: (DATA / "finished" / home.path).read_text(encoding="utf-8").split("\n") for home in HOMES}


WHOLE = {name: parse("\n".join(lines).encode(), path=f"{name}.md", name=name) for name, lines in FINISHED.items()}
MARKS = ["", "|", "N/A", "｜", "`", "\n", "#", "- [✓] ", "通过", "：", "\\", "<!--", "\t"]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FINISHED)), st.data())
def test_no_damage_makes_the_linter_stumble(name: str, data: st.DataObject) -> None:
    lines = list(FINISHED[name])
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(lines) - 1))
        cut = data.draw(st.integers(0, len(lines[place])))
        mark = data.draw(
            st.sampled_from(["", "|", "N/A", "｜", "`", "\n", "#", "- [✓] ", "通过", "：", "\\", "<!--", "\t"])
        )
        lines[place] = lines[place][:cut] + mark + lines[place][cut + data.draw(st.integers(0, 9)) :]
    document = parse("\n".join(lines).encode(), path="damaged.md", name=name)
    documents = Documents({**WHOLE, name: document})
    for finding in (finding for rule in RULES for finding in rule.findings(documents)):
        assert finding.line >= 1 and finding.column >= 1 and finding.message


def test_a_long_table_is_linted_in_no_time(tmp_path: Path) -> None:
    rows = "| 预处理 | N/A | N/A | |\n" * 20_000
    head = "### 4.1 分阶段耗时\n\n| 阶段 | 基线 (ms) | 迁移后 (ms) | 备注 |\n|---|---|---|---|\n"
    path = tmp_path / "Compare.md"
    path.write_text(head + rows, encoding="utf-8")
    bare = [rule for rule in RULES if rule.code == "NPE203"]
    assert len(lint([path], rules=bare)) == 40_000


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "npueval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_command_prints_one_line_a_finding_and_its_json_keeps_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "Summary.md"
    path.write_text("##2. 迁移操作总结\n", encoding="utf-8")
    text, machine = run("lint", str(path)), run("lint", str(path), "--json")
    assert (text.returncode, machine.returncode) == (Exit.FINDINGS, Exit.FINDINGS)
    findings = json.loads(machine.stdout)["data"]["findings"]
    assert findings and not [wrong for each in findings for wrong in violations(each, schema("finding"))]
    assert f"{path}:1:1 NPE102 this is not a heading to Markdown" in text.stdout
    assert len(text.stdout.splitlines()) == len(findings) + 1


def test_a_clean_set_ends_with_status_zero() -> None:
    done = run("lint", str(DATA / "finished"))
    assert (done.returncode, done.stdout) == (Exit.OK, "clean\n")


def test_explain_knows_codes_and_names_and_the_nearest_of_them() -> None:
    assert "bare-not-applicable" in run("explain", "npe203").stdout
    assert json.loads(run("explain", "bare-not-applicable", "--json").stdout)["data"]["code"] == "NPE203"
    unknown = run("explain", "bare-not-aplicable")
    assert unknown.returncode == Exit.BAD_INPUT
    assert "did you mean NPE203?" in unknown.stderr
