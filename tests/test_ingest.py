"""What comes back from another host: every doubt is named, what cannot be true is refused, nothing is half written."""

import base64
import gzip
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from npueval import plan as plans
from npueval import runs
from npueval.cli.baseline import command as baseline
from npueval.contracts import violations
from npueval.errors import Exit, FormatError, NpuevalError
from npueval.kit.ingest import ingest
from npueval.kit.manifest import KitManifest, digest_of
from npueval.records import Grade
from npueval.resources import schema
from npueval.runs.conditions import DeviceFacts
from support.kits import changed, result_of, run_of, sealed, written
from support.make_runs import make_case
from support.projects import NUMPY, make_plan, write_workload

NOTHING = {"zh": "", "en": ""}


@pytest.fixture
def plan(tmp_path):
    return make_plan(tmp_path / "项目 一")


@pytest.fixture
def result(plan):
    return result_of(plan, run_of(plan))


@pytest.fixture
def bring(plan, tmp_path):
    """Take a result in, as it stands in a file."""
    return lambda content: ingest(written(tmp_path / "gpu_result.json", content), plan)


def kept(plan):
    return sorted(path.name for path in plan.runs.glob("*.json"))


def test_a_whole_result_is_grade_a_and_kept_once_however_often_it_is_brought(plan, result, bring):
    assert violations(result, schema("kit-result")) == []
    first, again = bring(result), bring(result)
    assert first.grade is again.grade is Grade.A and all(check.passed for check in first.checks)
    assert first.path.read_bytes() == again.path.read_bytes() and len(kept(plan)) == 1
    assert runs.load(first.path).environment["kit"] == {"manifest": result_digest(result), "grade": "A", "failed": []}


def result_digest(result):
    return digest_of(result["manifest"])


def inputs(body):
    body["run"]["inputs"][1]["sha256"] = "0" * 64


def manifest(body):
    body["manifest"]["files"]["golden.npz"] = "c" * 64


def frozen_plan(body):
    body["found"]["plan.json"] = "c" * 64


def golden(body):
    body["golden"] = {"passed": False, "reason": "infer：最大误差 0.3"}


def workload(body):
    body["run"]["workload"]["sha256"] = "c" * 64


def seed(body):
    body["run"]["seed"] = 99


def weights(body):
    body["manifest"]["files"]["project/weights.bin"] = body["found"]["project/weights.bin"] = "c" * 64


def segment(body):
    del body["run"]["not_measured"]["h2d"]


def one_case(body):
    del body["run"]["cases"][0]


def broken_case(body):
    body["run"]["cases"][1].update(complete=False, error="timed out")


def clock_behind(body):
    body["run"]["created"] = "2025-12-24T00:00:00Z"


@pytest.mark.parametrize(
    ("change", "check", "words"),
    [
        (inputs, "输入", "batch 4"),
        (manifest, "测试包清单", "不是本项目生成的测试包"),
        (frozen_plan, "测试包内容", "与清单不符"),
        (golden, "Golden 输出", "最大误差 0.3"),
        (workload, "工作负载与权重", "workload.py"),
        (weights, "工作负载与权重", "project/weights.bin"),
        (segment, "完整性", "h2d 未测且未说明"),
        (seed, "随机种子", "99 与 3"),
        (one_case, "完整性", "缺 batch=1 concurrency=1"),
        (broken_case, "完整性", "batch=4 concurrency=1 止于 100 个样本"),
        (clock_behind, "测量时间", "早于测试包"),
    ],
)
def test_each_thing_that_does_not_agree_lowers_the_grade_and_is_named(result, bring, change, check, words):
    done = bring(changed(result, change))
    assert done.grade is Grade.B
    failed = [each for each in done.checks if not each.passed]
    assert check in {each.name for each in failed} and words in next(e.detail for e in failed if e.name == check)
    assert any(words in doubt.zh for doubt in runs.load(done.path).doubts)


def samples(*values):
    return base64.b64encode(np.array(values, "<i8").tobytes()).decode()


def of_case(**changes):
    return lambda body: body["run"]["cases"][1].update(changes)


