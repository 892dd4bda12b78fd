"""What every device offers the measuring engine, and what the two torch accelerators share."""

from __future__ import annotations

import contextlib
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npueval.devices.profiling import Profiler, Unprofiled
from npueval.errors import NotExecuted
from npueval.language import Text, same
from npueval.runs.cases import Memory, Reading
from npueval.runs.conditions import DeviceFacts

_SPIN_NS = 300_000
NO_PSUTIL = Text("未安装 psutil", "psutil is not installed")
"""The kit measures on hosts that have nothing but torch and numpy; there such a reading is absent, with this reason."""
_BLOCKING = Text(
    "设置了 {variable}：每次下发都会等待，生产运行不会这样",
    "{variable} is set: every launch waits, which no production run does",
)
_LACKS = Text("该 {module} 没有 {function}", "this {module} has no {function}")


def _wait_until(moment: int) -> None:
    """Sleep towards a moment of the host clock, and spin over the last of it: sleeping alone wakes up late."""
    while (left := moment - time.perf_counter_ns()) > 0:
        if left > _SPIN_NS:
            time.sleep((left - _SPIN_NS) / 1e9)


@dataclass(frozen=True)
class Clock:
    """``now`` in ns, monotonic; ``wait_until`` returns at that moment or later."""

    name: str
    now: Callable[[], int]
    wait_until: Callable[[int], None]


HOST_CLOCK = Clock("perf_counter_ns", time.perf_counter_ns, _wait_until)


@dataclass(frozen=True)
class Timer:
    """A pair of events on the device's own clock; ``elapsed_ns`` may be asked for once the device is idle."""

    start: Callable[[], None]
    stop: Callable[[], None]
    elapsed_ns: Callable[[], int]


@dataclass(frozen=True)
class Lane:
    """What one worker needs: ``synchronize`` returns when its work is done (``None``: calls return finished)."""

    synchronize: Callable[[], None] | None
    timer: Timer | None


class Device(ABC):
    """An opened device. ``asynchronous`` devices return from a call before it is done, and so must synchronise."""

    kind: str
    index: int | None = None
    asynchronous = False
    simulated = False
    clock = HOST_CLOCK

    @property
    def name(self) -> str:
        """The name to give to the workload: ``npu:0``, ``cuda:1``, ``cpu``. Never a bare number, which means cuda."""
        return self.kind if self.index is None else f"{self.kind}:{self.index}"

    @abstractmethod
    def lane(self, *, own_stream: bool) -> contextlib.AbstractContextManager[Lane]:
        """The calling thread's way to the device; ``own_stream`` keeps it apart from the other threads' work."""

    @abstractmethod
    def describe(self) -> DeviceFacts:
        """Model, properties and the settings that change what is measured."""

    @abstractmethod
    def memory(self) -> Memory:
        """Peaks since :meth:`reset_memory` where the allocator keeps them; device and host as they stand now."""

    def held(self) -> Reading:
        """Bytes in use by the workload at this moment: what grows when it leaks."""
        return host_rss()

    def reset_memory(self) -> None:  # noqa: B027 - most devices keep none
        """Forget the peaks. Nothing to forget on devices that keep none."""

    def release(self) -> None:  # noqa: B027 - most devices hold none back
        """Give unused memory back after a failure."""

    def seed(self, seed: int) -> None:  # noqa: B027 - most devices have no generator
        """Seed the device's own generator, where it has one."""

    def profiler(self, folder: Path) -> Profiler:  # noqa: ARG002 - who has one leaves its trace there
        """The framework's profiler, leaving its trace in ``folder``; :class:`Unprofiled` with the reason if none."""
        raise Unprofiled(Text(f"{self.kind} 没有 profiler", f"the {self.kind} has no profiler"))

    def doubts(self) -> tuple[Text, ...]:
        """Settings under which figures mislead."""
        return ()


def open_error(kind: str, reason: str, hint: str) -> NotExecuted:
    """The refusal to measure on a device that is not there. There is no fall-back to another one."""
    return NotExecuted(f"nothing was measured on {kind}: {reason}", code="DEVICE_ABSENT", hint=hint)


def host_rss() -> Reading:
    """Resident memory of this process in bytes."""
    try:
        import psutil
    except ImportError:
        return Reading(None, NO_PSUTIL)
    return Reading(psutil.Process().memory_info().rss)


def variables(*names: str) -> dict[str, str]:
    """Environment variables of the measuring process, with those that are unset named as such."""
    return {name: os.environ.get(name, "not set") for name in names}


