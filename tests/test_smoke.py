"""A smoke test sees what is dead, undefined or stuck, and says so in both languages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from npueval import smoke
from npueval.devices import open_device
from npueval.errors import FormatError, MeasurementError, WorkloadError
from support.projects import NUMPY, TORCH, make_plan

TRAINS = (
    TORCH
    + """
        def train_step(self, step):
            if step == 0:
                torch.manual_seed(1)
                self.student = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).to("DEVICE")
                self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)
            loss = self.student(torch.rand(8, 4).to("DEVICE")).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return {"loss": loss.item(), "model": self.student, "optimizer": self.optimizer}
"""
)


def smoked(folder, source, device="cpu", **changes):
    plan = make_plan(folder, source.replace("DEVICE", device), device=device, **changes)
    return smoke.run(plan, device=open_device(device))


def named(checks):
    return {check.name: check.passed for check in checks}


def test_a_healthy_workload_passes(tmp_path):
    pytest.importorskip("torch")
    found = smoked(tmp_path, TRAINS)
    assert named(found.inference) == {"runs": True, "shapes": True, "finite": True, "range": True}
    assert named(found.training) == {
        "runs": True,
        "loss": True,
        "gradients": True,
        "optimiser": True,
        "checkpoint": True,
    }
    assert (found.inference_passed, found.training_passed) == (True, True)
    assert len(found.losses) == 4
    assert not found.simulated


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("None", "infer returns no output at all (NoneType)"),
        ("(row for row in x)", "infer returns a generator: nothing of it is done when it returns"),
    ],
)
def test_what_delivers_nothing_has_not_run(tmp_path, output, said):
    found = smoked(tmp_path, NUMPY.replace("return x @ self.weights", f"return {output}"))
    assert found.inference_passed is False
    assert found.inference[0].detail.en.startswith(said)


def test_outputs_that_are_no_numbers_cannot_be_judged_finite(tmp_path):
    words = NUMPY.replace("return x @ self.weights", "return [str(row) for row in x]")
    assert named(smoked(tmp_path, words).inference) == {"runs": True, "shapes": True, "finite": None, "range": None}
    dead = smoked(tmp_path, words.replace("str(row)", "'same'"))
    assert named(dead.inference)["range"] is False


ON_CARD = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support import simulated
simulated.install()
import test_smoke
from npueval import smoke
print(json.dumps(smoke.to_data(test_smoke.smoked(Path(sys.argv[2]), test_smoke.TRAINS, "npu"))))
"""


def test_the_simulated_card_trains_too(tmp_path):
    """In a process of its own: torch's engine counts the devices once, at the first backward."""
    pytest.importorskip("torch")
    command = [sys.executable, "-c", ON_CARD, str(Path(__file__).parent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = smoke.from_data(json.loads(done.stdout.splitlines()[-1]))
    assert (found.inference_passed, found.training_passed) == (True, True)
    assert found.simulated


def test_a_workload_that_cannot_train_is_not_a_failure(tmp_path):
    found = smoked(tmp_path, NUMPY)
    assert found.inference_passed is True
    assert found.training_passed is None
    assert found.training[0].detail.zh == "workload 没有 train_step"


@pytest.mark.parametrize(
    ("output", "check", "detail"),
    [
        ("return x * np.nan", "finite", "NaN"),
        ("return x * 0", "range", "different inputs give the same output"),
        ("self.n = getattr(self, 'n', 0) + 1; return x[: self.n % 2]", "shapes", "changes with the input"),
        ("raise OSError('no kernel')", "runs", "no kernel"),
        ("raise SystemExit(2)", "runs", "called sys.exit(2)"),
    ],
)
def test_what_is_wrong_with_an_output(tmp_path, output, check, detail):
    source = NUMPY.replace("return x @ self.weights", output)
    found = smoked(tmp_path, source, batches=(1,), target_batch=1)
    wrong = [each for each in found.inference if each.passed is False]
    assert wrong[0].name == check
    assert detail in wrong[0].detail.en
    assert found.inference_passed is False


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (("loss.backward()", "loss.backward(); loss = loss * float('nan')"), "loss"),
        (("loss.backward()", "pass"), "gradients"),
        (("self.optimizer.step()", "pass"), "optimiser"),
        (("loss = self", "loss = 1 / 0 * self"), "runs"),
    ],
)
def test_what_is_wrong_with_a_training_step(tmp_path, change, check):
    pytest.importorskip("torch")
    found = smoked(tmp_path, TRAINS.replace(*change))
    assert check in [each.name for each in found.training if each.passed is False]
    assert found.training_passed is False


def test_a_bare_loss_shows_only_itself(tmp_path):
    found = smoked(tmp_path, NUMPY + "        def train_step(self, step): return 1.0 / (1 + step)\n")
    assert named(found.training) == {
        "runs": True,
        "loss": True,
        "gradients": None,
        "optimiser": None,
        "checkpoint": None,
    }
    assert found.training_passed is True


def test_a_result_reads_back(tmp_path):
    found = smoked(tmp_path, NUMPY)
    path = smoke.save(found, tmp_path / "runs")
    assert path.name == "smoke-cpu.json"
    assert smoke.load(path) == found


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "npueval/smoke/9"}', '{"format": "npueval/smoke/1"}'])
def test_what_is_no_result_is_refused(tmp_path, content):
    path = tmp_path / "smoke.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError):
        smoke.load(path)


def test_in_its_own_process(tmp_path):
    plan = make_plan(tmp_path, NUMPY)
    assert json.dumps(smoke.to_data(smoke.run(plan)))
    hangs = make_plan(
        tmp_path, NUMPY.replace("return x @", "import time; time.sleep(60); return x @"), case_timeout_s=1.0
    )
    with pytest.raises(MeasurementError, match=r"hangs: .* in infer \(workload.py:6\)"):
        smoke.run(hangs)
    broken = make_plan(tmp_path, NUMPY.replace("self.weights =", "raise OSError('no weights'); self.weights ="))
    with pytest.raises(WorkloadError, match="no weights"):
        smoke.run(broken)