def of_samples(**changes):
    return lambda body: body["run"]["cases"][1]["samples"].update(changes)


def of_run(**changes):
    return lambda body: body["run"].update(changes)


def of_device(**changes):
    return lambda body: body["run"]["device"].update(changes)


def of_check(**changes):
    return lambda body: body["run"]["output_check"]["result"].update(changes)


def of_memory(**changes):
    return lambda body: body["run"]["cases"][1]["memory"].update(changes)


def twice(body):
    body["run"]["cases"].append(body["run"]["cases"][0])


ALIKE = samples(*[4_000_000] * 100)
ODD = (make_case(2, 2.0, n=100),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (of_samples(infer=samples(*range(100))), "zero or less"),
        (of_samples(infer=samples(*range(-50, 50))), "zero or less"),
        (of_samples(infer=samples(*[2**62] * 100)), "more than 30 days"),
        (of_samples(infer=samples(*range(1, 99))), "unequal numbers of samples (98, 100)"),
        (of_samples(infer="AAAA"), "damaged samples"),
        (of_samples(infer=[1, 2, 3]), "not a complete Run"),
        (lambda body: body["run"]["cases"][1].update(samples={"infer": ALIKE}), "to the nanosecond"),
        (of_case(warmup={"infer": samples(*range(1, 99))}), "more warm-up samples than 10"),
        (lambda body: body["run"]["protocol"].update(iterations=5000), "100 samples, the protocol has 5000"),
        (lambda body: body["run"]["protocol"].update(iterations=20), "100 samples, the protocol has 20"),
        (of_case(window_ns=1000), "the window is"),
        (of_case(window_ns=10**20), "a window of no length, or of more than 30 days"),
        (of_case(window_ns=1e300), "window_ns"),
        (of_case(window_ns=5e-324), "window_ns"),
        (of_case(window_ns="12000000"), "window_ns"),
        (of_case(window_ns=None), "a window of no length"),
        (of_case(items=10**9), "items out of"),
        (of_case(items=7), "7 items out of"),
        (of_case(streamed_items=8, streamed_ns=1), "8 streamed items, not 400"),
        (of_case(batch="4"), "batch"),
        (of_case(batch=7, items=700), "batch=7 concurrency=1: no case of the plan"),
        (of_case(precision="fp16"), "its precision is fp16"),
        (twice, "stands there 2 times"),
        (of_run(cases=[]), "it has no case"),
        (of_run(created="2999-01-01T00:00:00Z"), "in the future"),
        (of_run(created="2026-13-41T00:00:00Z"), "is no moment"),
        (of_run(id="../../etc/passwd"), "id"),
        (of_run(id="x" * 5000), "its id has 5000 characters"),
        (of_run(simulated=True), "simulated"),
        (of_run(scope="command"), "outside the process"),
        (of_run(plan_sha256="f" * 64), "another version of the plan"),
        (of_run(format="npueval/run/2"), "reads up to 1"),
        (of_run(environment=[]), "environment"),
        (of_run(unit="samples/h"), "unit: samples/h, the plan says samples/s"),
        (of_run(cards=8), "measured on 1 cards, the Run on 8"),
        (of_run(seed=3.0), "seed"),
        (of_run(floor_ns=1e300), "a floor of more than 30 days"),
        (of_run(device=None), "not a complete Run"),
        (of_device(name="cpu"), "its device is called cpu and is cuda, number 0"),
        (of_device(index=1), "called cuda:0 and is cuda, number 1"),
        (of_device(model="AMD EPYC 7763"), "AMD EPYC 7763 is no GPU"),
        (of_device(model="Ascend910B3"), "Ascend910B3 is no GPU"),
        (of_device(model="A100\n| 1 | 2 |"), "its model of the device has"),
        (of_device(model="x" * 3000), "its model of the device has 3000 characters"),
        (of_run(environment={"packages": ["torch"]}), "its packages are no table of versions"),
        (of_run(environment={"packages": {"torch": 2.13}}), "its packages are no table of versions"),
        (of_run(environment={"packages": {"torch": "2.13.0+cpu"}}), "torch 2.13.0+cpu cannot use cuda:0"),
        (of_run(cold_start={"load_ns": 2**62, "first_inference_ns": 1, "first_hits": {}}), "a cold start"),
        (of_check(value="0.98"), "its output check gives '0.98' for a figure"),
        (of_check(n="360"), "its output check looked at '360' outputs"),
        (of_check(n=-3), "its output check looked at -3 outputs"),
        (lambda body: body["run"]["protocol"].update(warmup=0), "warm-up: 0, the plan says 10"),
        (lambda body: body["run"]["protocol"].update(scope=["infer"]), "segments: ('infer',), the plan says"),
        (
            lambda body: body["run"]["protocol"].update(precision_mode="autocast"),
            "fp32/autocast, the plan says fp32/cast",
        ),
        (lambda body: body["run"]["workload"].update(ref="other.py:Model"), "workload: other.py:Model, the plan says"),
        (of_samples(network=ALIKE), "network: no segment of the plan"),
        (of_case(warmup={}), "warm-up of nothing, samples of preprocess, infer"),
        (of_case(samples=None), "not a complete Run"),
        (of_case(samples="AAAA"), "not a complete Run"),
        (of_case(memory=3), "not a complete Run"),
        (of_memory(allocated={"value": -1, "reason": NOTHING}), "memory of less than nothing"),
        (of_memory(device={"value": 1e300, "reason": NOTHING}), "memory of less than nothing, or of more than a PiB"),
        (of_case(events=samples(*[-5] * 100)), "zero or less"),
        (
            lambda body: body["run"]["device"].update(kind="npu", name="npu:0", model="Ascend910B3"),
            "measured on an NPU",
        ),
        (lambda body: body.update(golden=[]), "golden"),
        (lambda body: body.update(found=None), "found"),
        (lambda body: body.update(manifest=None), "manifest"),
        (lambda body: body["manifest"].update(format="npueval/kit-manifest/9"), "reads up to 1"),
        (lambda body: body["manifest"].update(seed="3"), "is not int"),
        (lambda body: body.update(run={"format": "npueval/run/1"}), "not a complete Run"),
        (lambda body: body.update(extra=1), "extra"),
    ],
)
def test_what_cannot_be_true_is_refused_and_nothing_is_kept(plan, result, bring, change, words):
    with pytest.raises(FormatError) as caught:
        bring(changed(result, change))
    assert words in str(caught.value) and caught.value.path.endswith("gpu_result.json")
    assert kept(plan) == []


