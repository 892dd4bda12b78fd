"""Take training steps and see what they do to the model; save it, load it back, and see what was lost.

torch is reached through the model and the optimiser that a step hands over; nothing here imports it at module level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from npueval.arrays import named
from npueval.language import Text
from npueval.learning import Fault, Gradients, Step, loss_of

_Fingerprint = tuple[float, float]


class Watch:
    """Takes training steps and looks on. ``model`` and ``optimizer`` are the step's own, once it has shown them."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.model: Any = None
        self.optimizer: Any = None
        self._first: dict[str, _Fingerprint] = {}
        self._gradients: Gradients | None = None
        self._stepped = False
        self._call: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def take(self, train_step: Callable[[], Any]) -> Step:
        """Run one step and look at it; what it raises goes through."""
        self._gradients, self._stepped = None, False
        before = _fingerprints(self.model)
        returned = train_step()
        step = self._seen(loss_of(returned), before) if self.model is not None else Step(loss_of(returned))
        if self.model is None and isinstance(returned, Mapping):
            self._meet(returned.get("model"), returned.get("optimizer"))
        self.steps.append(step)
        return step

    def _meet(self, model: Any, optimizer: Any) -> None:
        if model is None:
            return
        self.model, self.optimizer = model, optimizer
        self._first = _fingerprints(model)
        model.register_forward_pre_hook(self._called, with_kwargs=True)
        if hasattr(optimizer, "register_step_pre_hook"):
            optimizer.register_step_pre_hook(self._about_to_step)

    def _called(self, _model: Any, arguments: tuple[Any, ...], named_ones: dict[str, Any]) -> None:
        self._call = arguments, named_ones

    def _about_to_step(self, *_arguments: Any) -> None:
        # Here a gradient scaler has unscaled the gradients, and zero_grad has not yet taken them away.
        self._stepped = True
        self._gradients = gradients_of(self.model)

    def _seen(self, loss: float, before: Mapping[str, _Fingerprint]) -> Step:
        after = _fingerprints(self.model)
        groups = self.optimizer.param_groups if self.optimizer is not None else []
        held = {id(parameter) for group in groups for parameter in group["params"]}
        trainable = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        return Step(
            loss,
            gradients=self._gradients or gradients_of(self.model),
            stepped=self._stepped if hasattr(self.optimizer, "register_step_pre_hook") else None,
            moved=any(after[name] != before[name] for name, _ in self.model.named_parameters()),
            strangers=sum(id(parameter) not in held for parameter in trainable) if groups else None,
            rates=tuple(float(group["lr"]) for group in groups if "lr" in group),
        )

    def state(self) -> dict[str, Any]:
        """What training changes: the parameters, and the buffers that have moved since the first step."""
        now = _fingerprints(self.model)
        moved = {name: buffer for name, buffer in self.model.named_buffers() if now[name] != self._first[name]}
        return {**dict(self.model.named_parameters()), **moved}

    def outputs(self) -> dict[str, Any] | None:
        """What the model, in evaluation mode, makes of the last batch it was trained on."""
        if self._call is None:
            return None
        import torch

        training = self.model.training
        self.model.eval()
        with torch.no_grad():
            output = self.model(*self._call[0], **self._call[1])
        self.model.train(training)
        return {name: array.read() for name, array in named(output, "output").items()}


def save_state(model: Any, path: Path) -> None:
    """The usual checkpoint: the state dict of the model."""
    import torch

    torch.save(model.state_dict(), path)


def load_state(model: Any, path: Path) -> None:
    """The way back of :func:`save_state`."""
    import torch

    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))


def round_trip(
    watch: Watch,
    save: Callable[[Any, Path], None] = save_state,
    load: Callable[[Any, Path], None] = load_state,
) -> tuple[Fault, ...]:
    """Save the watched model, wipe what training has changed in it, load it back, and say what did not return.

    The model is left as it was found.
    """
    import torch

    state, before = watch.state(), watch.outputs()
    kept = {name: tensor.detach().clone() for name, tensor in state.items()}
    with TemporaryDirectory() as folder, torch.no_grad():
        path = Path(folder) / "checkpoint.pt"
        save(watch.model, path)
        for tensor in state.values():
            tensor.zero_()
        load(watch.model, path)
        lost = [name for name, tensor in state.items() if not torch.equal(tensor, kept[name])]
        after = watch.outputs()
        for name, tensor in state.items():
            tensor.copy_(kept[name])
    if lost:
        text = Text(
            "checkpoint 存取后丢失 {n} 项训练中变化的状态：{names}（running_mean/var 即 BatchNorm 的统计量）",
            "{n} items that training changes do not come back from the checkpoint: {names} "
            "(running_mean and running_var are BatchNorm's)",
        )
        return (Fault("checkpoint", text.filled({"n": len(lost), "names": ", ".join(lost[:6])})),)
    if before is not None and after is not None and not _equal(before, after):
        return (Fault("checkpoint", Text("checkpoint 存取后输出不同", "the output differs after the checkpoint")),)
    return ()


def _equal(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return all(np.array_equal(after[name], value, equal_nan=value.dtype.kind in "fc") for name, value in before.items())


def gradients_of(model: Any) -> Gradients:
    """The gradients that a torch module holds at this moment."""
    squares, weights, received, missing = 0.0, 0.0, 0, []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        weights += _square(parameter)
        if parameter.grad is None:
            missing.append(name)
        else:
            received += 1
            squares += _square(parameter.grad)
    return Gradients(math.sqrt(squares), math.sqrt(weights), received, tuple(missing))


def _square(tensor: Any) -> float:
    return float(tensor.detach().float().norm()) ** 2


def _fingerprints(model: Any) -> dict[str, _Fingerprint]:
    """Two numbers for each parameter and buffer that change when it does (in float32: not every NPU has float64)."""
    if model is None:
        return {}
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    floats = {name: tensor.detach().float() for name, tensor in tensors.items()}
    return {name: (float(tensor.sum()), float(tensor.norm())) for name, tensor in floats.items()}
