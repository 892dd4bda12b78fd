"""A simulated asynchronous NPU: torch computes on the CPU, and a virtual clock says how long it would have taken.

Every operator costs the host a dispatch and the device a chosen time, and returns at once; only ``synchronize`` (or a
copy back to the host) waits. Time passes for nobody else, so a test can assert exact nanoseconds. It proves timing
rules; a Run made on it says ``simulated: true``.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch.utils import _pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from npueval.devices import Clock

MIB = 1 << 20
# Book-keeping of tensors: neither the host nor the device does anything for them.
FREE = ("aten.empty", "aten.view", "aten._reshape_alias", "aten.as_strided", "aten.detach", "aten.alias", "aten.t.")


@dataclass
class Script:
    """How the device behaves. Times in ns. ``costs``: operator's name (``aten.mm``) → time on the device."""

    dispatch: int = 1_000
    default_cost: int = 10_000
    costs: dict[str, int] = field(default_factory=dict)
    copy_cost: int = 5_000
    clock_read: int = 0
    synchronise: int = 0
    compile: int = 0
    stalls: dict[int, int] = field(default_factory=dict)
    growth: float = 0.0
    capacity: int = 1 << 30
    nan: bool = False


class Machine:
    """The state of the simulated card."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, script: Script | None = None) -> None:
        """A fresh card at time zero that behaves as the script says."""
        self.script = script or Script()
        self.host = 0
        self.ready: dict[int, int] = {0: 0}
        self.streams = threading.local()
        self.seen: set[Any] = set()
        self.launched = 0
        self.allocated = self.peak = 0
        self.synchronised = 0

    @property
    def stream(self) -> int:
        return getattr(self.streams, "current", 0)

    def now(self) -> int:
        self.host += self.script.clock_read
        return self.host

    def wait_until(self, moment: int) -> None:
        self.host = max(self.host, moment)

    def launch(self, name: str, shapes: Any) -> None:
        script = self.script
        if (name, shapes) not in self.seen:
            self.seen.add((name, shapes))
            self.host += script.compile
        self.host += script.dispatch
        self.launched += 1
        cost = next((cost for known, cost in script.costs.items() if name.startswith(known)), script.default_cost)
        cost = round(cost * (1 + script.growth * self.launched)) + script.stalls.get(self.launched, 0)
        self.ready[self.stream] = max(self.ready.get(self.stream, 0), self.host) + cost

    def wait(self, stream: int | None = None) -> None:
        self.synchronised += 1
        done = max(self.ready.values()) if stream is None else self.ready.get(stream, 0)
        self.host = max(self.host, done) + self.script.synchronise

    def copied_to_host(self) -> None:
        self.host = max(self.host, self.ready.get(self.stream, 0)) + self.script.copy_cost
        self.ready[self.stream] = self.host

    def take(self, size: int) -> None:
        if self.allocated + size > self.script.capacity:
            raise RuntimeError(f"NPU out of memory. Tried to allocate {size / MIB:.2f} MiB")
        self.allocated += size
        self.peak = max(self.peak, self.allocated)

    def give(self, size: int) -> None:
        self.allocated -= size


MACHINE = Machine()


class NpuTensor(torch.Tensor):
    """A tensor whose device is ``npu:0`` and whose values lie on the host, in ``raw``."""

    raw: torch.Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> NpuTensor:
        return torch.Tensor._make_wrapper_subclass(
            cls, raw.shape, strides=raw.stride(), dtype=raw.dtype, device="npu:0", requires_grad=raw.requires_grad
        )

    def __init__(self, raw: torch.Tensor) -> None:
        self.raw = raw
        size = raw.untyped_storage().nbytes() if raw._base is None else 0
        MACHINE.take(size)
        weakref.finalize(self, MACHINE.give, size)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return NpuTensor, (self.raw.detach(),)

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _on_cpu(op, *args, **(kwargs or {}))


def _on_cpu(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Every operator of the backend: compute on the CPU, let the clock say what it cost."""
    tensors: dict[int, NpuTensor] = {}

    def unwrap(value: Any) -> Any:
        if isinstance(value, NpuTensor):
            tensors[id(value.raw)] = value
            return value.raw
        return torch.device("cpu") if isinstance(value, torch.device) else value

    name = str(op)
    if name.startswith(("aten._copy_from", "aten.copy_")):
        return _copied(name, args)
    if name.startswith("aten._to_copy"):
        return _moved(args[0], kwargs)
    plain, named = _pytree.tree_map(unwrap, (args, kwargs))
    if name.startswith("aten._local_scalar_dense"):
        MACHINE.copied_to_host()
    elif not name.startswith(FREE):
        MACHINE.launch(name, tuple(tuple(tensor.raw.shape) for tensor in tensors.values()))
    result = op(*plain, **named)
    return _pytree.tree_map(lambda value: _wrapped(value, tensors), result)


