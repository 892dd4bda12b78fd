"""Golden sets: the same work gives the same bytes, what was changed is noticed, a shaky model proves nothing."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from npueval import golden, patching, starting
from npueval.contracts import violations
from npueval.devices import open_device
from npueval.errors import FormatError, NotExecuted, WorkloadError
from npueval.golden.setfile import MANIFEST
from npueval.plan import Tolerances
from npueval.resources import schema
from npueval.tolerances import tolerance
from support.projects import make_plan

STAGED = """
    import numpy as np
    class Model:
        error = 0.0
        def load(self, device, precision): self.error = 1e-4 if precision == "fp16" else 0.0
        def inputs(self, batch, seed): return {"image": np.random.RandomState(seed).rand(batch, 4), "name": "a text"}
        def preprocess(self, raw): return raw["image"].astype(np.float32) / 2
        def infer(self, x): return [x @ np.eye(4, 3, dtype=np.float32) + self.error, (x.sum(1), x > 0.25)]
        def postprocess(self, y): return y[0].argmax(1)
"""
SHAKY = """
    import numpy as np
    class Model:
        def load(self, device, precision): pass
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4)
        def infer(self, x): return x * (np.random.rand(*x.shape) > 0.3)
"""
CPU = open_device("cpu")


@pytest.fixture
def staged(tmp_path):
    plan = make_plan(tmp_path, STAGED, precisions=("fp16",), device="npu")
    return plan, golden.make(plan, device=CPU, precision="fp32")


def test_every_stage_is_kept_under_its_name(staged):
    plan, path = staged
    assert path == plan.runs / "golden" / "cpu-fp32.npz"
    made = golden.read_manifest(path)
    assert list(made.members) == [
        "inputs.image", "preprocess", "infer.0", "infer.1.0", "infer.1.1", "postprocess",
    ]  # fmt: skip
    assert made.left_out == ("inputs.name",)
    assert (made.device_kind, made.precision, made.seed, made.batch, made.doubts) == ("cpu", "fp32", 3, 4, ())
    with np.load(path) as archive:
        assert archive["preprocess"].dtype == np.float32
        manifest = json.loads(archive[MANIFEST])
    assert violations(manifest, schema("golden")) == []


def test_the_same_work_gives_the_same_bytes_in_any_process(staged):
    plan, path = staged
    first = path.read_bytes()
    assert golden.make(plan, device="cpu", precision="fp32") == path
    assert path.read_bytes() == first
    assert golden.changed_members(path) == ()


def test_the_device_is_held_against_the_cpu_in_single_precision(tmp_path, npu):
    plan = make_plan(tmp_path, STAGED, precisions=("fp16",), device="npu")
    checked = golden.check(plan, device=open_device("npu"))
    assert checked.golden.passed
    assert (checked.made.simulated, checked.made.precision) == (True, "fp16")
    assert checked.golden.notes[-1].en == "no arrays, not compared: inputs.name"
    strict = golden.compare_sets(checked.reference, checked.hypothesis, tolerance("fp32"))
    assert [head.name for head in strict.failed] == ["infer.0"]
    assert strict.symptoms[0].text.en == "preprocessing agrees, the model's output does not"
    own = replace(plan, tolerances=Tolerances(atol=2e-5, rtol=2e-4))
    assert not golden.check(own, device=open_device("npu")).golden.passed


def test_the_cpu_is_not_held_against_itself(tmp_path):
    with pytest.raises(NotExecuted, match="the CPU in FP32 itself"):
        golden.check(make_plan(tmp_path, STAGED))
    with pytest.raises(NotExecuted, match="npu"):
        golden.check(make_plan(tmp_path, STAGED, device="npu", precisions=("fp16",)))


def test_a_model_that_answers_otherwise_each_time_proves_nothing(tmp_path):
    path = golden.make(make_plan(tmp_path, SHAKY), device=CPU)
    found = golden.compare_sets(path, path)
    assert found.failed == ()
    assert not found.passed
    assert "gave another result the second time" in found.invalid[0].en
    assert found.invalid[0].en.startswith("reference: ")


def altered(path, change):
    """The set with its members changed by ``change(name, bytes)``."""
    made = path.with_name("altered.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return made


def test_one_changed_byte_is_noticed(staged):
    _, path = staged
    changed = altered(path, lambda name, data: data[:-1] + b"\x01" if name == "infer.0.npy" else data)
    assert golden.changed_members(changed) == ("infer.0",)
    found = golden.compare_sets(path, changed)
    assert not found.passed
    assert found.invalid[0].en == "hypothesis: changed after it was made: infer.0"
    gone = altered(path, lambda name, data: None if name == "infer.1.1.npy" else data)
    assert golden.changed_members(gone) == ("infer.1.1",)


def test_sets_of_other_inputs_or_models_do_not_pass(staged, tmp_path):
    plan, path = staged
    other = golden.make(replace(plan, seed=4), device=CPU, precision="fp32", path=tmp_path / "other.npz")
    found = golden.compare_sets(path, other)
    assert any("the inputs differ" in text.en for text in found.invalid)
    assert found.symptoms[0].place == "inputs"
    (tmp_path / "workload.py").write_text(
        (tmp_path / "workload.py").read_text(encoding="utf-8") + "# changed\n", "utf-8"
    )
    later = golden.make(plan, device=CPU, precision="fp32", path=tmp_path / "later.npz")
    again = golden.compare_sets(path, later)
    assert again.passed
    assert any("different workload files" in note.en for note in again.notes)


def test_a_model_whose_outputs_are_no_arrays_has_not_been_compared(tmp_path):
    words = STAGED.replace("return [x @", "return str(x); [x @").replace("return y[0].argmax(1)", "return y")
    made = golden.make(make_plan(tmp_path, words, device="npu"), device=CPU)
    found = golden.compare_sets(made, made)
    assert all(head.passed for head in found.heads)
    assert not found.passed
    assert [text.en for text in found.invalid] == ["the model's outputs hold no array: none of them was compared"]


def test_what_is_no_golden_set_or_a_newer_one(staged, tmp_path):
    _, path = staged
    np.savez(tmp_path / "plain.npz", a=np.zeros(3))
    assert golden.is_golden_set(path)
    assert not golden.is_golden_set(tmp_path / "plain.npz")
    assert not golden.is_golden_set(tmp_path / "absent.npz")

    def newer(name, data):
        return data.replace(b"golden-set/1", b"golden-set/9") if name == MANIFEST else data

    for broken, words in (
        (altered(path, newer), "format 9, this release reads up to 1"),
        (tmp_path / "plain.npz", "not a golden set"),
    ):
        with pytest.raises(FormatError, match=words):
            golden.read_manifest(broken)
    with pytest.raises(FormatError, match="not a Manifest"):
        golden.read_manifest(
            altered(path, lambda name, data: b'{"format": "npueval/golden-set/1"}' if name == MANIFEST else data)
        )


def test_a_workload_that_raises_is_blamed_also_from_the_child(tmp_path):
    plan = make_plan(tmp_path, STAGED.replace("return raw[", "return raw.no["))
    for device in (CPU, "cpu"):
        with pytest.raises(WorkloadError, match="preprocess raised AttributeError") as caught:
            golden.make(plan, device=device)
        assert caught.value.line == 6
    assert not (plan.runs / "golden" / "cpu-fp32.npz").exists()


def test_a_comparison_lands_in_the_documents_only_from_a_real_npu(staged, tmp_path):
    plan, path = staged
    found = golden.compare_sets(path, golden.make(plan, device=CPU), tolerance("fp16", atol=5e-3))
    assert golden.edits(found, device="cpu") == []
    assert golden.edits(found, device="npu:0", simulated=True) == []
    folder = tmp_path / "mig_docs"
    starting.start(tmp_path)
    edits = golden.edits(found, device="npu:0", sample="seed 3", source="run-1")
    result = patching.patch(folder, edits)
    assert result.refusals == ()
    assert not patching.patch(folder, edits).changed
    compare = (folder / "working" / "Compare.md").read_text(encoding="utf-8")
    assert "| FP16（默认） | 1e-2 | 1e-3 | 本次采用：rtol=0.01，atol=0.005（由计划指定） |" in compare
    rows = [line for line in compare.splitlines() if line.startswith("| seed 3")]
    assert [row.split("|")[1].strip() for row in rows] == [f"seed 3 {head.name}" for head in found.heads]
    assert "4×3 float32，均值" in rows[2]
    assert "在容差内" in rows[2]


def test_the_verdict_in_one_sentence(staged):
    plan, path = staged
    assert golden.summary(golden.compare_sets(path, path)).startswith("通过：6 个输出")
    failed = golden.compare_sets(path, golden.make(plan, device=CPU), tolerance("fp32"))
    text = golden.summary(failed)
    assert text.startswith("不通过：")
    assert "infer.0：12/12 个元素" in text
    assert "先查输出头的对接" in text
