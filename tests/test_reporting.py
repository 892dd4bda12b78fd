"""How values are written, and what the bottleneck paragraph may claim."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.documents import layout
from npueval.language import same
from npueval.patching import patch
from npueval.plan import AccuracyTarget
from npueval.records import Baseline, Fact, Grade
from npueval.reporting import compare_baseline, compare_results, edits
from npueval.reporting.bottleneck import heaviest
from npueval.reporting.cells import missing, number
from support import dossiers
from support.make_runs import make_case


@given(st.floats(min_value=1e-3, max_value=1e9))
def test_a_number_keeps_its_value_and_is_written_without_an_exponent(value: float) -> None:
    written = number(value)
    assert re.fullmatch(r"\d+(\.\d+)?", written)
    assert float(written) == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0"), (0.04125, "0.04125"), (12.3456, "12.35"), (999.96, "1000"), (20412.4, "20412"), (0.9917, "0.9917")],
)
def test_numbers_have_four_significant_digits(value: float, written: str) -> None:
    assert number(value) == written


def test_a_gap_is_never_without_its_reason() -> None:
    assert missing("缺 GPU") == "N/A（缺 GPU）"


def stages(**milliseconds: float) -> dict[str, np.ndarray]:
    return {name: np.full(200, int(ms * 1e6)) for name, ms in milliseconds.items()}


@pytest.mark.parametrize(
    ("samples", "named"),
    [
        (stages(preprocess=1.0, infer=9.0), ["infer"]),
        (stages(preprocess=4.0, infer=6.0), ["infer", "preprocess"]),
        (stages(preprocess=1.0, h2d=5.0, infer=2.0, postprocess=1.9), ["h2d"]),
        (stages(infer=2.0), ["infer"]),
        (stages(queue=50.0, infer=2.0, postprocess=1.0), ["infer", "postprocess"]),
    ],
)
def test_one_or_two_stages_are_named_and_only_with_a_share_that_counts(
    samples: dict[str, np.ndarray], named: list[str]
) -> None:
    found = heaviest(make_case(samples=samples))
    assert [name for name, _, _ in found] == named
    assert sum(share for _, _, share in found) <= 1.0


@pytest.mark.parametrize("metric", ["F1*score*", "`acc`", "<i>", "[x](y)", "mAP/50", "a|b"])
def test_a_metric_stands_in_its_row_whatever_its_name_holds(tmp_path: Path, metric: str) -> None:
    plan = replace(dossiers.project(tmp_path / "project"), precisions=("fp32", "bf16"))
    target = AccuracyTarget(metric, "higher", max_drop=0.01)
    plan = replace(plan, targets=replace(plan.targets, accuracy=target))
    made = dossiers.dossier(plan, dossiers.environment_of(tmp_path / "machine"))
    layout.create(plan.documents)
    done = patch(plan.documents, compare_results.edits(made))
    assert done.refusals == () and patch(plan.documents, compare_results.edits(made)).changed == ()


def test_the_median_of_the_bottleneck_is_that_of_the_tables() -> None:
    """An even number of samples: the mean of the middle two is a time that no sample took."""
    case = make_case(samples={"infer": np.array([1, 2, 4, 9] * 3, np.int64) * 1_000_000})
    assert heaviest(case)[0][1] == case.summary("infer").p50 == 2.0


def cells_of(edits) -> dict[str, str]:
    return {edit.address: edit.value for edit in edits}


def test_figures_of_another_tool_fill_the_column_of_the_gpu_with_their_source(tmp_path: Path) -> None:
    plan = dossiers.project(tmp_path / "project", log=None)
    facts = {"device_kind": Fact("gpu"), "device": Fact("NVIDIA A100"), "batch": Fact("4")}
    doubts = ("batch、device 由用户声明",)
    brought = Baseline("gpu", Grade.C, facts, doubts=doubts, path="runs/brought/times.json")
    made = replace(dossiers.dossier(plan, dossiers.environment_of(tmp_path / "machine")), brought=brought)
    found = cells_of([*compare_baseline.edits(made), *compare_results.edits(made)])
    column = {key.split("/")[1]: value for key, value in found.items() if key.endswith("/GPU 基线（默认）")}
    assert column == {
        "硬件型号": "NVIDIA A100",
        "框架与版本": "N/A（文件未写）",
        "Batch size": "4",
        "测量日期": "N/A（文件未写）",
        "备注": "摘自 runs/brought/times.json，证据等级 C；batch、device 由用户声明",
    }
    assert found["Compare#6/基线来源日志"] == "runs/brought/times.json"


@pytest.mark.parametrize(
    ("kit", "words"),
    [
        ({"grade": "A", "failed": []}, "，证据等级 A：测试包核对全部通过"),
        ({"grade": "B", "failed": ["随机种子：9 与 3"]}, "，证据等级 B：随机种子：9 与 3"),
        (None, ""),
    ],
)
def test_the_documents_say_what_a_kits_result_is_worth(
    tmp_path: Path, kit: dict[str, object] | None, words: str
) -> None:
    plan = dossiers.project(tmp_path / "project")
    cases = (make_case(1, 2.0), make_case(4, 4.0))
    gpu = dossiers.made_on("cuda", cases, environment={"kit": kit} if kit else {})
    machine = dossiers.environment_of(tmp_path / "machine")
    made = dossiers.dossier(plan, machine, dossiers.made_on("npu", cases), gpu)
    found = cells_of(compare_baseline.edits(made))
    assert found["Compare#2.1[2]/备注/GPU 基线（默认）"] == f"测量记录 runs/{gpu.id}.json{words}"
    assert found["Compare#2.1/最终对比结论须写清"].endswith(f"性能基线为 GPU 实测（用户回传{words}）")


def test_what_a_program_said_over_several_lines_is_told_in_one(tmp_path: Path) -> None:
    """A workload's reason of two lines must not keep the documents from being written."""
    plan = dossiers.project(tmp_path / "project")
    wrong = dossiers.made_on(
        "npu", (make_case(1, 2.0), make_case(4, 4.0)), invalid=(same("check failed:\n\t\x1b[31mno\r\n"),)
    )
    made = dossiers.dossier(plan, dossiers.environment_of(tmp_path / "machine"), wrong)
    texts = [text for edit in edits(made) for text in (edit.value if isinstance(edit.value, tuple) else (edit.value,))]
    assert all(str(text).isprintable() for text in texts)
    assert any("check failed: [31mno " in str(text) for text in texts)