def test_one_byte_of_a_sample_changed_without_the_digest_is_refused(result, bring):
    text = json.dumps(result)
    infer = result["run"]["cases"][0]["samples"]["infer"]
    with pytest.raises(FormatError, match="changed after the kit wrote it"):
        bring(text.replace(infer, infer.replace(infer[40], "A" if infer[40] != "A" else "B", 1)))


@pytest.mark.parametrize("content", ["result", "figures"])
def test_a_full_disk_is_one_line_and_leaves_nothing(plan, result, bring, monkeypatch, content):
    before = sorted(plan.runs.rglob("*"))

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    brought = result if content == "result" else [{"latencyMs": 4.0, "computeMs": 3.0}] * 100
    with pytest.raises(NpuevalError, match="cannot be kept: No space left on device") as caught:
        bring(brought)
    assert caught.value.path == str(plan.runs)
    assert [path for path in sorted(plan.runs.rglob("*")) if path.is_file()] == [p for p in before if p.is_file()]


def test_a_kit_of_other_batches_is_of_another_plan(plan, bring):
    other = replace(plan, batches=(1, 4, 8))
    with pytest.raises(FormatError, match="another version of the plan"):
        bring(result_of(other, run_of(other)))


def test_no_measurement_is_overwritten_by_another_of_its_name(plan, result, bring):
    mine = runs.save(
        run_of(plan, device=DeviceFacts("npu:0", "npu", 0, "910B"), id="20260201T000000Z-npu-0000"), plan.runs
    )
    before = mine.read_bytes()
    with pytest.raises(FormatError, match="another measurement is kept as"):
        bring(changed(result, of_run(id="20260201T000000Z-npu-0000")))
    assert mine.read_bytes() == before


