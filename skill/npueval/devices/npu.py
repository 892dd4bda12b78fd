"""Ascend NPUs through torch_npu."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from npueval.devices.base import Accelerator, Device, checked_index, first_line, open_error, variables
from npueval.devices.profiling import Profiler, Unprofiled
from npueval.errors import NotExecuted
from npueval.language import Text
from npueval.runs.cases import Reading
from npueval.runs.conditions import DeviceFacts

KIND = "npu"
SOURCE_CANN = "source /usr/local/Ascend/ascend-toolkit/set_env.sh (or your CANN's set_env.sh) in this shell, then retry"
_PROPERTIES = ("name", "total_memory", "cube_core_num", "vector_core_num", "L2_cache_size", "uuid")
_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")


class Npu(Accelerator):
    """One NPU (a card's chip, as torch_npu numbers them)."""

    kind = KIND
    launch_blocking = "ASCEND_LAUNCH_BLOCKING"

    def describe(self) -> DeviceFacts:
        """See :meth:`Device.describe`."""
        properties = {**self.properties(_PROPERTIES), "cards_visible": self.api.device_count()}
        model = self.api.get_device_name(self.index)
        return DeviceFacts(self.name, KIND, self.index, model, properties, self._settings())

    def _settings(self) -> dict[str, str]:
        # jit_compile defaults to True on inference cards (310P) and to False on training cards: an order of magnitude.
        return {
            "jit_compile_is_off": str(_told(self.reading("is_jit_compile_false"))),
            "matmul.allow_hf32": self._switch("matmul"),
            "conv.allow_hf32": self._switch("conv"),
            **variables(
                "TASK_QUEUE_ENABLE", "ASCEND_LAUNCH_BLOCKING", "ASCEND_RT_VISIBLE_DEVICES", "HCCL_EXEC_TIMEOUT"
            ),
        }

    def _switch(self, unit: str) -> str:
        known = getattr(getattr(self.api, unit, None), "allow_hf32", None)
        return f"N/A (this torch_npu has no npu.{unit}.allow_hf32)" if known is None else str(known)

    def profiler(self, folder: Path) -> Profiler:
        """See :meth:`Device.profiler`."""
        import torch
        import torch_npu

        profiler = getattr(torch_npu, "profiler", None)
        if profiler is None:
            raise Unprofiled(Text("该 torch_npu 没有 profiler", "this torch_npu has no profiler"))
        kinds = profiler.ProfilerActivity
        # Its own name for the folder would be the host's.
        keep = profiler.tensorboard_trace_handler(str(folder), worker_name="npueval")
        made = profiler.profile(activities=[kinds.CPU, kinds.NPU], on_trace_ready=keep)

        def stop() -> Path | None:
            made.stop()
            return next(folder.glob("*/ASCEND_PROFILER_OUTPUT/trace_view.json"), None)

        name = f"torch_npu.profiler {getattr(torch_npu, '__version__', '')}".rstrip()
        return Profiler(name, made.start, stop, torch.profiler.record_function, _works)


def open_device(index: int | None) -> Device:
    """The NPU, after it has run one operator. :class:`NotExecuted` where there is none, with the layer that lacks."""
    try:
        import torch
        import torch_npu  # noqa: F401 - registers torch.npu
    except Exception as error:
        raise _explained(error) from error
    api: Any = torch.npu
    hint = "check npu-smi info, ASCEND_RT_VISIBLE_DEVICES and the container's devices; npueval doctor does it for you"
    return Npu(api, checked_index(api, KIND, index, hint)).proven(torch)


def _works(row: Mapping[str, Any], process: str) -> bool:
    """A task of the hardware that is no waiting and no event."""
    task = str((row.get("args") or {}).get("Task Type", ""))
    return process == "Ascend Hardware" and not any(word in task for word in ("WAIT", "RECORD", "NOTIFY"))


def _explained(error: BaseException) -> NotExecuted:
    """Which layer the failed import lacks: torch, torch_npu, the CANN libraries, or something else."""
    for name in ("torch", "torch_npu"):
        if importlib.util.find_spec(name) is None:
            return open_error(
                KIND, f"{name} is not installed", "pip install torch and the torch_npu of the same version"
            )
    said = " / ".join(first_line(link) for link in _chain(error))
    library = _LIBRARY.search(said)
    if library:
        reason = f"torch_npu is installed, but CANN's libraries are not loaded ({library[1]} is not found)"
        return open_error(KIND, reason, SOURCE_CANN)
    return open_error(KIND, f"torch_npu does not import: {said}", "npueval doctor looks for the cause")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _told(reading: Reading) -> str:
    return str(reading) if reading.value is None else str(bool(reading.value))
