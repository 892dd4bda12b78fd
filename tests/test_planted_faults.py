"""The digits project with one fault planted at a time: each is caught and named near enough to act on.

The healthy twin passes everywhere.
"""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from npueval import golden, training
from npueval.comparing import accuracy
from npueval.devices import open_device
from npueval.learning import fault_of, faults
from npueval.learning.stepwatch import Watch, round_trip
from npueval.pipeline import dataset
from npueval.plan import AccuracyTarget, load
from npueval.records import Value
from npueval.sessions import Setup, open_session
from npueval.tolerances import tolerance
from npueval.training import judge_short
from npueval.training.curves import of_values
from support.projects import write_workload

DIGITS = Path(__file__).parents[1] / "examples" / "digits"
CPU = open_device("cpu")
STEPS = 90

FAULTS = """
    import numpy as np
    import torch
    from data import MEAN, STD, normalise
    from torch import nn
    from workload import Digits

    class Healthy(Digits):
        pass

    class SwappedMeanStd(Digits):
        def preprocess(self, raw):
            return torch.from_numpy(((raw[:, None] / 16 - STD) / MEAN).astype(np.float32))

    class ReadAsNhwc(Digits):
        def preprocess(self, raw):
            return torch.from_numpy(normalise(raw.transpose(1, 2, 0).reshape(raw.shape)))

    class TwoHeads(Digits):
        def infer(self, images):
            logits = super().infer(images)
            return {"digit": logits.softmax(1), "rotated": logits.roll(1, 1).softmax(1)}
        def d2h(self, heads):
            return heads
        def postprocess(self, heads):
            return heads["digit"].argmax(1).numpy()

    class WrongHead(TwoHeads):
        def infer(self, images):
            heads = super().infer(images)
            return {"digit": heads["rotated"], "rotated": heads["digit"]}

    class MissingSoftmax(TwoHeads):
        def infer(self, images):
            return {**super().infer(images), "digit": Digits.infer(self, images)}

    class Overflowing(Digits):
        def infer(self, images):
            return super().infer(images) * 60000 / 60000

    class DropoutLeftOn(Digits):
        def load(self, device, precision):
            super().load(device, precision)
            self.net.classifier[1].train()

    class ShuffledLabels(Digits):
        def load(self, device, precision):
            super().load(device, precision)
            self.labels = np.random.RandomState(1).permutation(self.labels)
        def _start_training(self):
            super()._start_training()
            images, labels = zip(*[next(self.batches) for _ in range(45)])
            mixed = torch.cat(labels)[torch.randperm(sum(map(len, labels)))].split([len(part) for part in labels])
            self.batches = iter(list(zip(images, mixed)) * 3)

    class FrozenOptimiser(Digits):
        def _start_training(self):
            super()._start_training()
            self.optimizer = torch.optim.Adam(nn.Linear(8, 8).parameters(), lr=0.002)

    class DetachedLoss(Digits):
        def train_step(self, step):
            if step == 0:
                self._start_training()
            images, labels = next(self.batches)
            loss = nn.functional.cross_entropy(self.student(images).detach(), labels)
            loss.backward()
            return {"loss": loss.item(), "model": self.student, "optimizer": self.optimizer}

    class Exploding(Digits):
        def _start_training(self):
            super()._start_training()
            self.optimizer = torch.optim.SGD(self.student.parameters(), lr=1e4)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with its data and with weights trained for two epochs, and the faults beside them."""
    # The network is so small that more threads only wait for each other.
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("planted") / "digits"
    shutil.copytree(DIGITS, folder, ignore=shutil.ignore_patterns("runs", "mig_docs", "weights", "data", "__pycache__"))
    write_workload(folder, FAULTS, "faults.py")
    (folder / "weights").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        data, model = __import__("data"), __import__("model")
        data.prepare()
        torch.manual_seed(20)
        torch.save(model.DigitsNet().state_dict(), folder / "weights" / "digits.pt")
        workload = opened(folder, "Healthy").workload.instance
        for step in range(STEPS):
            workload.train_step(step)
        torch.save(workload.student.state_dict(), folder / "weights" / "digits.pt")
        yield folder
    for name in ("data", "model", "workload"):
        __import__("sys").modules.pop(name, None)


def planned(folder, name, **changes):
    plan = load(folder / "npueval.yaml")
    return type(plan)(**{**vars(plan), "workload": f"faults.py:{name}", "device": "cpu", **changes})


def opened(folder, name, precision="fp32"):
    return open_session(Setup.of(planned(folder, name), "cpu", precision), CPU)


def compared(folder, right, wrong, precision="fp32", limit=None):
    """The golden sets of two workloads held against each other, as those of two devices would be."""
    paths = [folder / f"{number}.npz" for number in range(2)]
    golden.make(planned(folder, right), device=CPU, path=paths[0], precision="fp32")
    golden.make(planned(folder, wrong), device=CPU, path=paths[1], precision=precision)
    return golden.compare_sets(*paths, limit)