class Accelerator(Device):
    """A torch backend whose module (``torch.npu``, ``torch.cuda``) has events, streams and memory counters.

    Older modules lack some of the functions: each is looked for, and its absence is the reason of an N/A.
    """

    asynchronous = True
    launch_blocking: str
    """The environment variable that makes every launch wait."""

    def __init__(self, api: Any, index: int) -> None:
        self.api = api
        self.index = index
        self.simulated = bool(getattr(api, "simulated", False))
        self.clock = getattr(api, "clock", HOST_CLOCK)
        if not callable(getattr(api, "synchronize", None)):
            raise open_error(self.kind, f"torch.{self.kind} has no synchronize", "no figure can be trusted without it")
        api.set_device(index)

    @contextlib.contextmanager
    def lane(self, *, own_stream: bool) -> Iterator[Lane]:
        """See :meth:`Device.lane`."""
        self.api.set_device(self.index)
        if not own_stream:
            yield Lane(lambda: self.api.synchronize(self.index), self._timer())
            return
        stream = self.api.Stream(device=self.name)
        with self.api.stream(stream):
            yield Lane(stream.synchronize, self._timer())

    def _timer(self) -> Timer | None:
        if not hasattr(self.api, "Event"):
            return None
        first, last = (self.api.Event(enable_timing=True) for _ in range(2))
        return Timer(first.record, last.record, lambda: round(first.elapsed_time(last) * 1e6))

    def memory(self) -> Memory:
        """See :meth:`Device.memory`."""
        return Memory(
            allocated=self.reading("max_memory_allocated", self.index),
            reserved=self.reading("max_memory_reserved", self.index),
            device=self._taken(),
            host_rss=host_rss(),
        )

    def held(self) -> Reading:
        """See :meth:`Device.held`."""
        return self.reading("memory_allocated", self.index)

    def doubts(self) -> tuple[Text, ...]:
        """See :meth:`Device.doubts`."""
        blocking = os.environ.get(self.launch_blocking, "0") not in ("", "0")
        return (_BLOCKING.filled({"variable": self.launch_blocking}),) if blocking else ()

    def _taken(self) -> Reading:
        try:
            free, total = self.api.mem_get_info(self.index)
        except AttributeError:
            return Reading(None, self._lacks("mem_get_info"))
        except RuntimeError as error:
            return Reading(None, same(f"mem_get_info: {first_line(error)}"))
        return Reading(total - free)

    def reading(self, function: str, *arguments: Any) -> Reading:
        """The number that a function of the module returns, or why there is none."""
        call = getattr(self.api, function, None)
        if call is None:
            return Reading(None, self._lacks(function))
        try:
            return Reading(call(*arguments))
        except RuntimeError as error:
            return Reading(None, same(f"{function}: {first_line(error)}"))

    def _lacks(self, function: str) -> Text:
        return _LACKS.filled({"module": f"torch.{self.kind}", "function": function})

    def reset_memory(self) -> None:
        """See :meth:`Device.reset_memory`."""
        if hasattr(self.api, "reset_peak_memory_stats"):
            self.api.reset_peak_memory_stats(self.index)

    def release(self) -> None:
        """See :meth:`Device.release`."""
        if hasattr(self.api, "empty_cache"):
            self.api.empty_cache()

    def seed(self, seed: int) -> None:
        """See :meth:`Device.seed`."""
        self.api.manual_seed_all(seed)

    def properties(self, names: tuple[str, ...]) -> Mapping[str, Any]:
        """Those of the named device properties that this version knows."""
        found = self.api.get_device_properties(self.index)
        return {name: plain(getattr(found, name)) for name in names if hasattr(found, name)}

    def proven(self, torch: Any) -> Accelerator:
        """Itself, after one small operator gave the right answer: a library that imports may still not compute."""
        try:
            answer = (torch.ones(2, device=self.name) + 1).cpu().tolist()
        except Exception as error:
            reason = f"{self.name} cannot run an operator: {first_line(error)}"
            raise open_error(self.kind, reason, "npueval doctor looks for the cause") from error
        if answer != [2.0, 2.0]:
            raise open_error(self.kind, f"{self.name} computes 1 + 1 = {answer}", "npueval doctor looks for the cause")
        return self


def checked_index(api: Any, kind: str, index: int | None, hint: str) -> int:
    """The card to use (the current one unless asked for another); the refusal where there is none."""
    count = int(api.device_count()) if api.is_available() else 0
    if count == 0:
        raise open_error(kind, "torch sees no such device", hint)
    wanted = 0 if index is None else index
    if wanted >= count:
        raise open_error(f"{kind}:{wanted}", f"there {'is 1 card' if count == 1 else f'are {count} cards'}", hint)
    return wanted


def first_line(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    text = str(error).strip().split("\n")[0].strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def plain(value: Any) -> Any:
    """A property in a form that JSON has."""
    return value if isinstance(value, bool | int | float | str | None) else str(value)