def test_a_run_without_its_kit_is_grade_b_and_never_spoils_what_a_kit_brought(plan, result, bring):
    """Nothing says of which weights it was made; so does the comparison see it."""
    bare = bring(result["run"])
    assert bare.grade is Grade.B and runs.load(bare.path).environment["kit"]["grade"] == "B"
    assert bring(result).grade is Grade.A
    bring(result["run"])
    assert runs.load(bare.path).environment["kit"]["grade"] == "A"


def test_a_workload_whose_answer_was_no_number_is_kept_as_invalid(result, bring):
    def nonsense(body):
        body["run"]["output_check"]["result"]["value"] = "n/a"
        body["run"]["invalid"] = [{"zh": "没有数值", "en": "the workload's check gives no number for top1"}]

    done = bring(changed(result, nonsense))
    assert done.grade is Grade.B and [each.name for each in done.checks if not each.passed] == ["输出校验"]


def test_a_cpu_result_says_that_no_column_asked_for_it(plan, bring):
    run = run_of(plan, device=DeviceFacts("cpu", "cpu", None, "EPYC"))
    assert "does not ask for" in bring(result_of(plan, run)).notes[0]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[: len(text) // 2], "cut off or damaged"),
        (lambda text: text.replace('"seed": 3', '"seed": NaN', 1), "NaN is no number of JSON"),
        (lambda text: text.replace('"seed": 3', '"seed": Infinity', 1), "Infinity is no number"),
        (lambda text: text.replace('"seed": 3', '"seed": 3, "seed": 3', 1), "'seed' stands twice"),
        (lambda text: text.replace('"seed": 3', '"seed": 1e999', 1), "1e999 is no number"),
        (lambda text: text.replace('"seed": 3', '"seed": ' + "9" * 5000, 1), "is no number that can be kept"),
        (
            lambda text: text.replace('"command": {}', '"command": ' + '{"a":' * 100 + "1" + "}" * 100, 1),
            "nested deeper",
        ),
        (lambda text: "[" * 100_000, "nested deeper"),
        (lambda text: text.replace("kit-result/1", "kit-result/9"), "reads up to 1"),
        (lambda text: text.replace("kit-result/1", "kit-result/one"), "not a kit result"),
        (lambda text: text.replace("kit-result/1", "kit-result/0"), "not a kit result"),
        (lambda text: text.replace("kit-result/1", "kit-result/²"), "not a kit result"),
        (lambda text: text.replace("kit-result/1", "kit-result/" + "9" * 5000), "not a kit result"),
        (lambda text: text.replace("npueval/run/1", "npueval/run/²"), "changed after the kit wrote it"),
        (lambda text: text.replace("A100", "\\ud800"), "changed after the kit wrote it"),
        (lambda text: '{"format": "npueval/plan/1"}', "npueval/plan/1 is no result"),
    ],
)
def test_a_damaged_or_ambiguous_file_is_one_clear_error(plan, result, bring, spoil, words):
    with pytest.raises(FormatError) as caught:
        bring(spoil(json.dumps(result)))
    assert words in str(caught.value) and kept(plan) == []


def test_a_result_may_come_packed(plan, result, bring):
    packed = gzip.compress(json.dumps(result).encode())
    assert bring(packed).grade is Grade.A
    for spoiled, words in ((packed[:-9], "cut off"), (packed[:40] + b"x" + packed[41:], "damaged gzip")):
        with pytest.raises(FormatError, match=words):
            bring(spoiled)
    with pytest.raises(FormatError, match="larger than 128 MiB when unpacked"):
        bring(gzip.compress(bytes(129 << 20)))