def _wrapped(value: Any, tensors: dict[int, NpuTensor]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if id(value) in tensors:
        return tensors[id(value)]
    if MACHINE.script.nan and value.is_floating_point():
        value = torch.full_like(value, float("nan"))
    return NpuTensor(value)


def _copied(name: str, args: Any) -> torch.Tensor:
    source, target = args[:2] if name.startswith("aten._copy_from") else (args[1], args[0])
    plain = [tensor.raw if isinstance(tensor, NpuTensor) else tensor for tensor in (source, target)]
    MACHINE.copied_to_host()
    plain[1].copy_(plain[0])
    return target


def _moved(source: torch.Tensor, wanted: dict[str, Any]) -> torch.Tensor:
    """``.to``: to the host it waits for the device, from the host it is a copy, on the device an operator."""
    here = isinstance(source, NpuTensor)
    stays = torch.device(wanted.get("device") or source.device).type == "npu"
    if here and stays:
        MACHINE.launch("aten._to_copy", tuple(source.shape))
    else:
        MACHINE.copied_to_host()
    raw = (source.raw if here else source).to(dtype=wanted.get("dtype"), copy=True)
    return NpuTensor(raw) if stays else raw


class Event:
    """An event on the current stream; as on the real device, timing must be asked for."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.timing, self.at = enable_timing, 0

    def record(self, stream: Any = None) -> None:
        self.at = max(MACHINE.host, MACHINE.ready.get(MACHINE.stream, 0))

    def elapsed_time(self, end_event: Event) -> float:
        if not (self.timing and end_event.timing):
            raise RuntimeError("both events must be made with enable_timing=True")
        return (end_event.at - self.at) / 1e6


class Stream:
    """A queue of its own on the device."""

    count = 0

    def __init__(self, device: Any = None) -> None:
        Stream.count += 1
        self.number = Stream.count

    def synchronize(self) -> None:
        MACHINE.wait(self.number)


def _module() -> ModuleType:
    module = ModuleType("torch.npu")

    @contextlib.contextmanager
    def stream(chosen: Stream) -> Iterator[None]:
        before = MACHINE.stream
        MACHINE.streams.current = chosen.number
        try:
            yield
        finally:
            MACHINE.streams.current = before

    functions: dict[str, Callable[..., Any]] = {
        "is_initialized": lambda: True,
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "_is_in_bad_fork": lambda: False,
        "manual_seed_all": lambda seed: None,
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        "synchronize": lambda device=None: MACHINE.wait(),
        "get_device_name": lambda device=None: "Simulated NPU",
        "get_device_properties": lambda device=None: SimpleNamespace(name="Simulated NPU", cube_core_num=1),
        "memory_allocated": lambda device=None: MACHINE.allocated,
        "max_memory_allocated": lambda device=None: MACHINE.peak,
        "max_memory_reserved": lambda device=None: -(-MACHINE.peak // (2 * MIB)) * 2 * MIB,
        "mem_get_info": lambda device=None: (MACHINE.script.capacity - MACHINE.allocated, MACHINE.script.capacity),
        "reset_peak_memory_stats": lambda device=None: setattr(MACHINE, "peak", MACHINE.allocated),
        "empty_cache": lambda: None,
        "is_jit_compile_false": lambda: True,
    }
    vars(module).update(functions, Event=Event, Stream=Stream, stream=stream, simulated=True)
    vars(module)["clock"] = Clock("virtual", lambda: MACHINE.now(), lambda moment: MACHINE.wait_until(moment))
    return module


_REGISTERED: list[Any] = []


def install() -> Machine:
    """Make ``torch.npu`` and ``torch_npu`` the simulated ones for the rest of this process."""
    if not _REGISTERED:
        _setup_privateuseone_for_python_backend("npu", _module())
        library = torch.library.Library("_", "IMPL")
        library.fallback(_on_cpu, "PrivateUse1")
        library.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        _REGISTERED.append(library)
        torch.serialization.add_safe_globals([NpuTensor])
        sys.modules["torch_npu"] = ModuleType("torch_npu")
    MACHINE.reset()
    return MACHINE
