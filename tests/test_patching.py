"""A patch over the set of documents: whose text it is, what is written and what is not."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from npueval import patching
from npueval.documents import layout
from npueval.documents.tree import Document
from npueval.errors import DocumentError, Problem
from npueval.patching import patch
from npueval.patching.ledger import BY_HAND, Ledger
from npueval.records import Edit

P50 = "Compare#4/延迟 p50 (ms)/NPU（迁移后）"
EDITS = [
    Edit(P50, "12.3", source="run-1"),
    Edit(
        "Compare#4/延迟 p50 (ms)（batch=1）", ("延迟 p50 (ms)（batch=1）", "N/A"), source="run-1", after="延迟 p50 (ms)"
    ),
    Edit("Mig_readme#4.1/code[1]", "python infer.py\n", source="run-1"),
    Edit("Mig_report#6/推理 smoke", True, source="run-1"),
    Edit("env#Python/venv_python", "3.11", source="run-1"),
    Edit("Summary#总览/一句话结论", "待补", source="run-1"),
]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    layout.create(tmp_path)
    return tmp_path


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The bytes of all files, and when they were last written."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


def test_five_documents_change_as_one(docs: Path) -> None:
    before = state(docs)

    result = patch(docs, EDITS)

    assert result.changed == ("Compare", "Mig_Readme", "Mig_report", "environment", "Summary")
    assert result.applied == tuple(edit.address for edit in EDITS)
    assert not result.conflicts
    assert not result.refusals
    assert len(result.changes) == 5
    assert "+| 延迟 p50 (ms)（batch=1） | N/A |" in result.diff
    changes = patching.undo(docs)
    assert {str(change.path) for change in changes} >= {str(change.path) for change in result.changes}
    texts = {path: data for path, (data, _) in state(docs).items() if path.endswith(".md")}
    assert texts == {path: data for path, (data, _) in before.items() if path.endswith(".md")}


def test_nothing_to_change_writes_nothing(docs: Path) -> None:
    patch(docs, EDITS)
    before = state(docs)

    result = patch(docs, EDITS)

    assert state(docs) == before
    assert result.unchanged == tuple(edit.address for edit in EDITS)
    assert result.changed == result.applied == ()


def test_a_dry_run_writes_nothing_at_all(tmp_path: Path) -> None:
    for home in layout.HOMES:
        (tmp_path / home.path).parent.mkdir(exist_ok=True)
        (tmp_path / home.path).write_bytes(layout.template(home.name))
    before = state(tmp_path)

    result = patch(tmp_path, EDITS, dry_run=True)

    assert len(result.changed) == 5
    assert result.diff.count("\n@@ ") == 5
    assert state(tmp_path) == before
    assert not (tmp_path / ".npueval").exists()


def test_a_text_that_a_person_changed_is_kept_and_the_rest_is_written(docs: Path) -> None:
    patch(docs, EDITS)
    compare = docs / "working" / "Compare.md"
    replace_in(compare, "| 12.3 |", "| 12.4（重测） |")

    result = patch(docs, [Edit(P50, "11.9", source="run-2"), Edit("Compare#2.3/Warmup 次数", "10", source="run-2")])

    (conflict,) = result.conflicts
    assert (conflict.address, conflict.kept) == (P50, "12.4（重测）")
    assert conflict.reason == "changed by a person since it was written"
    assert result.applied == ("Compare#2.3/Warmup 次数",)
    assert "| 12.4（重测） |" in compare.read_text(encoding="utf-8")

    assert patch(docs, [Edit(P50, "11.9", source="run-2")], force=[P50]).applied == (P50,)
    assert patch(docs, [Edit(P50, "11.8", source="run-3")]).applied == (P50,)


def test_the_blank_document_s_own_text_may_be_rewritten_but_no_anchor(docs: Path) -> None:
    tolerance = "Compare#3.1/FP32/建议 rtol"
    assert "| FP32 |" in layout.template("Compare").decode()

    assert patch(docs, [Edit(tolerance, "1e-6", source="run-1")]).applied == (tolerance,)
    (conflict,) = patch(docs, [Edit("Compare#4/延迟 p50 (ms)/指标", "延迟", source="run-1")]).conflicts
    assert conflict.kept == "延迟 p50 (ms)"
    (refusal,) = patch(
        docs, [Edit("Compare#4/延迟 p50 (ms)/指标", "延迟")], force=["Compare#4/延迟 p50 (ms)/指标"]
    ).refusals
    assert "missing '延迟 p50 (ms)' in section 4" in refusal.message


def test_what_was_set_by_hand_is_only_set_by_hand_again(docs: Path) -> None:
    patch(docs, [Edit(P50, "10", source=BY_HAND)])

    assert [each.reason for each in patch(docs, [Edit(P50, "12", source="run-1")]).conflicts] == ["set by hand"]
    assert patch(docs, [Edit(P50, "11", source=BY_HAND)]).applied == (P50,)
    patch(docs, [Edit(P50, "", source=BY_HAND)])
    assert patch(docs, [Edit(P50, "12", source="run-1")]).applied == (P50,)


def test_a_box_that_a_person_unticked_stays_unticked(docs: Path) -> None:
    smoke = Edit("Mig_report#6/推理 smoke", True, source="run-1")
    patch(docs, [smoke])
    replace_in(docs / "working" / "Mig_report.md", "[x] 推理 smoke", "[ ] 推理 smoke")

    assert [each.reason for each in patch(docs, [smoke]).conflicts] == ["unticked by a person"]


def test_the_same_text_from_a_newer_run_is_noted(docs: Path) -> None:
    patch(docs, EDITS)

    result = patch(docs, [Edit(P50, "12.3", source="run-2")])

    assert result.changed == ()
    entry = Ledger.load(docs).get(P50)
    assert entry and entry.source == "run-2"
    stale = Ledger.load(docs).stale({"run-2"})
    assert P50 not in {each.address for each in stale}
    assert len(stale) == 6


def test_a_row_that_a_person_took_out_is_forgotten(docs: Path) -> None:
    patch(docs, EDITS)
    row = "| 延迟 p50 (ms)（batch=1） | N/A |  |  |  |  |  |  |\n"
    replace_in(docs / "working" / "Compare.md", row, "")

    patch(docs, [Edit("Compare#2.3/Warmup 次数", "10", source="run-2")])

    assert not [address for address in Ledger.load(docs).entries if "batch=1" in address]


def test_our_row_with_a_person_s_cell_is_not_taken_out(docs: Path) -> None:
    patch(docs, EDITS)
    replace_in(docs / "working" / "Compare.md", "（batch=1） | N/A |  |", "（batch=1） | N/A | 手写 |")

    result = patch(docs, [Edit("Compare#4/延迟 p50 (ms)（batch=1）", (), source="run-2")])

    assert [each.reason for each in result.conflicts] == ["written by a person"]


def test_cells_beyond_the_last_column_are_told(docs: Path) -> None:
    replace_in(docs / "working" / "Compare.md", "| 总体结论 |  |", "| 总体结论 |  | 多 | 余 |")

    result = patch(docs, [Edit("Compare#1/总体结论/结论", "待定", source="run-1")])

    assert result.notes == ("Compare#1/总体结论/结论: the row goes on after the last column; kept: 多 | 余",)
    assert "| 总体结论 | 待定 | 多 | 余 |" in (docs / "working" / "Compare.md").read_text(encoding="utf-8")


def test_every_refusal_is_told_and_nothing_is_written(docs: Path) -> None:
    (docs / "Summary.md").unlink()
    before = state(docs)

    result = patch(
        docs,
        [
            Edit(P50, "1"),
            Edit("Compare#9/x", "1"),
            Edit("Mig_report#6/推理 smoke", "yes"),
            Edit("Nothing#1", "1"),
            Edit("Summary#总览/一句话结论", "1"),
            Edit("Summary#总览/迁移/适配状态", "1"),
            Edit("Compare#2.3/Warmup 次数", True),
            Edit("Compare#2.3/统计量", "1\n2"),
        ],
    )

    assert [problem.message for problem in result.refusals] == [
        "Nothing#1: no document 'Nothing'",
        "Summary is not in this folder",
        "Compare#9/x: no section '9' in Compare",
        "Compare#2.3/Warmup 次数: True is for check boxes, and this is a field",
        "Compare#2.3/统计量: a value of one place is one line",
        "Mig_report#6/推理 smoke: a check box is ticked by 'x' and unticked by '', not by 'yes'",
    ]
    assert state(docs) == before


def test_a_document_in_another_encoding_is_refused_and_kept(docs: Path) -> None:
    path = docs / "working" / "Mig_report.md"
    path.write_bytes("# 报告\n".encode("gbk"))
    before = state(docs)

    with pytest.raises(DocumentError, match="not UTF-8: byte 0xb1 at offset 2; it looks like GB18030"):
        patch(docs, EDITS)
    assert state(docs) == before


def test_documents_that_would_disagree_are_refused_together(docs: Path) -> None:
    def one_number(documents: Mapping[str, Document]) -> Iterator[Problem]:
        texts = {name: document.data.decode() for name, document in documents.items()}
        if ("12.3" in texts["Compare"]) != ("12.3" in texts["Summary"]):
            yield Problem("Summary and Compare disagree")

    assert [each.message for each in patch(docs, EDITS, checks=[one_number]).refusals] == [
        "Summary and Compare disagree"
    ]
    assert not patch(docs, [*EDITS[:-1], Edit("Summary#总览/一句话结论", "p50 12.3 ms")], checks=[one_number]).refusals
    # What was wrong before is not this patch's doing.
    replace_in(docs / "Summary.md", "12.3", "12.4")
    assert patch(docs, [Edit("Compare#2.3/统计量", "p50")], checks=[one_number]).changed == ("Compare",)


def test_old_layouts_are_patched_where_they_are(docs: Path) -> None:
    (docs / "working" / "environment.md").rename(docs / "env.md")

    assert patch(docs, EDITS).changed[3] == "environment"
    assert "venv_python：3.11" in (docs / "env.md").read_text(encoding="utf-8")


def test_a_huge_text_and_a_huge_table(docs: Path) -> None:
    compare = docs / "working" / "Compare.md"
    rows = "".join(f"| 行 {number} | {number} |\n" for number in range(20_000))
    compare.write_bytes(compare.read_bytes() + f"\n## 99 大表\n\n| 名 | 值 |\n|---|---|\n{rows}".encode())

    result = patch(
        docs, [Edit("Compare#99/行 19999/值", "x"), Edit(P50, "长" * 1_000_000)], force=["Compare#99/行 19999/值"]
    )

    assert result.changed == ("Compare",)
    assert compare.read_bytes().endswith("| 行 19999 | x |\n".encode())
    assert "no '行 20000/值' in section 99" in str(patch(docs, [Edit("Compare#99/行 20000/值", "x")]).refusals[0])