def test_what_a_terminal_would_obey_is_kept_as_text(result, bring):
    done = bring(changed(result, lambda body: body["run"]["device"].update(model="NVIDIA \x1b[31mA100\ud800\x07")))
    assert done.grade is Grade.A and runs.load(done.path).device.model == "NVIDIA \ufffd[31mA100\ufffd\ufffd"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_the_encoding_of_a_file_does_not_matter(result, bring, encoding):
    assert bring(json.dumps(result).encode(encoding)).grade is Grade.A


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


@pytest.mark.parametrize("name", ["model.pt", "out.npy", "x.pkl", "x.npz", "gpu_result.json"])
def test_nothing_is_ever_unpickled(tmp_path, monkeypatch, plan, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="never unpickled"):
        ingest(written(tmp_path / name, pickle.dumps(Bomb())), plan)
    assert not (tmp_path / "exploded").exists()


def test_what_is_no_file_of_bearable_size_is_not_opened(tmp_path, plan):
    os.mkfifo(tmp_path / "pipe.json")
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(1 << 30)
    kit = written(tmp_path / "kit.pyz", b"#!/usr/bin/env python3\nPK\x03\x04 and so on")
    words = {
        "pipe.json": "no regular file",
        "huge.json": "larger than",
        "none.json": "no such file",
        ".": "is a folder",
    }
    for name, expected in words.items():
        with pytest.raises(FormatError, match=expected):
            ingest(tmp_path / name, plan)
    with pytest.raises(FormatError, match="is the kit itself"):
        ingest(kit, plan)


PLAN = """
format: npueval/plan/1
project: {name: small}
workload: workload.py:Model
device: npu
precision: fp32
batches: [1, 4]
target_batch: 4
seed: 3
unit: samples/s
segments: [preprocess, infer]
datasets: {short_test: null, smoke: null, golden: null, full: null, training: null, inference: null}
baseline: {logs: []}
documents: mig_docs
runs: runs
request: {performance: true, accuracy: false, agreed: true}
"""


class TestAsTheUserCallsIt:
    @pytest.fixture
    def plan(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write_workload(tmp_path, NUMPY)
        (tmp_path / "npueval.yaml").write_text(PLAN, encoding="utf-8")
        return plans.load("npueval.yaml")

    def take_in(self, content, name="gpu_result.json", *arguments):
        written(Path(name), content)
        return CliRunner().invoke(baseline, ["ingest", name, *arguments], catch_exceptions=False)

    def test_a_failed_check_is_a_finding(self, plan):
        done = self.take_in(changed(result_of(plan, run_of(plan)), inputs))
        assert done.exit_code == Exit.FINDINGS and "FAIL 输入" in done.stdout and "grade B: " in done.stdout

    def test_an_older_result_is_kept_and_the_newer_one_used(self, plan):
        newer = run_of(plan, id="20260301T000000Z-cuda-0001", created="2026-03-01T00:00:00Z")
        assert "the report uses" not in self.take_in(result_of(plan, newer)).stderr
        done = self.take_in(result_of(plan, run_of(plan)))
        assert done.exit_code == Exit.OK and f"the report uses {newer.id}, which is newer" in done.stderr

    def test_figures_do_not_stand_before_a_measurement(self, plan):
        self.take_in(result_of(plan, run_of(plan)))
        done = self.take_in(
            [{"latencyMs": 4.0 + i / 1e3, "computeMs": 3.0 + i / 1e3} for i in range(400)],
            "times.json",
            "--fact",
            "batch=4",
        )
        assert "the report uses 20260201T000000Z-cuda-0000, a measurement with all its samples" in done.stderr

    def test_figures_that_no_column_can_show_are_not_kept(self, plan):
        data = {"NPU_compute_time": {"mean": 13.6, "median": 13.5}, "throughput": 73.0}
        done = self.take_in(data, "summary.json")
        assert done.exit_code == Exit.FINDINGS and "not kept: figures of an NPU" in done.stderr
        assert not (plan.runs / "gpu_baseline.json").exists()


def test_the_manifest_is_known_by_its_content(result):
    manifest = KitManifest.from_data(result["manifest"])
    assert manifest.sha256 == result_digest(result) and sealed({"a": 1})["digest"] != manifest.sha256
