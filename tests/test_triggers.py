"""The triggers, and the answer that follows: five parts or the block, complete for every plan."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npueval import environment, gate, triggers
from npueval.baselines import scanning
from npueval.comparing.accuracy import target_text
from npueval.comparing.judging import performance_target
from npueval.contracts import violations
from npueval.gate.diagnosis import Diagnosis
from npueval.plan import AccuracyTarget, BaselineWish, Dataset, Datasets, Plan, Project, Request, Targets, Tolerances
from npueval.records import Gate
from npueval.resources import schema
from npueval.triggers.answers import Block, FiveParts, Part, Row, Table
from support.machines import Machine, working

DATASET = Dataset("数字 v2", "验证集 360 张", "data/digits.npz", "一致")
NOBODY_ASKED = Request(performance=False, accuracy=False, agreed=False)


def plan(root: Path, **changes: Any) -> Plan:
    known = Plan(
        path=root / "npueval.yaml",
        root=root,
        project=Project("digits"),
        workload="workload.py:Digits",
        device="npu:1",
        precisions=("fp16",),
        batches=(1, 8),
        target_batch=8,
        seed=7,
        unit="images/s",
        segments=("preprocess", "infer"),
        datasets=Datasets(DATASET, DATASET, DATASET, DATASET, None, DATASET),
        baseline=BaselineWish(()),
        documents=root / "mig_docs",
        runs=root / "runs",
        request=replace(NOBODY_ASKED, performance=True),
    )
    return replace(known, **changes)


@pytest.fixture(scope="module")
def open_gate(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    folder = tmp_path_factory.mktemp("open")
    seen = environment.record(folder, host=working(folder).host)
    packages = {"torch": "2.6.0", "torch_npu": "2.6.0"}
    return gate.examine(
        folder, environment=replace(seen, packages=packages, python=replace(seen.python, version="3.11.9"))
    )


@pytest.fixture(scope="module")
def closed_gate(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    folder = tmp_path_factory.mktemp("closed")
    return gate.examine(folder, environment=environment.record(folder, host=Machine(folder).container().torch().host))


@pytest.mark.parametrize(
    ("changes", "met", "evidence"),
    [
        ({"request": replace(NOBODY_ASKED, performance=True)}, True, "request.performance: true"),
        ({"request": replace(NOBODY_ASKED, agreed=True)}, True, "gate AUTO, tests can run, request.agreed: true"),
        ({"request": replace(NOBODY_ASKED, kpis=("throughput",))}, True, "request.kpis: throughput"),
        ({"request": NOBODY_ASKED, "targets": Targets(latency_p95_ms=8)}, True, "targets.latency_p95_ms: 8"),
        ({"request": NOBODY_ASKED, "targets": Targets(ratio_to_baseline=0.9)}, True, "targets.ratio_to_baseline: 0.9"),
        ({"request": replace(NOBODY_ASKED, kpis=("accuracy",))}, False, "request.performance: false"),
        ({"request": NOBODY_ASKED}, False, "neither request.kpis nor targets has one"),
    ],
)
def test_performance_trigger(
    tmp_path: Path, open_gate: Diagnosis, changes: dict[str, Any], met: bool, evidence: str
) -> None:
    trigger = triggers.decide(plan(tmp_path, **changes), open_gate).performance
    assert trigger.met is met
    assert evidence in [condition.evidence.en for condition in trigger.because]
    assert all(condition.met is met for condition in trigger.because)


@pytest.mark.parametrize(
    ("glob", "met"),
    [
        ("logs/*.log", True),
        ("*.log", False),
        ("**/*.log", True),
        ("logs**n.log", True),
        ("logs/sub/*.log", False),
        ("./logs/train.log", True),
        ("logs/[", False),
    ],
)
def test_a_log_is_found_as_the_scan_finds_it(tmp_path: Path, closed_gate: Diagnosis, glob: str, met: bool) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "train.log").write_text("loss 1\n", encoding="utf-8")
    wanted = plan(tmp_path, request=NOBODY_ASKED, baseline=BaselineWish((glob,)))
    assert triggers.decide(wanted, closed_gate).accuracy.met is met
    assert bool(list(scanning.files(tmp_path, [glob]))) is met


def test_agreement_alone_is_not_enough_where_tests_cannot_run(tmp_path: Path, closed_gate: Diagnosis) -> None:
    wanted = plan(tmp_path, request=replace(NOBODY_ASKED, agreed=True))
    assert not triggers.decide(wanted, closed_gate).performance.met


@pytest.mark.parametrize(
    ("changes", "log", "met"),
    [
        ({"request": replace(NOBODY_ASKED, accuracy=True)}, False, True),
        ({"request": replace(NOBODY_ASKED, offline_results=True)}, False, True),
        ({"request": NOBODY_ASKED, "baseline": BaselineWish(("logs/*.log",))}, True, True),
        ({"request": NOBODY_ASKED, "baseline": BaselineWish(("logs/*.log",))}, False, False),
        ({"request": NOBODY_ASKED, "baseline": BaselineWish((), {"model": "A100"})}, False, True),
        ({"request": NOBODY_ASKED}, True, False),
        (
            {
                "request": NOBODY_ASKED,
                "baseline": BaselineWish(("logs/*.log",)),
                "datasets": Datasets(DATASET, DATASET, None, None, None, None),
            },
            True,
            False,
        ),
    ],
)
def test_accuracy_trigger(
    tmp_path: Path, closed_gate: Diagnosis, changes: dict[str, Any], log: bool, met: bool
) -> None:
    (tmp_path / "logs").mkdir()
    if log:
        (tmp_path / "logs" / "train.log").write_text("loss 1\n", encoding="utf-8")
    assert triggers.decide(plan(tmp_path, **changes), closed_gate).accuracy.met is met


def test_what_our_own_commands_printed_is_no_baseline(tmp_path: Path, closed_gate: Diagnosis) -> None:
    (tmp_path / "logs").mkdir()
    printed = tmp_path / "logs" / "npu_measure.log"
    wanted = plan(tmp_path, request=NOBODY_ASKED, baseline=BaselineWish(("logs/*.log",)))
    printed.write_text(answer(wanted, closed_gate).markdown(), encoding="utf-8")
    assert not triggers.decide(wanted, closed_gate).accuracy.met
    (tmp_path / "logs" / "train.log").write_text("loss 1\n", encoding="utf-8")
    assert triggers.decide(wanted, closed_gate).accuracy.met


def test_a_machine_on_which_tests_run_triggers_accuracy(tmp_path: Path, open_gate: Diagnosis) -> None:
    assert triggers.decide(plan(tmp_path, request=NOBODY_ASKED), open_gate).accuracy.met


def answer(wanted: Plan, diagnosis: Diagnosis, lang: str = "zh") -> FiveParts | Block:
    return triggers.answer(wanted, diagnosis, triggers.decide(wanted, diagnosis), lang)  # type: ignore[arg-type]


def test_triggered_and_runnable_gives_five_parts(tmp_path: Path, open_gate: Diagnosis) -> None:
    assert isinstance(answer(plan(tmp_path), open_gate), FiveParts)


def test_triggered_and_closed_gives_the_block(tmp_path: Path, closed_gate: Diagnosis) -> None:
    block = answer(plan(tmp_path), closed_gate)
    assert isinstance(block, Block)
    assert block.gate is Gate.UNKNOWN
    assert "门禁 UNKNOWN" in block.reasons[0]
    assert all(pending.proof for pending in block.pending)


def test_the_gate_is_open_and_something_is_missing_gives_the_block(tmp_path: Path, open_gate: Diagnosis) -> None:
    environment_ = replace(open_gate.environment, packages={"torch": "2.5.1", "torch_npu": "2.6.0"})
    half = gate.examine(tmp_path, environment=environment_)
    assert (half.gate, half.runnable) == (Gate.AUTO, False)
    assert isinstance(answer(plan(tmp_path), half), Block)


def test_not_triggered_gives_the_block_with_what_would_trigger(tmp_path: Path, closed_gate: Diagnosis) -> None:
    block = answer(plan(tmp_path, request=NOBODY_ASKED), closed_gate, "en")
    assert isinstance(block, Block)
    assert sum(reason.startswith("not triggered: ") for reason in block.reasons) == 6
    assert "any one trigger" in block.pending[0].condition
    assert block.pending[0].command == "npueval check npueval.yaml"


def test_commands_are_filled_with_what_is_known(tmp_path: Path, closed_gate: Diagnosis) -> None:
    wanted = plan(tmp_path, path=tmp_path / "计划 1.yaml", tolerances=Tolerances(rtol=0.5))
    lines = [line for template in triggers.commands(wanted, closed_gate) for line in template.lines()]
    assert "export ASCEND_RT_VISIBLE_DEVICES=0,1" in lines, "the plan's npu:1 is the second of the visible cards"
    there = lines.index("export CUDA_VISIBLE_DEVICES=0")
    assert lines[there + 1] == "python gpu_kit.pyz --device cuda:0"
    assert any("npueval measure '计划 1.yaml' 2>&1 | tee" in line for line in lines)
    assert any("--rtol 0.5 --atol 0.001" in line for line in lines)


def test_commands_know_the_cards_of_the_machine(tmp_path: Path, open_gate: Diagnosis) -> None:
    lines = [line for template in triggers.commands(plan(tmp_path), open_gate) for line in template.lines()]
    assert any("--nproc_per_node=2" in line for line in lines)
    assert "export ASCEND_RT_VISIBLE_DEVICES=0,1" in lines


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)
NUMBER = st.floats(0.001, 1e6)


@st.composite
def plans(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXT) -> Plan:
    """Any plan that the schema lets through, as far as the answer reads it."""
    dataset = st.none() | st.builds(Dataset, texts, texts, texts, st.none() | texts)
    accuracy = st.builds(
        AccuracyTarget,
        texts,
        st.sampled_from(["lower", "higher"]),
        st.none() | NUMBER,
        st.none() | NUMBER,
        st.none() | NUMBER,
    )
    batches = tuple(draw(st.lists(st.integers(1, 4096), min_size=1, max_size=4, unique=True)))
    limits = st.none() | NUMBER
    return plan(
        Path("/project"),
        project=Project(draw(texts)),
        workload=draw(texts),
        device=draw(st.sampled_from(["npu", "npu:3", "cpu", "cuda:1"])),
        precisions=tuple(draw(st.lists(st.sampled_from(["fp32", "fp16", "bf16", "int8"]), min_size=1, unique=True))),
        precision_mode=draw(st.sampled_from(["cast", "autocast"])),
        batches=batches,
        target_batch=draw(st.sampled_from(batches)),
        concurrency=tuple(draw(st.lists(st.integers(1, 64), min_size=1, max_size=3))),
        arrival_rates=tuple(draw(st.lists(NUMBER, max_size=2))),
        segments=tuple(draw(st.lists(st.sampled_from(list(triggers_segments())), min_size=1, unique=True))),
        datasets=Datasets(*(draw(dataset) for _ in fields(Datasets))),
        targets=Targets(draw(limits), draw(limits), draw(limits), draw(limits), 0.02, draw(st.none() | accuracy)),
        tolerances=Tolerances(draw(limits), draw(limits)),
        baseline=BaselineWish(tuple(draw(st.lists(texts, max_size=2))), {}, draw(st.booleans())),
        request=draw(st.builds(Request, st.booleans(), st.booleans(), st.booleans(), st.just(()), st.booleans())),
        reasons=draw(st.dictionaries(st.sampled_from(["warmup", "iterations", "batches"]), texts)),
    )


def triggers_segments() -> tuple[str, ...]:
    return ("preprocess", "h2d", "infer", "d2h", "postprocess")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=plans(), lang=st.sampled_from(["zh", "en"]))
def test_every_answer_is_complete(open_gate: Diagnosis, closed_gate: Diagnosis, wanted: Plan, lang: str) -> None:
    for diagnosis in (open_gate, closed_gate):
        given_answer = answer(replace(wanted, baseline=replace(wanted.baseline, logs=())), diagnosis, lang)
        plain = json.loads(json.dumps(given_answer.as_json()))
        name = "five-part" if isinstance(given_answer, FiveParts) else "not-executed"
        assert violations(plain, schema(name)) == []
        assert given_answer.markdown().strip()


CHINESE = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
# What nobody knows before it is there: other people's files and commands, the number of cards that are not seen.
OPEN = {"gpu_result", "gpu_output.npz", "npu_output.npz", "command", "argument", "N", "0,1,…", "id", "…"}
OPEN |= {"torch==X", "torch-npu==X"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=plans(texts=st.text("abc XYZ|`*#\n_", min_size=1).filter(str.strip)), lang=st.sampled_from(["zh", "en"]))
def test_every_answer_says_the_same_in_markdown_in_its_language_and_leaves_nothing_open_that_is_known(
    open_gate: Diagnosis, closed_gate: Diagnosis, wanted: Plan, lang: str
) -> None:
    for diagnosis in (open_gate, closed_gate):
        found = answer(wanted, diagnosis, lang)
        plain, text = json.loads(json.dumps(found.as_json(), ensure_ascii=False)), found.markdown()
        known = {*OPEN, *(("rtol", "atol") if wanted.precisions[0] == "int8" else ())}
        assert set(re.findall(r"<([^<>]*)>", text)) <= known
        assert all(value in text for value in values(plain))
        tables = [line for line in text.splitlines() if line.startswith("| ")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1
        if lang == "en":
            assert CHINESE.findall(json.dumps(plain, ensure_ascii=False)) == []
            assert CHINESE.findall(text) == []


def values(plain: dict[str, Any]) -> list[str]:
    """The statements of an answer in JSON."""
    if "parts" in plain:
        rows = [row for part in plain["parts"] for row in part["rows"]]
        cells = [cell for row in plain["parts"][-1]["table"]["rows"] for cell in row]
        others = [row[key] for row in rows for key in ("label", "value")]
    else:
        cells = [pending[key] for pending in plain["pending"] for key in ("condition", "proof")]
        others = [*plain["reasons"]]
        others += [line for each in plain["commands"] for line in (each["title"], each["note"], *each["bash"])]
    return [*others, *(cell.replace("|", "\\|") for cell in cells)]


def said(five: FiveParts) -> str:
    return five.markdown()


def test_the_plan_s_own_values_are_in_the_answer(tmp_path: Path, open_gate: Diagnosis) -> None:
    wanted = plan(
        tmp_path,
        concurrency=(1, 4),
        arrival_rates=(2.5,),
        warmup=12,
        iterations=345,
        targets=Targets(latency_p50_ms=5, throughput=900, accuracy=AccuracyTarget("top1", "higher", max_drop=0.005)),
        reasons={"warmup": "编译很慢", "batches": "显存\n不够"},
        baseline=BaselineWish(("logs/*.log",), cpu=True),
    )
    five = answer(wanted, open_gate)
    assert isinstance(five, FiveParts)
    text = said(five)
    for value in (
        "workload.py:Digits",
        "npu:1",
        "fp16",
        "1, 8（目标 batch 8）（计划说明：显存 不够）",
        "闭环并发 4",
        "2.5 请求/s",
        "12 次",
        "编译很慢",
        "345 次",
        "≤ 5",
        "≥ 900",
        "top1",
        "0.005",
        "images/s",
        "数字 v2，验证集 360 张",
        "不适用",
        "logs/*.log",
        "CPU 对照",
        "CANN 8.2.RC1",
        "Ascend910B3 × 2",
        "rtol 0.01, atol 0.001",
        "mig_docs/working/Compare.md",
        "runs/<id>.json",
    ):
        assert value in text, value
    placeholders = set(re.findall(r"<[^>]*>", text))
    assert placeholders == {"<id>"}


def test_what_is_left_out_is_said(tmp_path: Path, open_gate: Diagnosis) -> None:
    five = answer(plan(tmp_path), open_gate, "en")
    assert isinstance(five, FiveParts)
    rows = {row.label: row.value for row in five.parts[0].rows}
    assert rows["Segments included"] == "preprocessing, inference"
    assert rows["Left out"].startswith("host to device copy (h2d), device to host copy (d2h), postprocessing; ")
    assert "not the whole way" in rows["Meaning of end_to_end"]


def test_the_target_batch_comes_first_in_the_table(tmp_path: Path, open_gate: Diagnosis) -> None:
    five = answer(plan(tmp_path, batches=(1, 8, 32)), open_gate)
    assert isinstance(five, FiveParts)
    table = five.parts[4].table
    assert table is not None
    assert [row[2] for row in table.rows] == ["8"] * 4 + ["1"] * 3 + ["32"] * 3
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_targets_of_the_table_are_those_that_are_judged(tmp_path: Path, open_gate: Diagnosis) -> None:
    accuracy = AccuracyTarget("ppl", "lower", minimum=9.0, min_ratio=0.9)
    targets = Targets(latency_p50_ms=5, throughput=900, ratio_to_baseline=0.9, accuracy=accuracy)
    five = answer(plan(tmp_path, targets=targets), open_gate)
    assert isinstance(five, FiveParts)
    table = five.parts[4].table
    assert table is not None
    assert {row[0]: row[6] for row in table.rows[:4]} == {
        "延迟 p50 (ms)": performance_target("latency_p50_ms", "ms", "lower", targets),
        "延迟 p95 (ms)": "未设目标",
        "吞吐 (images/s)": performance_target("throughput", "images/s", "higher", targets),
        "ppl": target_text(accuracy),
    }


def test_a_part_is_replaced_by_its_key(tmp_path: Path, open_gate: Diagnosis) -> None:
    five = answer(plan(tmp_path), open_gate)
    assert isinstance(five, FiveParts)
    filled = five.with_part(Part("report", "性能报告", (Row("结论", "通过"),)))
    assert [part.key for part in filled.parts] == [part.key for part in five.parts]
    assert filled.parts[4].rows == (Row("结论", "通过"),)
    assert filled.parts[:4] == five.parts[:4]


@pytest.mark.parametrize("missing", range(5))
def test_a_missing_part_is_an_error(tmp_path: Path, open_gate: Diagnosis, missing: int) -> None:
    plain = answer(plan(tmp_path), open_gate).as_json()
    del plain["parts"][missing]
    assert violations(plain, schema("five-part"))


@pytest.mark.parametrize("key", ["reasons", "pending", "commands"])
def test_an_empty_section_of_the_block_is_an_error(tmp_path: Path, closed_gate: Diagnosis, key: str) -> None:
    plain = answer(plan(tmp_path), closed_gate).as_json()
    assert violations(plain, schema("not-executed")) == []
    assert violations({**plain, key: []}, schema("not-executed"))
    del plain[key]
    assert violations(plain, schema("not-executed"))


def test_the_block_in_markdown(tmp_path: Path, closed_gate: Diagnosis) -> None:
    text = answer(plan(tmp_path), closed_gate).markdown()
    heads = re.findall(r"^## (.+)$", text, re.M)
    assert heads == ["未执行原因", "待满足条件", "可直接复用的测试命令模板"]
    assert text.count("```bash") == text.count("\n```\n") + text.endswith("```") == 9


def test_the_table_has_a_row_for_every_case_and_targets_for_the_one_that_is_judged(
    tmp_path: Path, open_gate: Diagnosis
) -> None:
    loads = {"batches": (1, 8), "target_batch": 8, "concurrency": (1, 4), "arrival_rates": (5.0,)}
    wanted = plan(tmp_path, **loads, precisions=("fp32", "fp16"), targets=Targets(latency_p50_ms=5))
    five = answer(wanted, open_gate)
    assert isinstance(five, FiveParts)
    table = five.parts[4].table
    assert table is not None
    rows = [row for row in table.rows if row[0] == "延迟 p50 (ms)"]
    cases = ["8", "8，并发 4", "8，5 请求/s", "1", "1，并发 4", "1，5 请求/s"]
    assert [row[1:3] for row in rows] == [(precision, case) for precision in ("fp32", "fp16") for case in cases]
    assert [row[6] for row in rows if row[6] != "未设目标"] == [rows[0][6]]


def table_of(wanted: Plan, found: Diagnosis, lang: str = "zh") -> Table:
    five = answer(wanted, found, lang)
    assert isinstance(five, FiveParts)
    table = five.parts[4].table
    assert table is not None
    return table


def test_accuracy_alone_gives_a_row_of_accuracy_and_none_of_performance(tmp_path: Path, open_gate: Diagnosis) -> None:
    asked = replace(NOBODY_ASKED, accuracy=True)
    wanted = plan(tmp_path, request=asked, precisions=("fp16", "fp32"), batches=(1, 8))
    assert [row[:3] + row[6:7] for row in table_of(wanted, open_gate, "en").rows] == [
        ("accuracy (as check of the workload gives it)", "fp16", "8", "none set"),
        ("accuracy (as check of the workload gives it)", "fp32", "8", "none set"),
    ]
    named = replace(wanted, targets=Targets(accuracy=AccuracyTarget("top1", "higher", minimum=0.9)))
    assert [(row[0], row[6]) for row in table_of(named, open_gate).rows] == [("top1", "≥ 0.9"), ("top1", "未设目标")]


@pytest.mark.parametrize(("device", "count"), [("npu:3", 2), ("npu:2", 2), ("cuda", 0), ("cuda:1", 0)])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_device_that_is_not_here_gives_the_block(
    tmp_path: Path, open_gate: Diagnosis, device: str, count: int, lang: str
) -> None:
    block = answer(plan(tmp_path, device=device), open_gate, lang)
    assert isinstance(block, Block)
    kind = device.partition(":")[0]
    words = {
        "zh": f"计划的设备 {device} 不在本机：可见 {count} 个 {kind} 设备",
        "en": f"the plan's device {device} is not here: {count} {kind} device(s) are visible",
    }
    assert len(block.reasons) == 1
    assert block.reasons[0].startswith(words[lang])
    assert [pending.command for pending in block.pending] == ["npueval check npueval.yaml"]


def test_the_last_device_that_is_here_gives_the_five_parts(tmp_path: Path, open_gate: Diagnosis) -> None:
    assert table_of(plan(tmp_path, device="npu:1"), open_gate).columns[4] == "NPU（迁移后）"


def test_another_device_of_the_plan_is_named_as_it_is(tmp_path: Path, open_gate: Diagnosis) -> None:
    wanted = plan(tmp_path, device="cpu")
    assert table_of(wanted, open_gate).columns[4] == "CPU（计划的设备）"
    text = answer(wanted, open_gate).markdown()
    assert "Ascend910B3" not in text
    assert f"设备 {open_gate.environment.system.cpu}" in text
    stage = replace(open_gate.environment.probe.stages[0], facts={"cuda_devices": ["Card A", "Card A"]})
    probe = replace(open_gate.environment.probe, stages=(stage, *open_gate.environment.probe.stages[1:]))
    both = replace(open_gate, environment=replace(open_gate.environment, probe=probe))
    assert table_of(plan(tmp_path, device="cuda:1"), both).columns[4] == "CUDA（计划的设备）"
    assert "Card A × 2" in answer(plan(tmp_path, device="cuda:1"), both).markdown()
