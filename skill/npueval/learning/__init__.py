"""What a training step shows: the loss, the gradients, whether the parameters moved; and what is wrong with that.

The judgement of a training smoke; :mod:`npueval.learning.stepwatch` takes the steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from npueval.errors import WorkloadError
from npueval.language import Text

EXPLODING_RATIO = 100.0
EXPLODING_NORM = 1e3
EXPLODING_GROWTH = 100.0
"""Gradients explode when their norm is over a thousand and a hundred times that of the parameters, or when it has grown
a hundredfold within the few steps of a smoke test."""

What = Literal["loss", "gradients", "optimiser", "checkpoint"]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a training step; ``what`` says with which part of it."""

    what: What
    text: Text


@dataclass(frozen=True)
class Gradients:
    """What the optimiser was given: the norm of all gradients, and that of the parameters beside it.

    ``missing`` names the trainable parameters that got none.
    """

    norm: float
    parameters: float
    received: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One training step. All but the loss is ``None`` where it could not be seen.

    The first step hands the model over only when it is done, and one that returns a bare loss never does.
    ``stepped``: the optimiser's ``step`` was called; ``moved``: some parameter changed; ``strangers``: how many
    trainable parameters the optimiser does not hold; ``rates`` are its learning rates.
    """

    loss: float
    gradients: Gradients | None = None
    stepped: bool | None = None
    moved: bool | None = None
    strangers: int | None = None
    rates: tuple[float, ...] = ()


def loss_of(returned: Any) -> float:
    """The loss that ``train_step`` returned: a number, a tensor of one element, or a mapping with ``loss``."""
    value: Any = returned.get("loss") if isinstance(returned, Mapping) else returned
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError):
        kind = type(value).__name__
        raise WorkloadError(
            f"train_step returned {kind}, which is no loss", hint='return a number or {"loss", "model", "optimizer"}'
        ) from None


def faults(steps: Sequence[Step]) -> tuple[Fault, ...]:
    """Everything that is wrong with a few training steps; empty for a healthy training."""
    return (*_of_loss(steps), *_of_gradients(steps), *_of_optimiser(steps))


def fault_of(error: BaseException) -> Fault | None:
    """The fault that an exception out of a training step stands for, where it is a known one."""
    if "does not require grad" not in str(error):
        return None
    return Fault("gradients", _DETACHED)


_DETACHED = Text(
    "loss 与参数之间没有计算图：检查 detach、item、numpy、no_grad 以及被冻结的参数",
    "the loss is cut off from the parameters: look for detach, item, numpy, no_grad and frozen parameters",
)


def _of_loss(steps: Sequence[Step]) -> Iterator[Fault]:
    bad = next((number for number, step in enumerate(steps) if not math.isfinite(step.loss)), None)
    if bad is not None:
        text = Text("第 {step} 步的 loss 为 {loss}", "the loss of step {step} is {loss}")
        yield Fault("loss", text.filled({"step": bad, "loss": steps[bad].loss}))
    elif steps and all(step.loss == 0 for step in steps):
        yield Fault("loss", Text("loss 恒为 0.0，训练已失效", "the loss is exactly 0.0: the training is broken"))


def _of_gradients(steps: Sequence[Step]) -> Iterator[Fault]:
    seen = [step.gradients for step in steps if step.gradients]
    if not seen:
        return
    norms = [gradients.norm for gradients in seen]
    if not any(gradients.received for gradients in seen):
        yield Fault("gradients", _DETACHED)
    elif not all(map(math.isfinite, norms)):
        yield Fault("gradients", Text("梯度含 NaN/Inf", "the gradients hold NaN or Inf"))
    elif not any(norms):
        yield Fault("gradients", Text("梯度全为零", "all gradients are zero"))
    else:
        yield from _exploding(seen)
        yield from _partly_missing(seen)


def _exploding(seen: Sequence[Gradients]) -> Iterator[Fault]:
    largest = max(seen, key=lambda gradients: gradients.norm)
    beyond = largest.norm > max(EXPLODING_NORM, EXPLODING_RATIO * largest.parameters)
    growth = largest.norm / seen[0].norm if seen[0].norm else 1.0
    if beyond or growth > EXPLODING_GROWTH:
        text = Text(
            "梯度爆炸：范数达到 {norm}（参数范数 {parameters}，首步的 {growth} 倍）",
            "the gradients explode: norm {norm}, {growth} times the first step's (parameters: {parameters})",
        )
        values = {"norm": largest.norm, "parameters": largest.parameters, "growth": growth}
        yield Fault("gradients", text.filled({name: f"{value:.3g}" for name, value in values.items()}))


def _partly_missing(seen: Sequence[Gradients]) -> Iterator[Fault]:
    always = set(seen[0].missing).intersection(*(gradients.missing for gradients in seen))
    if always:
        names = sorted(always)
        text = Text("{n} 个可训练参数没有梯度：{names}", "{n} trainable parameters get no gradient: {names}")
        yield Fault("gradients", text.filled({"n": len(names), "names": ", ".join(names[:5])}))


def _of_optimiser(steps: Sequence[Step]) -> Iterator[Fault]:
    seen = [step for step in steps if step.moved is not None]
    if not seen or any(step.moved for step in seen):
        return
    last = seen[-1]
    if last.stepped is False:
        cause = Text("没有调用 optimizer.step()", "optimizer.step() is not called")
    elif last.rates and not any(last.rates):
        cause = Text("学习率为 0", "the learning rate is 0")
    elif last.strangers:
        cause = Text("优化器里没有模型的 {n} 个参数", "the optimiser lacks {n} of the model's parameters").filled(
            {"n": last.strangers}
        )
    else:
        cause = Text(
            "更新量小于参数精度，或 scaler 跳过了每一步", "updates below the precision, or a scaler that skips them"
        )
    text = Text("参数没有变化：{cause}", "the parameters do not move: {cause}")
    yield Fault("optimiser", text.filled({"cause": cause}))
