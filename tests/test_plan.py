from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval import plan
from npueval.errors import PlanError, Problem

GOOD = """\
format: npueval/plan/1
project: {name: 数字}
workload: workload.py:Digits
device: npu:1
precision: fp16
batches: [1, 8]   # a comment
target_batch: 8
seed: 7
unit: images/s
segments: [infer]
datasets: {short_test: null, smoke: null, golden: null, training: null, inference: null,
  full: {name: digits, subset: 360 张, path: data/d.npz}}
targets: {latency_p50_ms: 5, accuracy: {metric: top1, direction: higher, max_drop: 0.005}}
baseline: {logs: ["logs/*.log"], cpu: true}
documents: mig_docs
request: {performance: true, accuracy: false, agreed: true, kpis: [latency]}
"""
BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]\n" for i in range(1, 9)
)


def problems_of(folder: Path, text: str | bytes) -> tuple[Problem, ...]:
    path = folder / "npueval.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PlanError) as caught:
        plan.load(path)
    error = caught.value
    assert str(path) in str(error)
    assert "Traceback" not in str(error)
    return error.problems or (Problem(error.message, line=error.line),)


def test_a_good_plan_is_read_with_its_defaults(tmp_path: Path) -> None:
    folder = tmp_path / "项目 a"
    folder.mkdir()
    (folder / "npueval.yaml").write_text(GOOD, encoding="utf-8")
    read = plan.load(folder / "npueval.yaml")
    assert (read.project.name, read.device_kind, read.batches, read.warmup) == ("数字", "npu", (1, 8), 10)
    assert read.documents == folder / "mig_docs"
    assert read.runs == folder / "runs"
    assert read.datasets.full == plan.Dataset(name="digits", subset="360 张", path="data/d.npz")
    assert read.targets.accuracy == plan.AccuracyTarget("top1", "higher", max_drop=0.005)
    assert read.baseline.logs == ("logs/*.log",)
    assert read.request.kpis == ("latency",)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text + "# a remark\n",
        lambda text: text.replace("latency_p50_ms: 5", "latency_p50_ms: 6"),
        lambda text: text.replace("documents: mig_docs", "documents: docs"),
        lambda text: text.replace("device: npu:1", "device: npu:0"),
        lambda text: text + "warmup: 10\n",
    ],
)
def test_what_decides_no_figure_makes_no_other_plan(tmp_path: Path, edit: Callable[[str], str]) -> None:
    assert sha256_of(tmp_path, edit(GOOD)) == sha256_of(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("workload.py:Digits", "workload.py:Letters"),
        ("precision: fp16", "precision: fp32"),
        ("precision: fp16", "precision: fp16\nprecision_mode: autocast"),
        ("batches: [1, 8]", "batches: [1, 2, 8]"),
        ("target_batch: 8", "target_batch: 1"),
        ("seed: 7", "seed: 8"),
        ("seed: 7", "seed: 7\nconcurrency: [1, 2]"),
        ("seed: 7", "seed: 7\narrival_rates: [5]"),
        ("seed: 7", "seed: 7\nwarmup: 11"),
        ("seed: 7", "seed: 7\niterations: 101"),
        ("unit: images/s", "unit: samples/s"),
        ("segments: [infer]", "segments: [infer, d2h]"),
    ],
)
def test_what_decides_the_figures_makes_another_plan(tmp_path: Path, old: str, new: str) -> None:
    assert old in GOOD
    assert sha256_of(tmp_path, GOOD.replace(old, new)) != sha256_of(tmp_path, GOOD)


def sha256_of(folder: Path, text: str) -> str:
    (folder / "npueval.yaml").write_text(text, encoding="utf-8")
    return plan.load(folder / "npueval.yaml").sha256


def test_several_precisions_are_plans_of_one_each(tmp_path: Path) -> None:
    path = tmp_path / "npueval.yaml"
    path.write_text(GOOD.replace("precision: fp16", "precision: [fp16, fp32]"), encoding="utf-8")
    read = plan.load(path)
    judged, shown = read.each()
    assert (read.precisions, read.precision) == (("fp16", "fp32"), "fp16")
    assert (judged.precisions, judged.targets, judged.sha256) == (("fp16",), read.targets, read.sha256)
    assert (shown.precisions, shown.targets.latency_p50_ms, shown.targets.margin) == (("fp32",), None, 0.02)
    alone = sha256_of(tmp_path, GOOD.replace("precision: fp16", "precision: fp32"))
    assert shown.sha256 == alone, "a precision that is added or taken away costs the others no measurement"


