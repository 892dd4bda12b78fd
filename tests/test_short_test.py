"""The short test run live: it stops by itself, is kept, and is not run twice."""

import json
from dataclasses import replace

import pytest

from npueval import patching, starting, training
from npueval.contracts import violations
from npueval.devices import open_device
from npueval.errors import Exit, FormatError, MeasurementError, NotExecuted, WorkloadError
from npueval.plaindata import to_plain
from npueval.plan import Training
from npueval.resources import schema
from npueval.training import Band, judge_formal
from npueval.training import record as records
from npueval.training.curves import of_values
from support.projects import make_plan

LEARNER = """
    import numpy as np
    class Model:
        rate = 0.02
        def load(self, device, precision): pass
        def inputs(self, batch, seed): return np.ones((batch, 2))
        def infer(self, x): return x
        def train_step(self, step):
            print("chatter")
            return {"loss": 2.3 * np.exp(-self.rate * step) * (1 + 0.01 * np.sin(99 * step))}
"""
CPU = open_device("cpu")


def learner(folder, rate="0.02", returned=None, **changes):
    source = LEARNER.replace("rate = 0.02", f"rate = {rate}")
    source = source.replace("return {", f"return {returned} or {{") if returned else source
    return make_plan(folder, source, **{"training": Training(steps=90), **changes})


def test_it_stops_by_itself_once_it_has_passed(tmp_path):
    plan = learner(tmp_path)
    heard = []
    record, path = training.short_test(plan, device=CPU, progress=heard.append)
    assert record.verdict.passed
    assert 20 <= len(record.losses) < 60
    assert len(heard) == len(record.losses)
    assert heard[0] == "short test, step 0: loss 2.3"
    assert record.curve.values == record.losses
    kept = records.load(path)
    assert kept == record
    assert path.parent == plan.runs / "short_tests"
    assert violations(json.loads(path.read_bytes()), schema("training")) == []


def test_one_that_has_passed_is_not_run_again(tmp_path):
    plan = learner(tmp_path)
    first, path = training.short_test(plan, device=CPU)
    with pytest.raises(NotExecuted, match="passed on") as caught:
        training.short_test(plan, device=CPU)
    assert (caught.value.status, caught.value.code) == (Exit.NOT_EXECUTED, "SHORT_TEST_PASSED")
    assert caught.value.path == str(path)
    again, _ = training.short_test(plan, device=CPU, forced=True)
    assert again.losses == first.losses
    for other in (
        replace(plan, seed=4),
        replace(plan, training=Training(steps=80)),
        replace(plan, precisions=("fp16",)),
    ):
        assert training.short_test(other, device=CPU)[1] != path
    assert training.short_test(plan, device=CPU, band=Band(0.2, 0.4))[1] != path
    (tmp_path / "model.py").write_text("LAYERS = 3\n", encoding="utf-8")
    assert training.short_test(plan, device=CPU)[1] != path


def test_one_that_failed_may_be_run_again(tmp_path):
    plan = learner(tmp_path, rate="0.0")
    record, path = training.short_test(plan, device=CPU)
    assert (record.verdict.status, len(record.losses)) == ("failed", 90)
    assert training.short_test(plan, device=CPU)[1] == path


def test_a_loss_that_is_not_finite_ends_it(tmp_path):
    record, path = training.short_test(learner(tmp_path, returned="step == 7 and float('nan')"), device=CPU)
    assert (record.verdict.status, len(record.losses), record.losses[-1]) == ("failed", 8, None)
    assert "first at step 8" in record.verdict.reason.en
    assert records.load(path).curve.not_finite == "step 8"


def test_in_a_process_of_its_own_it_does_the_same(tmp_path, capfd):
    plan = learner(tmp_path)
    here, _ = training.short_test(plan, device=CPU)
    heard = []
    capfd.readouterr()
    there, _ = training.short_test(plan, device="cpu", forced=True, progress=heard.append)
    assert there.losses == here.losses
    assert len(heard) == len(there.losses)
    assert capfd.readouterr().out == ""


def test_what_keeps_it_from_running(tmp_path):
    with pytest.raises(NotExecuted, match="no training section"):
        training.short_test(learner(tmp_path, training=None), device=CPU)
    with pytest.raises(WorkloadError, match="no train_step"):
        training.short_test(make_plan(tmp_path / "b", training=Training()), device=CPU)
    with pytest.raises(WorkloadError, match="is no loss"):
        training.short_test(learner(tmp_path / "c", returned="'text'"), device=CPU)


@pytest.mark.parametrize("device", ["cpu", CPU], ids=["child", "here"])
def test_a_step_that_raises_is_blamed(tmp_path, device):
    with pytest.raises(WorkloadError, match=r"train_step raised ZeroDivisionError") as caught:
        training.short_test(learner(tmp_path, returned="1 / (step - 3)"), device=device)
    assert caught.value.line == 9


def test_a_loss_that_is_cut_off_is_named(tmp_path):
    cut = "(_ for _ in ()).throw(RuntimeError('element 0 of tensors does not require grad'))"
    with pytest.raises(MeasurementError, match="cut off from the parameters"):
        training.short_test(learner(tmp_path, returned=cut), device=CPU)


def test_what_is_no_record_or_a_newer_one(tmp_path):
    path = tmp_path / "r.json"
    for text, words in (
        ("{", "not the record"),
        ("[]", "not the record"),
        ('{"format": "npueval/run/1"}', "not the record"),
        ('{"format": "npueval/short-test/7"}', "format 7, this release reads up to 1"),
        ('{"format": "npueval/short-test/1"}', "not a Record"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=words) as caught:
            records.load(path)
        assert caught.value.path == str(path)


def test_the_verdicts_in_the_documents(tmp_path):
    record, _ = training.short_test(learner(tmp_path), device=CPU)
    assert training.short_edits(record.verdict, device="cpu") == []
    assert training.short_edits(record.verdict, device="npu", simulated=True) == []
    stalled = judge_formal(of_values("loss", [1.7] * 600))
    edits = [
        *training.short_edits(record.verdict, device="npu:0"),
        *training.formal_edits(stalled, when="2026-05-01 10:00", command="python train.py", log="logs/t.log"),
        *training.threshold_edits(Training(), "python train.py，logs/t.log"),
    ]
    starting.start(tmp_path)
    assert patching.patch(tmp_path / "mig_docs", edits).refusals == ()
    report = (tmp_path / "mig_docs" / "working" / "Mig_report.md").read_text(encoding="utf-8")
    assert "- [x] 训练短测" in report
    assert "- [ ] 正式训练" in report
    row = next(line for line in report.splitlines() if line.startswith("| 2026-05-01 10:00 |"))
    assert "loss 600 步无明显改善" in row
    assert "1. 标签与样本是否对应" in row
    readme = (tmp_path / "mig_docs" / "working" / "Mig_Readme.md").read_text(encoding="utf-8")
    assert "实际累计步数上限或等价阈值：500 步" in readme


def test_the_verdicts_in_one_sentence(tmp_path):
    record, _ = training.short_test(learner(tmp_path), device=CPU)
    said = training.short_statement(record.verdict, "runs/x.json")
    assert said.startswith("训练短测 runs/x.json：通过，即止，loss 从 2.2")
    assert f"下降 {record.verdict.drop:.1%}" in said
    fine = judge_formal(of_values("loss", [2.0 - 0.002 * step for step in range(600)]))
    assert training.formal_statement(fine, "t.log").startswith("正式训练 t.log：有改善，loss 相对起点改善")
    assert to_plain(fine)["status"] == "fine"
