"""The devices of the plan's kind that this machine has."""

from __future__ import annotations

from npueval.environment import Environment
from npueval.gate.diagnosis import Diagnosis
from npueval.language import Text
from npueval.plan import Plan


def present(environment: Environment, kind: str) -> tuple[str, ...]:
    """Their names, as torch counts them; npu-smi's chips where torch_npu tells no names."""
    if kind == "cpu":
        return (environment.system.cpu,)
    if kind == "cuda":
        return tuple(environment.probe.fact("torch", "cuda_devices") or ())
    return environment.devices if environment.npu.chips or environment.probe.fact("torch_npu", "names") else ()


def missing(plan: Plan, diagnosis: Diagnosis) -> Text | None:
    """Why the device that the plan names is not there; ``None`` where it is."""
    kind, _, index = plan.device.partition(":")
    here = present(diagnosis.environment, kind)
    seen = diagnosis.environment.probe.fact("torch_npu", "count") if kind == "npu" else None
    count = len(here) if seen is None else seen
    if int(index or 0) < count:
        return None
    named = f"（{here[0]} × {count}）" if here and count else ""
    return Text(
        f"计划的设备 {plan.device} 不在本机：可见 {count} 个 {kind} 设备{named}，序号从 0 起",
        f"the plan's device {plan.device} is not here: {count} {kind} device(s) are visible, counted from 0",
    )
