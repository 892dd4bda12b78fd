"""The way of one input through the workload on a device: its segments in order, and the transfers it leaves to us."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from npueval.devices import Clock, Device, Lane
from npueval.errors import WorkloadError
from npueval.language import Text
from npueval.runs.cases import SEGMENTS
from npueval.workloads import Workload, moved

_AUTOCAST = {"fp16": "float16", "bf16": "bfloat16"}
_HOST = "cpu"
NOT_ASKED = Text("计划的 segments 不含该环节", "not in the plan's segments")
_NOTHING_TO_MOVE = Text("无需搬运：数据已在所需之处", "nothing to move: the values are where they are needed")
_NO_TRANSFER = Text("CPU 无需拷贝", "the cpu needs no transfer")
_NO_SEGMENT = Text("工作负载没有 {segment}", "the workload has no {segment}")


@dataclass(frozen=True)
class Step:
    """One segment and its call. ``ours``: a transfer that the workload leaves to us."""

    segment: str
    call: Callable[[Any], Any]
    ours: bool = False


@dataclass(frozen=True)
class Passage:
    """One walk through the steps: what came out of each, and how long it took (ns, synchronised)."""

    durations: Mapping[str, int]
    values: Mapping[str, Any]

    @property
    def output(self) -> Any:
        """What the last step returned."""
        return list(self.values.values())[-1]


@dataclass(frozen=True)
class Pipeline:
    """The steps in order, and of each segment that is not among them the reason."""

    workload: Workload
    steps: tuple[Step, ...]
    not_measured: Mapping[str, Text] = field(default_factory=dict)

    def walk(self, raw: Any, lane: Lane, clock: Clock) -> Passage:
        """Take raw inputs through every step; a step that raises is a :class:`WorkloadError` with its place."""
        durations, values = {}, {}
        value = raw
        for step in self.steps:
            before = clock.now()
            value = values[step.segment] = self._called(step, value)
            if lane.synchronize is not None:
                lane.synchronize()
            durations[step.segment] = clock.now() - before
        return Passage(durations, values)

    def _called(self, step: Step, value: Any) -> Any:
        try:
            return step.call(value)
        except (Exception, SystemExit) as error:
            raise self.workload.blamed(step.segment, error) from error

    def without_idle_transfers(self, raw: Any, passage: Passage) -> Pipeline:
        """The pipeline without those of our transfers that moved nothing in ``passage``."""
        kept, idle, value = [], {}, raw
        for step in self.steps:
            if step.ours and passage.values[step.segment] is value:
                idle[step.segment] = _NOTHING_TO_MOVE
            else:
                kept.append(step)
            value = passage.values[step.segment]
        return replace(self, steps=tuple(kept), not_measured={**self.not_measured, **idle})

    def scoped(self, scope: Sequence[str]) -> Scoped:
        """Which steps to time. :class:`WorkloadError` where none of the plan's segments exists here."""
        places = [place for place, step in enumerate(self.steps) if step.segment in scope]
        if not places:
            raise WorkloadError(
                f"none of the segments {', '.join(scope)} can be measured",
                hint="; ".join(f"{segment}: {reason.en}" for segment, reason in self.not_measured.items()),
            )
        first, end = places[0], places[-1] + 1
        asked = {step.segment: NOT_ASKED for step in self.steps if step.segment not in scope}
        return Scoped(
            before=self.steps[:first],
            body=self.steps[first:end],
            timed=tuple(self.steps[place].segment for place in places),
            after=self.steps[end:],
            not_measured={**self.not_measured, **asked},
        )


@dataclass(frozen=True)
class Scoped:
    """The steps done once before the loop, those in it (of which ``timed`` count), and those left out after it."""

    before: tuple[Step, ...]
    body: tuple[Step, ...]
    timed: tuple[str, ...]
    after: tuple[Step, ...]
    not_measured: Mapping[str, Text]


def build(workload: Workload, device: Device, precision: str, mode: str = "cast") -> Pipeline:
    """The steps of a loaded workload on a device.

    ``mode`` ``autocast`` runs ``infer`` under the framework's autocast for fp16 and bf16; with ``cast`` the workload's
    own ``load`` has seen to the precision.
    """
    calls: dict[str, Step] = {}
    missing: dict[str, Text] = {}
    for segment in SEGMENTS:
        step = _step(workload, device, segment)
        if step is None:
            on_host = segment in ("h2d", "d2h") and not device.asynchronous
            missing[segment] = _NO_TRANSFER if on_host else _NO_SEGMENT.filled({"segment": segment})
        else:
            calls[segment] = step
    if mode == "autocast" and precision in _AUTOCAST:
        calls["infer"] = replace(calls["infer"], call=_autocast(calls["infer"].call, device.kind, precision))
    return Pipeline(workload, tuple(calls.values()), missing)


def load_precision(precision: str, mode: str) -> str:
    """The precision to load the model in: under autocast the weights stay fp32."""
    return "fp32" if mode == "autocast" and precision in _AUTOCAST else precision


def dataset(workload: Workload, fallback: Any) -> Iterator[Any]:
    """The raw batches to check outputs on: the workload's own, or the one that was measured."""
    own = workload.hook("dataset")
    yield from workload.call("dataset") if own else (fallback,)


def _step(workload: Workload, device: Device, segment: str) -> Step | None:
    hook = workload.hook(segment)
    if segment == "h2d":
        if hook:
            return Step(segment, lambda value: hook(value, device.name))
        return Step(segment, lambda value: moved(value, device.name), ours=True) if device.asynchronous else None
    if hook:
        return Step(segment, hook)
    if segment == "d2h" and device.asynchronous:
        return Step(segment, lambda value: moved(value, _HOST), ours=True)
    return None


def _autocast(call: Callable[[Any], Any], kind: str, precision: str) -> Callable[[Any], Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        raise WorkloadError(f"precision_mode autocast needs torch, which the workload does not use ({precision})")
    dtype = getattr(torch, _AUTOCAST[precision])

    @functools.wraps(call)
    def infer(value: Any) -> Any:
        with torch.autocast(kind, dtype=dtype):
            return call(value)

    return infer
