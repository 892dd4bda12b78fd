"""Training smoke: a few steps; is the loss finite, do gradients flow, do parameters move, does a checkpoint return?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npueval.language import Text, same
from npueval.learning import Fault, What, fault_of, faults
from npueval.learning.stepwatch import Watch, round_trip
from npueval.smoke.checks import Check
from npueval.workloads import Workload

STEPS = 4
_PARTS: tuple[What, ...] = ("loss", "gradients", "optimiser", "checkpoint")
_NO_MODEL = Text(
    'train_step 没有交出 {"loss", "model", "optimizer"}，无法检查',
    'train_step does not hand over {"loss", "model", "optimizer"}: cannot be seen',
)


def training(workload: Workload) -> tuple[tuple[Check, ...], tuple[float, ...]]:
    """Take a few training steps; the checks, and the losses."""
    step = workload.hook("train_step")
    if step is None:
        return (Check("runs", None, Text("workload 没有 train_step", "the workload has no train_step")),), ()
    watch = Watch()
    try:
        for number in range(STEPS):
            watch.take(partial(step, number))
        found = [*faults(watch.steps), *(round_trip(watch) if watch.model is not None else ())]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything; it is told
        known = fault_of(error)
        blamed = workload.blamed(f"train_step({len(watch.steps)})", error)
        reason = known.text if known else same(str(blamed))
        return (Check("runs", False, reason),), tuple(seen.loss for seen in watch.steps)
    ran = Text("{n} 步跑通", "{n} steps ran").filled({"n": STEPS})
    return (Check("runs", True, ran), *_judged(watch, found)), tuple(seen.loss for seen in watch.steps)


def _judged(watch: Watch, found: list[Fault]) -> Iterator[Check]:
    for part in _PARTS:
        wrong = [fault for fault in found if fault.what == part]
        if wrong:
            yield from (Check(part, False, fault.text) for fault in wrong)
        elif part != "loss" and watch.model is None:
            yield Check(part, None, _NO_MODEL)
        else:
            yield Check(part, True, _seen(part, watch))


def _seen(part: What, watch: Watch) -> Text:
    if part == "loss":
        return same(" → ".join(f"{step.loss:.4g}" for step in watch.steps))
    if part == "gradients":
        norms = ", ".join(f"{step.gradients.norm:.3g}" for step in watch.steps if step.gradients)
        return Text(f"梯度范数 {norms}", f"gradient norms {norms}")
    if part == "optimiser":
        return Text("参数在变化", "the parameters move")
    return Text("存取后状态与输出一致", "state and output come back")
