"""The host itself: calls return finished, so there is nothing to synchronise and nothing between clock and work."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from npueval.devices.base import Device, Lane, host_rss, variables
from npueval.devices.profiling import Profiler, Unprofiled, of_torch
from npueval.errors import UnknownDevice
from npueval.language import Text
from npueval.runs.cases import Memory, Reading
from npueval.runs.conditions import DeviceFacts

KIND = "cpu"
_HOST_MEMORY = Reading(None, Text("CPU 用的是主机内存", "the cpu uses the host's memory"))
_NO_ALLOCATOR = Reading(None, Text("CPU 没有设备分配器", "the cpu has no device allocator"))


class Cpu(Device):
    """The processor, with or without torch."""

    kind = KIND

    @contextlib.contextmanager
    def lane(self, *, own_stream: bool) -> Iterator[Lane]:  # noqa: ARG002 - threads of the host need no stream
        """See :meth:`Device.lane`."""
        yield Lane(None, None)

    def describe(self) -> DeviceFacts:
        """See :meth:`Device.describe`."""
        return DeviceFacts(self.name, KIND, None, _model(), _properties(), _settings())

    def profiler(self, folder: Path) -> Profiler:
        """See :meth:`Device.profiler`."""
        torch = sys.modules.get("torch")
        if torch is None:
            raise Unprofiled(Text("workload 不使用 torch", "the workload does not use torch"))
        return of_torch(torch, folder, ("CPU",), ("cpu_op",))

    def memory(self) -> Memory:
        """See :meth:`Device.memory`."""
        return Memory(_NO_ALLOCATOR, _NO_ALLOCATOR, _HOST_MEMORY, host_rss())


def open_device(index: int | None) -> Device:
    """The cpu; it has no cards to number."""
    if index is not None:
        raise UnknownDevice(f"the cpu is not numbered: cpu:{index}", hint="ask for the device 'cpu'")
    return Cpu()


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _properties() -> dict[str, object]:
    try:
        import psutil
    except ImportError:
        known: dict[str, object] = {"threads": os.cpu_count()}
    else:
        known = {
            "cores": psutil.cpu_count(logical=False),
            "threads": psutil.cpu_count(),
            "memory_bytes": psutil.virtual_memory().total,
        }
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"machine": platform.machine(), **known, "usable_threads": usable}


def _settings() -> dict[str, str]:
    settings = variables("OMP_NUM_THREADS", "MKL_NUM_THREADS")
    torch = sys.modules.get("torch")
    return settings | ({"torch_threads": str(torch.get_num_threads())} if torch else {})
