"""What smoke, golden and the short test left behind, recalled and said in the documents."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npueval import baselines, golden, smoke, training
from npueval.golden.setfile import Manifest, Member, sha256_of, write
from npueval.language import same
from npueval.plan import Plan, Training
from npueval.records import Edit
from npueval.runs.conditions import DeviceFacts
from npueval.smoke import Check, Smoke
from npueval.training import record
from npueval.training.curves import of_values
from npueval.workflow import verification
from support.projects import facts_of, make_plan

CARD = DeviceFacts("npu:0", "npu", 0, "Ascend910B3")
SMOKE = Smoke(
    created="2026-02-01T00:00:00Z",
    device=CARD,
    simulated=False,
    workload="workload.py:Model",
    precision="fp32",
    inference=(Check("runs", True, same("2 batches")), Check("finite", True, same("no NaN"))),
    training=(Check("runs", True, same("3 steps")), Check("checkpoint", False, same("BatchNorm buffers are lost"))),
)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return make_plan(tmp_path, device="npu", training=Training(steps=40))


def bring_smoke(plan: Plan, **changes: object) -> None:
    known = {"made_with": facts_of(plan), "conditions": smoke.conditions(plan)}
    smoke.save(replace(SMOKE, **{**known, **changes}), plan.runs)


def bring_golden(plan: Plan, error: float, half_error: float = 0.0, **changes: object) -> None:
    made = Manifest("npu:0", "Ascend910B3", False, "fp32", 3, 4, facts_of(plan), "f" * 64)
    (plan.runs / "golden").mkdir(parents=True)
    outputs = np.linspace(1, 2, 12, dtype=np.float32).reshape(4, 3)
    sides = {
        "cpu-fp32": (replace(made, device="cpu"), outputs),
        "npu-fp32": (replace(made, **changes), outputs + np.float32(error)),
        "npu-fp16": (replace(made, **{"precision": "fp16", **changes}), outputs + np.float32(half_error)),
    }
    for name, (manifest, values) in sides.items():
        members = {"infer": Member(values.shape, "float32", sha256_of(values))}
        write(plan.runs / "golden" / f"{name}.npz", replace(manifest, members=members), {"infer": values})


def bring_short_test(plan: Plan, last: float, **changes: object) -> None:
    losses = tuple(float(x) for x in np.linspace(2.0, last, 40))
    verdict = training.judge_short(of_values("loss", losses))
    configured = training.configuration(plan, "npu:0", training.BAND)
    kept = record.Record("2026-02-01T00:00:00+00:00", "npueval", "npu:0", False, configured, losses, verdict)
    record.save(plan.runs / training.FOLDER / "a.json", replace(kept, **changes))


def boxes(edits: tuple[Edit, ...]) -> dict[str, object]:
    return {edit.address.rpartition("/")[2]: edit.value for edit in edits if edit.address.startswith("Mig_report#6")}


def bring_log(plan: Plan, losses: np.ndarray, name: str = "npu.log", device: str = "npu (Ascend910B3)") -> None:
    lines = [f"date: 2026-02-0{1 + len(list(plan.root.glob('*.log')))} 10:00:00", f"device: {device}"]
    lines += [f"epoch 1/1 step {step}/{len(losses)} loss {loss:.4f}" for step, loss in enumerate(losses, 1)]
    (plan.root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def recalled(plan: Plan) -> verification.Verification:
    return verification.recall(plan, baselines.scan(plan.root).npu_training)


FALLS, STALLS = np.linspace(2.0, 0.5, 600), np.full(600, 1.7) + np.arange(600) % 7 / 1000


def test_nothing_was_left_nothing_is_said(plan: Plan) -> None:
    assert verification.recall(replace(plan, training=None)) == verification.Verification({}, ())


def test_the_project_s_own_thresholds_are_said_where_it_trains(plan: Plan) -> None:
    found = verification.recall(replace(plan, training=Training(stagnation_steps=900)))
    said = {edit.address.rpartition("/")[2]: edit.value for edit in found.edits}
    assert all(edit.address.startswith("Mig_Readme#5.3/") for edit in found.edits)
    assert said["实际累计步数上限或等价阈值"] == "900 步"
    assert said["相关训练命令与日志路径"] == "N/A（尚无 NPU 训练日志）"


@pytest.mark.parametrize(("losses", "passed"), [(FALLS, True), (STALLS, False), (STALLS[:300], None)])
def test_the_log_of_formal_training_is_judged(plan: Plan, losses: np.ndarray, passed: bool | None) -> None:
    bring_log(plan, losses)
    found = recalled(plan)
    assert found.statements["formal_training"].passed is passed
    assert boxes(found.edits) == {"正式训练": passed is True}
    entries = [edit for edit in found.edits if edit.address == "Mig_report#7.1/2026-02-01 10:00:00"]
    assert [edit.value[1] for edit in entries] == (["loss 600 步无明显改善"] if passed is False else [])


def test_the_latest_log_counts(plan: Plan) -> None:
    bring_log(plan, STALLS, "z.log")
    bring_log(plan, FALLS, "a.log")
    assert recalled(plan).statements["formal_training"].text.startswith("正式训练 a.log：有改善")


def test_a_training_that_ends_in_nan_is_judged_though_it_is_no_baseline(plan: Plan) -> None:
    bring_log(plan, np.r_[FALLS[:20], [np.nan] * 5])
    found = recalled(plan)
    assert found.statements["formal_training"].passed is False
    assert boxes(found.edits) == {"正式训练": False}


@pytest.mark.parametrize(
    ("losses", "device"), [(FALLS, "cuda (Tesla T4)"), (FALLS, "cpu (Xeon)"), (FALLS, "unknown"), (FALLS[:40], "npu")]
)
def test_a_log_of_another_device_and_a_short_test_are_no_formal_training(
    plan: Plan, losses: np.ndarray, device: str
) -> None:
    bring_log(plan, losses, device=device)
    found = recalled(plan)
    assert found.statements == {}
    assert boxes(found.edits) == {}


def test_a_smoke_test_says_what_failed_and_where_it_is_recorded(plan: Plan) -> None:
    bring_smoke(plan)
    found = verification.recall(plan).statements
    assert found["inference_smoke"].passed is True
    assert found["training_smoke"].passed is False
    assert found["training_smoke"].text == "未通过（BatchNorm buffers are lost；记录 runs/smoke-npu.json）"
    assert found["checkpoint"].passed is False
    assert "gradients" not in found


def test_what_failed_is_an_entry_of_the_problems_with_the_command_that_shows_it(plan: Plan) -> None:
    bring_smoke(plan)
    bring_golden(plan, 0.1)
    bring_short_test(plan, 1.9)
    found = {
        edit.value[1]: edit for edit in verification.recall(plan).edits if edit.address.startswith("Mig_report#7.1")
    }
    assert set(found) == {"冒烟未通过", "Golden 不一致", "训练短测未通过"}
    smoked, golden_set = found["冒烟未通过"], found["Golden 不一致"]
    assert smoked.value[:4] == (
        "2026-02-01T00:00:00Z",
        "冒烟未通过",
        "npueval smoke npueval.yaml",
        "BatchNorm buffers are lost（runs/smoke-npu.json）",
    )
    assert golden_set.address == f"Mig_report#7.1/{golden_set.value[0]}" and "npu-fp32.npz" in golden_set.value[3]
    bring_smoke(plan, training=SMOKE.inference)
    assert not any("冒烟" in str(edit.value) for edit in verification.recall(plan).edits)


@pytest.mark.parametrize(("error", "passed"), [(0.0, True), (0.1, False)])
def test_golden_sets_are_compared_anew(plan: Plan, error: float, passed: bool) -> None:
    bring_golden(plan, error)
    found = verification.recall(plan)
    assert found.statements["golden"].passed is passed
    assert boxes(found.edits) == {"Golden 样本数值一致性": passed}
    assert "runs/golden/npu-fp32.npz" in found.statements["golden"].text


@pytest.mark.parametrize(("half_error", "passed"), [(0.005, True), (0.1, False)])
def test_golden_passes_where_every_precision_does_within_its_own_tolerance(
    plan: Plan, half_error: float, passed: bool
) -> None:
    plan = replace(plan, precisions=("fp32", "fp16"))
    bring_golden(plan, 0.0, half_error)
    found = verification.recall(plan)
    statement = found.statements["golden"]
    assert statement.passed is passed
    assert statement.text.count("runs/golden/npu-fp") == 2
    assert "(FP32)" in statement.text
    assert "(FP16)" in statement.text
    assert boxes(found.edits) == {"Golden 样本数值一致性": passed}


@pytest.mark.parametrize(("last", "passed"), [(1.2, True), (1.9, False)])
def test_a_short_test_ticks_its_box(plan: Plan, last: float, passed: bool) -> None:
    bring_short_test(plan, last)
    found = verification.recall(plan)
    assert found.statements["short_test"].passed is passed
    assert boxes(found.edits) == {"训练短测": passed}


def test_what_was_simulated_is_left_out(plan: Plan) -> None:
    bring_smoke(plan, simulated=True)
    bring_golden(plan, 0.0, simulated=True)
    bring_short_test(plan, 1.2, simulated=True)
    found = verification.recall(plan)
    assert found.statements == {}
    assert boxes(found.edits) == {}


def test_what_cannot_be_read_is_named_and_the_rest_is_kept(plan: Plan) -> None:
    plan.runs.mkdir()
    (plan.runs / "smoke-npu.json").write_text("{", encoding="utf-8")
    bring_golden(plan, 0.0)
    found = verification.recall(plan)
    assert list(found.statements) == ["golden"]
    assert any("smoke-npu.json" in line for line in found.passed_over)


def bring_all(plan: Plan) -> None:
    bring_smoke(plan)
    bring_golden(plan, 0.0)
    bring_short_test(plan, 1.2)


CHANGES = {
    "targets": ({"unit": "images/s"}, {}),
    "iterations": ({"iterations": 200}, {}),
    "batches": (
        {"batches": (1, 4, 8), "target_batch": 8},
        {"smoke": "batch 已改变（1, 4 → 1, 8）", "golden": "batch 已改变（4 → 8）"},
    ),
    "seed": ({"seed": 9}, dict.fromkeys(("smoke", "golden", "short_test"), "种子 已改变（3 → 9）")),
    "steps": ({"training": Training(steps=80)}, {"short_test": "步数 已改变（40 → 80）"}),
}
STATEMENTS = {"smoke": "inference_smoke", "golden": "golden", "short_test": "short_test"}
AGAIN = {"smoke": "npueval smoke", "golden": "npueval golden", "short_test": "npueval train"}


@pytest.mark.parametrize(("change", "outdated"), CHANGES.values(), ids=CHANGES)
def test_a_plan_that_changed_outdates_what_it_decided_and_nothing_else(
    plan: Plan, change: dict[str, object], outdated: dict[str, str]
) -> None:
    bring_all(plan)
    found = verification.recall(replace(plan, **change)).statements
    for name, key in STATEMENTS.items():
        assert (found[key].passed, found[key].outdated) == ((None, True) if name in outdated else (True, False))
        if name in outdated:
            assert f"过期：{outdated[name]}，须重新执行 {AGAIN[name]} npueval.yaml（记录 runs/" in found[key].text
            assert "通过" not in found[key].text


def test_a_workload_that_changed_outdates_everything(plan: Plan) -> None:
    bring_all(plan)
    with (plan.root / "workload.py").open("a", encoding="utf-8") as file:
        file.write("# another\n")
    found = verification.recall(plan)
    assert {key: statement.outdated for key, statement in found.statements.items()} == dict.fromkeys(
        ("inference_smoke", "training_smoke", "checkpoint", "golden", "short_test"), True
    )
    assert set(boxes(found.edits).values()) == {False}
    assert not any("通过" in statement.text for statement in found.statements.values())
    rows = [edit.value for edit in found.edits if isinstance(edit.value, tuple)]
    assert [row[-1] for row in rows] == ["N/A（过期：workload.py 已改变）"]


@pytest.mark.parametrize(("there", "outdated"), [(b"other weights", True), (b"weights", False), (None, False)])
def test_weights_that_changed_outdate_and_weights_that_are_elsewhere_do_not(
    plan: Plan, there: bytes | None, outdated: bool
) -> None:
    facts = replace(facts_of(plan), needs={"model.pt": hashlib.sha256(b"weights").hexdigest()})
    bring_smoke(plan, made_with=facts)
    bring_golden(plan, 0.0, workload=facts)
    bring_short_test(plan, 1.2, made_with=facts)
    if there is not None:
        (plan.root / "model.pt").write_bytes(there)
    found = verification.recall(plan).statements
    assert {key: found[key].outdated for key in STATEMENTS.values()} == dict.fromkeys(STATEMENTS.values(), outdated)


def test_a_record_that_names_no_files_proves_nothing(plan: Plan) -> None:
    bring_smoke(plan, made_with=None, conditions={})
    assert "记录没有写明它用了哪些文件；记录没有写明精度" in recalled(plan).statements["inference_smoke"].text


def test_the_short_test_of_this_plan_counts_though_another_is_newer(plan: Plan) -> None:
    bring_short_test(plan, 1.2)
    configured = training.configuration(replace(plan, seed=9), "npu:0", training.BAND)
    losses = (2.0,) * 40
    newer = record.Record(
        "2026-03-01T00:00:00+00:00",
        "npueval",
        "npu:0",
        False,
        configured,
        losses,
        training.judge_short(of_values("loss", losses)),
    )
    record.save(plan.runs / training.FOLDER / "b.json", newer)
    assert recalled(plan).statements["short_test"].passed is True


def test_only_what_is_outdated_is_verified_again(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(smoke, "run", lambda _plan: done.append("smoke") or replace(SMOKE, simulated=True))
    monkeypatch.setattr(golden, "check", lambda each: done.append(f"golden {each.precision}"))
    monkeypatch.setattr(training, "short_test", lambda _plan: done.append("short test"))

    def again(wanted: Plan, **options: bool) -> list[str]:
        done.clear()
        bring_smoke(plan)
        verification.run(wanted, lambda _line: None, **options)
        return list(done)

    assert again(plan) == ["golden fp32", "short test"]
    bring_golden(plan, 0.0)
    # A short test that has passed refuses by itself to be repeated.
    assert again(plan) == ["short test"]
    assert again(plan, fresh=True) == ["smoke", "golden fp32", "short test"]
    assert again(replace(plan, precisions=("fp32", "bf16"))) == ["golden bf16", "short test"]
    assert again(replace(plan, seed=9)) == ["smoke", "golden fp32", "short test"]
