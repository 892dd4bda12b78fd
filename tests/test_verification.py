"""What smoke, golden and the short test left behind, recalled and said in the documents."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npueval import smoke, training
from npueval.golden.setfile import Manifest, Member, sha256_of, write
from npueval.language import same
from npueval.plan import Plan, Training
from npueval.records import Edit
from npueval.runs.conditions import DeviceFacts, WorkloadFacts
from npueval.smoke import Check, Smoke
from npueval.training import record
from npueval.training.curves import of_values
from npueval.workflow import verification
from support.projects import make_plan

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


def bring_golden(plan: Plan, error: float, **changes: object) -> None:
    made = Manifest("npu:0", "Ascend910B3", False, "fp32", 3, 4, WorkloadFacts("workload.py:Model", "0" * 64), "f" * 64)
    (plan.runs / "golden").mkdir(parents=True)
    outputs = np.linspace(1, 2, 12, dtype=np.float32).reshape(4, 3)
    sides = {
        "cpu-fp32": (replace(made, device="cpu"), outputs),
        "npu-fp32": (replace(made, **changes), outputs + np.float32(error)),
    }
    for name, (manifest, values) in sides.items():
        members = {"infer": Member(values.shape, "float32", sha256_of(values))}
        write(plan.runs / "golden" / f"{name}.npz", replace(manifest, members=members), {"infer": values})


def bring_short_test(plan: Plan, last: float, **changes: object) -> None:
    losses = tuple(float(x) for x in np.linspace(2.0, last, 40))
    verdict = training.judge_short(of_values("loss", losses))
    kept = record.Record("2026-02-01T00:00:00+00:00", "npueval", "npu:0", False, {}, losses, verdict)
    record.save(plan.runs / training.FOLDER / "a.json", replace(kept, **changes))


def boxes(edits: tuple[Edit, ...]) -> dict[str, object]:
    return {edit.address.rpartition("/")[2]: edit.value for edit in edits if edit.address.startswith("Mig_report#6")}


def test_nothing_was_left_nothing_is_said(plan: Plan) -> None:
    assert verification.recall(plan) == verification.Verification({}, ())


def test_a_smoke_test_says_what_failed_and_where_it_is_recorded(plan: Plan) -> None:
    smoke.save(SMOKE, plan.runs)
    found = verification.recall(plan).statements
    assert found["inference_smoke"].passed is True
    assert found["training_smoke"].passed is False
    assert found["training_smoke"].text == "未通过（BatchNorm buffers are lost；记录 runs/smoke-npu.json）"
    assert found["checkpoint"].passed is False
    assert "gradients" not in found


@pytest.mark.parametrize(("error", "passed"), [(0.0, True), (0.1, False)])
def test_golden_sets_are_compared_anew(plan: Plan, error: float, passed: bool) -> None:
    bring_golden(plan, error)
    found = verification.recall(plan)
    assert found.statements["golden"].passed is passed
    assert boxes(found.edits) == {"Golden 样本数值一致性": passed}
    assert "runs/golden/npu-fp32.npz" in found.statements["golden"].text


@pytest.mark.parametrize(("last", "passed"), [(1.2, True), (1.9, False)])
def test_a_short_test_ticks_its_box(plan: Plan, last: float, passed: bool) -> None:
    bring_short_test(plan, last)
    found = verification.recall(plan)
    assert found.statements["short_test"].passed is passed
    assert boxes(found.edits) == {"训练短测": passed}


def test_what_was_simulated_is_left_out(plan: Plan) -> None:
    smoke.save(replace(SMOKE, simulated=True), plan.runs)
    bring_golden(plan, 0.0, simulated=True)
    bring_short_test(plan, 1.2, simulated=True)
    assert verification.recall(plan) == verification.Verification({}, ())


def test_what_cannot_be_read_is_named_and_the_rest_is_kept(plan: Plan) -> None:
    plan.runs.mkdir()
    (plan.runs / "smoke-npu.json").write_text("{", encoding="utf-8")
    bring_golden(plan, 0.0)
    found = verification.recall(plan)
    assert list(found.statements) == ["golden"]
    assert any("smoke-npu.json" in line for line in found.passed_over)