@pytest.mark.parametrize("wrong", ["fp8", "[]", "[fp16, fp16]", "[fp16, half]", "3"])
def test_precisions_are_known_ones_each_once(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "npueval.yaml"
    path.write_text(GOOD.replace("precision: fp16", f"precision: {wrong}"), encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        plan.load(path)
    assert [(problem.key or "").partition(".")[0] for problem in caught.value.problems] == ["precision"]


@pytest.mark.parametrize("glob", ["/data/*.log", "../logs/*.log", "logs/../../*.log", "~/*.log"])
def test_logs_are_looked_for_in_the_project(tmp_path: Path, glob: str) -> None:
    (problem,) = problems_of(tmp_path, GOOD.replace("logs/*.log", glob))
    assert (problem.key, problem.message.partition("' ")[2]) == ("baseline.logs.0", "leads out of the plan's folder")


def test_a_byte_order_mark_and_crlf_are_read(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert plan.load(path).seed == 7


def test_every_mistake_is_reported_at_once_with_line_key_and_neighbour(tmp_path: Path) -> None:
    text = GOOD.replace("device: npu:1", "device: tpu").replace("precision:", "precison:").replace("seed: 7", "seed: x")
    text = text.replace("max_drop", "max_dorp")
    found = {problem.key: problem for problem in problems_of(tmp_path, text)}
    assert set(found) == {"device", "precison", "precision", "seed", "targets.accuracy.max_dorp"}
    assert (found["device"].line, found["seed"].line) == (4, 8)
    assert (found["precison"].line, found["precison"].hint) == (5, "did you mean 'precision'?")
    assert found["targets.accuracy.max_dorp"].line == 13
    assert found["targets.accuracy.max_dorp"].hint == "did you mean 'max_drop'?"


@pytest.mark.parametrize(
    ("change", "key", "word"),
    [
        (("seed: 7", "seed: 7\nwarmup: 3"), "warmup", "below the minimum of 10"),
        (("seed: 7", "seed: 7\niterations: 20"), "iterations", "below the minimum of 100"),
        (("batches: [1, 8]", "batches: [4]"), "batches", "batch 1, 8 is not measured"),
        (("batches: [1, 8]", "batches: [8]"), "batches", "batch 1 is not measured"),
    ],
)
def test_a_minimum_needs_a_reason_to_be_undercut(tmp_path: Path, change: tuple[str, str], key: str, word: str) -> None:
    [problem] = problems_of(tmp_path, GOOD.replace(*change))
    assert problem.key == key
    assert word in problem.message
    path = tmp_path / "excused.yaml"
    path.write_text(GOOD.replace(*change) + f"reasons: {{{key}: one slow card}}\n", encoding="utf-8")
    assert plan.load(path).reasons == {key: "one slow card"}


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("a: [1, 2", "not YAML", 1),
        ("- 1\n- 2\n", "not a mapping", 1),
        ("", "not a mapping", 1),
        (GOOD + "seed: 9\n", 'found duplicate key "seed"', 17),
        ("a: \x07", "not YAML", None),
        (GOOD.encode("utf-16"), "not UTF-8: byte 0 is 0xff", None),
        (GOOD.encode("gbk"), "not UTF-8", None),
        ("\t- x: {", "not YAML", 1),
        ("[" * 500, "not YAML", None),
        (BOMB, "more than 100000 values", None),
    ],
)
def test_what_is_not_a_plan_is_refused_in_one_line(
    tmp_path: Path, text: str | bytes, word: str, line: int | None
) -> None:
    [problem] = problems_of(tmp_path, text)
    assert word in problem.message
    assert line is None or problem.line == line


@pytest.mark.parametrize("value", [".nan", ".inf", "0", "-1", "yes"])
def test_a_target_is_a_positive_number(tmp_path: Path, value: str) -> None:
    problems = problems_of(tmp_path, GOOD.replace("latency_p50_ms: 5", f"latency_p50_ms: {value}"))
    assert {problem.key for problem in problems} == {"targets.latency_p50_ms"}


@pytest.mark.parametrize(
    ("line", "key", "largest"),
    [
        ("iterations: 100000000000000", "iterations", 10_000_000),
        ("iterations: 10000001", "iterations", 10_000_000),
        ("warmup: 1000001", "warmup", 1_000_000),
        ("concurrency: [1, 1025]", "concurrency.1", 1024),
        ("case_timeout_s: 1.0e+14", "case_timeout_s", 604_800),
    ],
)
def test_what_no_machine_can_do_is_a_mistake_in_its_line(tmp_path: Path, line: str, key: str, largest: int) -> None:
    [problem] = problems_of(tmp_path, GOOD.replace("seed: 7", f"seed: 7\n{line}"))
    assert (problem.key, problem.line) == (key, 9)
    assert str(largest) in problem.message


def test_a_batch_has_a_largest_size(tmp_path: Path) -> None:
    text = GOOD.replace("[1, 8]", "[1, 8, 1048577]").replace("target_batch: 8", "target_batch: 1048577")
    assert {problem.key: problem.line for problem in problems_of(tmp_path, text)} == {
        "batches.2": 6,
        "target_batch": 7,
    }


@pytest.mark.parametrize(
    ("line", "key"), [("iterations: 200.0", "iterations"), ("concurrency: [1, 2.0]", "concurrency.1")]
)
def test_a_count_is_written_without_a_fraction(tmp_path: Path, line: str, key: str) -> None:
    [problem] = problems_of(tmp_path, GOOD.replace("seed: 7", f"seed: 7\n{line}"))
    assert (problem.key, problem.line) == (key, 9)


@pytest.mark.parametrize("path", ["missing.yaml", "."])
def test_an_unreadable_plan_is_one_line(tmp_path: Path, path: str) -> None:
    with pytest.raises(PlanError):
        plan.load(tmp_path / path)


@given(st.text(max_size=200))
def test_no_text_makes_it_crash(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "random.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(PlanError):
        plan.load(path)


@given(st.integers(0, len(GOOD) - 1), st.integers(0, len(GOOD) - 1))
def test_no_piece_of_a_plan_makes_it_crash(tmp_path_factory: pytest.TempPathFactory, start: int, length: int) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.yaml"
    path.write_text(GOOD[:start] + GOOD[start + length :], encoding="utf-8")
    try:
        read = plan.load(path)
    except PlanError as error:
        assert error.message
    else:
        assert 1 in read.batches