# Logits of up to 20 in FP16: those near zero carry the rounding of the large ones, which the plan's atol allows for.
WIDER = tolerance("fp16", atol=2e-2)


@pytest.mark.parametrize(
    ("twin", "precision", "limit"),
    [("Healthy", "fp32", None), ("Healthy", "fp16", WIDER), ("TwoHeads", "fp32", None), ("TwoHeads", "fp16", None)],
)
def test_the_healthy_twin_gives_the_same_outputs(project, twin, precision, limit):
    found = compared(project, twin, twin, precision, limit)
    assert found.passed, golden.summary(found)


OUTPUT_FAULTS = {
    "SwappedMeanStd": ("Healthy", "fp32", "preprocessing", "preprocess", "look at mean and std"),
    "ReadAsNhwc": ("Healthy", "fp32", "layout", "preprocess", "one layout (NCHW, NHWC) taken for the other"),
    "WrongHead": ("TwoHeads", "fp32", "output head", "infer.digit", "heads are swapped"),
    "MissingSoftmax": ("TwoHeads", "fp32", "output head", "infer.digit", "softmax is missing"),
    "Overflowing": ("Overflowing", "fp16", "quantisation and operators", "infer", "overflows"),
}


@pytest.mark.parametrize("name", OUTPUT_FAULTS)
def test_a_fault_in_the_outputs(project, name):
    twin, precision, place, head, words = OUTPUT_FAULTS[name]
    found = compared(project, twin, name, precision)
    assert not found.passed
    assert any((s.place, s.head) == (place, head) and words in s.text.en for s in found.symptoms), found.symptoms


def test_dropout_left_on(project):
    found = compared(project, "Healthy", "DropoutLeftOn")
    assert not found.passed
    said = " ".join(text.en for text in found.invalid)
    assert "another result the second time" in said
    assert "net.classifier.1 (Dropout) runs in training mode" in said


def accuracy_of(folder, name):
    session = opened(folder, name)
    outputs = [session.walk(raw).output for raw in dataset(session.workload, None)]
    result = session.workload.call("check", outputs)
    target = AccuracyTarget("val_accuracy", "higher", minimum=0.9)
    return accuracy.judge(target, Value(result["value"], n=result["n"]), Value(0.95, n=360))


def test_shuffled_labels_in_the_evaluation(project):
    assert accuracy_of(project, "Healthy")[0] == "达标"
    verdict, reason = accuracy_of(project, "ShuffledLabels")
    assert verdict == "不达标"
    assert "检查标签是否与样本对应" in reason


def losses(folder, name, steps=STEPS):
    workload = opened(folder, name).workload.instance
    return of_values("loss", [workload.train_step(step)["loss"] for step in range(steps)])


def test_shuffled_labels_in_training(project):
    assert judge_short(losses(project, "Healthy")).passed
    found = judge_short(losses(project, "ShuffledLabels"))
    assert found.status == "failed"
    assert any("guessing among 10 classes: look at the labels" in note.en for note in found.notes), found.notes


def smoke(folder, name):
    """What a few watched steps show: the faults, and the watch."""
    watch, workload = Watch(), opened(folder, name).workload
    try:
        for step in range(4):
            watch.take(partial(workload.instance.train_step, step))
    except RuntimeError as error:
        return [fault_of(error)], watch
    return list(faults(watch.steps)), watch


TRAINING_FAULTS = {
    "FrozenOptimiser": ("optimiser", "the optimiser lacks"),
    "DetachedLoss": ("gradients", "cut off from the parameters"),
    "Exploding": ("gradients", "the gradients explode"),
}


@pytest.mark.parametrize("name", TRAINING_FAULTS)
def test_a_fault_in_the_training_step(project, name):
    what, words = TRAINING_FAULTS[name]
    found, _ = smoke(project, name)
    assert any(fault.what == what and words in fault.text.en for fault in found), found


def test_the_healthy_twin_trains_and_comes_back_from_its_checkpoint(project):
    found, watch = smoke(project, "Healthy")
    assert found == []
    assert round_trip(watch) == ()


def test_a_checkpoint_that_forgets_the_batchnorm_buffers(project):
    def save(model, path):
        torch.save(dict(model.named_parameters()), path)

    def restore(model, path):
        model.load_state_dict(torch.load(path, weights_only=True), strict=False)

    _, watch = smoke(project, "Healthy")
    (found,) = round_trip(watch, save, restore)
    assert found.what == "checkpoint"
    assert "features.1.running_mean" in found.text.en


def test_the_short_test_of_the_project_stops_by_itself(project):
    record, _ = training.short_test(planned(project, "Healthy"), device=CPU)
    assert record.verdict.passed
    assert len(record.losses) < STEPS
    assert isinstance(opened(project, "Healthy").workload.instance.net, nn.Module)
    assert np.isfinite(record.curve.values).all()
