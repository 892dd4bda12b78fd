"""The two commands as a user runs them: text, JSON, exit status, bad input."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from npueval.cli import cli
from npueval.errors import Exit, NpuevalError
from support.small_project import PLAN, write

LEARNER = """
    import numpy as np
    class Model:
        def load(self, device, precision): pass
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4).astype(np.float32)
        def infer(self, x): return x
        def train_step(self, step): return 2.3 * 0.98 ** step
"""


def npueval(*words):
    """The outcome of a command: exit status, stdout, and the error that a user would be shown."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    error = done.exception
    if isinstance(error, NpuevalError):
        return error.status, done.stdout, str(error)
    if error and not isinstance(error, SystemExit):
        raise error
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def arrays(tmp_path):
    ref = np.random.default_rng(1).normal(size=(8, 10)).astype(np.float32)
    off = ref.copy()
    off[2, 3] += 0.5
    np.savez(tmp_path / "ref.npz", logits=ref, boxes=ref[:4, :4])
    np.savez(tmp_path / "same.npz", logits=ref.astype(np.float16), boxes=ref[:4, :4].astype(np.float16))
    np.savez(tmp_path / "off.npz", logits=off)
    return tmp_path


def test_golden_tells_the_tolerance_the_figures_and_the_verdict(arrays):
    status, text, errors = npueval("golden", arrays / "ref.npz", arrays / "same.npz")
    assert status == Exit.OK
    assert text.startswith("passed: rtol 0.01, atol 0.001 (FP16)")
    assert "logits  8x10 float32" in text
    assert "tolerances of FP16, after the arrays' type" in errors
    assert npueval("golden", arrays / "ref.npz", arrays / "same.npz", "--precision", "fp16")[2] == ""


def test_golden_names_the_worst_element_and_where_to_look(arrays):
    status, text, _ = npueval("golden", arrays / "ref.npz", arrays / "off.npz", "--precision", "fp32")
    assert status == Exit.FINDINGS
    assert "FAILED: rtol 0.0001, atol 1e-05 (FP32)" in text
    assert "at [2, 3]: reference" in text
    assert "boxes: the hypothesis has no such head" in text
    assert "look first at:\n  output head (boxes): the hypothesis lacks this head" in text
    assert "\n  quantisation and operators (logits): same direction" in text
    status, text, _ = npueval("golden", arrays / "ref.npz", arrays / "off.npz", "--precision", "fp32", "--json")
    answer = json.loads(text)
    assert (status, answer["data"]["passed"], answer["data"]["heads"][0]["difference"]["outside"]) == (1, False, 1)
    assert answer["data"]["heads"][0]["difference"]["worst"][0]["index"] == [2, 3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ref.npz", "same.npz", "--precision", "fp16", "--atol", "1e-5"], "FP32-grade"),
        (["ref.npz", "same.npz", "--precision", "int8"], "no default tolerance"),
        (["ref.npz", "absent.npz"], "No such file"),
        (["ref.npz"], "HYP is missing"),
        (["absent.yaml"], "no such plan"),
        (["absent.yaml", "--atol", "1", "--equal-nan"], "--atol, --equal-nan means nothing for a PLAN"),
        (["ref.npz", "same.npz", "--device", "npu"], "--device means nothing for two files"),
        (["ref.npz", "same.npz", "--class-axis", "7"], "no output has an axis 7 of classes: the most is 2 dimensions"),
    ],
)
def test_golden_refuses_what_makes_no_sense(arrays, monkeypatch, words, said):
    monkeypatch.chdir(arrays)
    status, text, error = npueval("golden", *words)
    assert (status, text) == (Exit.BAD_INPUT, "")
    assert said in error


def test_one_half_precision_head_does_not_loosen_the_others(tmp_path):
    exact = np.linspace(1, 2, 12, dtype=np.float32)
    np.savez(tmp_path / "ref.npz", x=exact, y=exact.astype(np.float16))
    np.savez(tmp_path / "hyp.npz", x=exact + np.float32(0.009), y=exact.astype(np.float16))
    status, out, _ = npueval("golden", tmp_path / "ref.npz", tmp_path / "hyp.npz")
    assert status == Exit.FINDINGS
    assert "(FP32)" in out


