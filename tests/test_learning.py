"""Training steps, healthy and each with one thing wrong: the fault is named, the healthy twin has none."""

import math

import pytest
import torch
from torch import nn

from npueval.errors import WorkloadError
from npueval.learning import Fault, Gradients, Step, fault_of, faults, loss_of
from npueval.learning.stepwatch import Watch, round_trip, save_state


class Training:
    """A small network with BatchNorm and dropout that learns the sign of its first input."""

    def __init__(self, rate=0.01, factor=1.0):
        torch.manual_seed(3)
        self.model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate)
        self.factor = factor

    def loss(self):
        inputs = torch.randn(32, 6)
        return self.factor * nn.functional.cross_entropy(self.model(inputs), (inputs[:, 0] > 0).long())

    def step(self):
        loss = self.loss()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss, "model": self.model, "optimizer": self.optimizer}


def watched(training, steps=3):
    watch = Watch()
    for _ in range(steps):
        watch.take(training.step)
    return watch


def fault(training):
    found = faults(watched(training).steps)
    assert len(found) == 1, found
    return found[0].what, found[0].text.en


def test_a_healthy_training_has_no_fault():
    watch = watched(Training())
    assert faults(watch.steps) == ()
    first, second, _ = watch.steps
    assert (first.gradients, first.moved) == (None, None)
    assert (second.stepped, second.moved, second.strangers, second.rates) == (True, True, 0, (0.01,))
    assert second.gradients.received == 6
    assert second.gradients.missing == ()
    assert round_trip(watch) == ()


def test_gradients_are_seen_even_where_the_step_clears_them():
    class Clearing(Training):
        def step(self):
            returned = super().step()
            self.optimizer.zero_grad()
            return returned

    assert faults(watched(Clearing()).steps) == ()


def test_the_optimiser_that_never_steps():
    class Frozen(Training):
        def step(self):
            loss = self.loss()
            loss.backward()
            return {"loss": loss, "model": self.model, "optimizer": self.optimizer}

    assert fault(Frozen()) == ("optimiser", "the parameters do not move: optimizer.step() is not called")


def test_the_rate_of_zero_and_the_wrong_parameters():
    assert fault(Training(rate=0.0)) == ("optimiser", "the parameters do not move: the learning rate is 0")
    strange = Training()
    strange.optimizer = torch.optim.SGD(nn.Linear(6, 8).parameters(), lr=0.1)
    assert fault(strange)[1].endswith("the optimiser lacks 6 of the model's parameters")


def test_updates_too_small_to_change_anything():
    tiny = Training(rate=1e-30)
    for parameter in tiny.model.parameters():
        parameter.data += 1
    assert "updates below the precision" in fault(tiny)[1]


def test_the_loss_that_is_cut_off():
    class Detached(Training):
        def loss(self):
            return super().loss().detach()

    with pytest.raises(RuntimeError) as caught:
        watched(Detached())
    assert fault_of(caught.value).what == "gradients"
    assert fault_of(ValueError("something else")) is None

    class DetachedInside(Training):
        def loss(self):
            return super().loss().detach().requires_grad_()

    assert "cut off from the parameters" in faults(watched(DetachedInside()).steps)[0].text.en


def test_exploding_vanishing_and_missing_gradients():
    what, text = fault(Training(rate=1e-9, factor=1e6))
    assert what == "gradients"
    assert text.startswith("the gradients explode")
    found = faults(watched(Training(factor=0.0)).steps)
    assert [entry.what for entry in found] == ["loss", "gradients", "optimiser"]
    assert found[1].text.en == "all gradients are zero"
    unused = Training()
    unused.model.spare = nn.Linear(1, 1)
    unused.model.forward = lambda inputs: unused.model[:5](inputs)
    assert fault(unused) == ("gradients", "2 trainable parameters get no gradient: spare.bias, spare.weight")


def test_gradients_that_grow_a_hundredfold():
    def step(norm):
        return Step(1.0, Gradients(norm, 10.0, 4, ()), True, True, 0, (0.1,))

    assert faults([step(1.0), step(90.0)]) == ()
    assert "150 times" in faults([step(1.0), step(150.0)])[0].text.en
    assert faults([step(1.0), step(math.nan)])[0].text.en == "the gradients hold NaN or Inf"


def test_a_loss_that_is_not_finite():
    found = faults([Step(1.0), Step(math.nan), Step(math.inf)])
    assert found == (Fault("loss", found[0].text),)
    assert found[0].text.en == "the loss of step 1 is nan"


def test_a_bare_loss_shows_only_itself():
    training = Training()
    watch = Watch()
    watch.take(lambda: training.step()["loss"].item())
    watch.take(lambda: training.step()["loss"])
    assert [step.gradients for step in watch.steps] == [None, None]
    assert faults(watch.steps) == ()
    for wrong in (None, {"model": 1}, "1.5 apples", torch.ones(2)):
        with pytest.raises(WorkloadError, match="is no loss"):
            loss_of(wrong)


def save_parameters_only(model, path):
    torch.save(dict(model.named_parameters()), path)


def load_what_is_there(model, path):
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)


def test_the_checkpoint_that_forgets_the_batchnorm_buffers():
    watch = watched(Training())
    before = {name: value.clone() for name, value in watch.model.state_dict().items()}
    found = round_trip(watch, save_parameters_only, load_what_is_there)
    assert [entry.what for entry in found] == ["checkpoint"]
    assert "1.running_mean, 1.running_var" in found[0].text.en
    assert all(torch.equal(value, before[name]) for name, value in watch.model.state_dict().items())
    assert watch.model.training


def test_a_constant_buffer_need_not_be_saved():
    training = Training()
    training.model.register_buffer("table", torch.arange(4.0), persistent=False)
    assert round_trip(watched(training)) == ()


def test_a_state_that_comes_back_and_still_answers_differently():
    training = Training()
    watch = watched(training)

    def load_and_change(model, path):
        model.load_state_dict(torch.load(path, weights_only=True))
        model[2] = nn.Tanh()

    found = round_trip(watch, save_state, load_and_change)
    assert found[0].text.en == "the output differs after the checkpoint"