@pytest.mark.parametrize(("factor", "status"), [(-1.0, Exit.FINDINGS), (0.0, Exit.FINDINGS), (1.0, Exit.OK)])
def test_a_tolerance_as_large_as_the_outputs_proves_nothing(tmp_path, factor, status):
    tiny = np.random.default_rng(2).normal(size=(16, 4)).astype(np.float32) * np.float32(1e-7)
    np.save(tmp_path / "ref.npy", tiny)
    np.save(tmp_path / "hyp.npy", tiny * np.float32(factor))
    found, out, _ = npueval("golden", tmp_path / "ref.npy", tmp_path / "hyp.npy")
    assert found == status
    assert ("as large as the outputs" in out) == (status != Exit.OK)


def test_golden_of_a_plan(tmp_path):
    plan = PLAN.replace("precision: fp32", "precision: fp16").replace("device: npu", "device: cpu")
    path = write(tmp_path, plan=plan)
    status, text, _ = npueval("golden", path)
    assert status == Exit.OK
    assert "cpu-fp32.npz" in text
    both = tmp_path / "runs" / "golden"
    status, again, errors = npueval("golden", both / "cpu-fp32.npz", both / "cpu-fp16.npz")
    assert (status, errors) == (Exit.OK, "")
    assert text.endswith(again)


def log(path, losses):
    lines = [f"epoch 1/1 step {step}/{len(losses)} loss {loss:.4f}" for step, loss in enumerate(losses, 1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_train_judges_a_log_and_draws_it(tmp_path):
    losses = [2.3 * 0.99**step for step in range(60)]
    for picture in ("curve.svg", "curve.png"):
        status, text, _ = npueval("train", log(tmp_path / "t.log", losses), "--plot", tmp_path / picture)
        assert status == Exit.OK
        assert text.startswith("passed: the loss fell from 2.2")
        assert f"wrote {tmp_path / picture}" in text
        first = (tmp_path / picture).read_bytes()
        npueval("train", tmp_path / "t.log", "--plot", tmp_path / picture)
        assert (tmp_path / picture).read_bytes() == first
    assert npueval("train", tmp_path / "t.log", "--band", "0.6", "0.8")[0] == Exit.FINDINGS


def test_train_judges_formal_training(tmp_path):
    flat = log(tmp_path / "flat.log", [1.7 + 0.01 * (step % 7) for step in range(600)])
    status, text, _ = npueval("train", flat, "--formal")
    assert status == Exit.FINDINGS
    assert text.startswith("stop: loss improved by")
    assert "check, in this order:\n  1. do labels belong" in text
    assert npueval("train", flat, "--formal", "--limit", "2000")[0] == Exit.OK
    data = json.loads(npueval("train", flat, "--formal", "--json")[1])["data"]
    assert (data["verdict"]["status"], data["curve"]["steps"]) == ("stop", 600)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["t.log", "--metric", "mAP"], "no series called 'mAP'"),
        (["t.log", "--band", "0.5", "0.3"], "the smaller first"),
        (["t.log", "--plot", "curve.gif"], "drawn as .png or .svg"),
        (["empty.log"], "no training log"),
        (["absent.log"], "absent.log"),
        (["plan.yaml", "--formal"], "--formal means nothing for a PLAN"),
        (["train.log", "--device", "npu", "--force"], "--device, --force means nothing for a LOG"),
        (["train.log", "--limit", "9"], "--limit means nothing for a short test"),
        (["train.log", "--formal", "--band", "0.3", "0.5"], "--band means nothing for --formal"),
    ],
)
def test_train_refuses_what_makes_no_sense(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    log(tmp_path / "t.log", [2.3] * 30)
    (tmp_path / "empty.log").write_text("", encoding="utf-8")
    status, text, error = npueval("train", *words)
    assert (status, text) == (Exit.BAD_INPUT, "")
    assert said in error


def test_train_live_stops_and_is_not_repeated(tmp_path):
    plan = PLAN.replace("device: npu", "device: cpu") + "training: {steps: 80}\n"
    path = write(tmp_path, plan=plan, workload=LEARNER)
    status, text, errors = npueval("train", path)
    assert status == Exit.OK
    assert text.startswith("passed: the loss fell from 2.2")
    assert "short test, step 0: loss 2.3" in errors
    status, text, error = npueval("train", path)
    assert (status, text) == (Exit.NOT_EXECUTED, "")
    assert "passed on" in error
    assert npueval("train", path, "--force")[0] == Exit.OK
