"""NVIDIA GPUs through torch.cuda."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npueval.devices.base import Accelerator, Device, checked_index, first_line, open_error, variables
from npueval.devices.profiling import Profiler, of_torch
from npueval.runs.conditions import DeviceFacts

KIND = "cuda"
_PROPERTIES = ("name", "major", "minor", "total_memory", "multi_processor_count", "L2_cache_size", "uuid")


class Cuda(Accelerator):
    """One GPU."""

    kind = KIND
    launch_blocking = "CUDA_LAUNCH_BLOCKING"

    def describe(self) -> DeviceFacts:
        """See :meth:`Device.describe`."""
        properties = {**self.properties(_PROPERTIES), "cards_visible": self.api.device_count()}
        return DeviceFacts(self.name, KIND, self.index, self.api.get_device_name(self.index), properties, _settings())

    def profiler(self, folder: Path) -> Profiler:
        """See :meth:`Device.profiler`."""
        import torch

        return of_torch(torch, folder, ("CPU", "CUDA"), ("kernel", "gpu_memcpy", "gpu_memset"))


def open_device(index: int | None) -> Device:
    """The GPU, after it has run one operator. :class:`NotExecuted` where there is none."""
    try:
        import torch
    except Exception as error:
        raise open_error(KIND, f"import torch fails: {first_line(error)}", "install torch for CUDA") from error
    api: Any = torch.cuda
    hint = "check nvidia-smi, CUDA_VISIBLE_DEVICES, and that torch was built for CUDA"
    return Cuda(api, checked_index(api, KIND, index, hint)).proven(torch)


def _settings() -> dict[str, str]:
    import torch

    return {
        "cudnn.benchmark": str(torch.backends.cudnn.benchmark),
        "cudnn.allow_tf32": str(torch.backends.cudnn.allow_tf32),
        "matmul.precision": torch.get_float32_matmul_precision(),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        **variables("CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF"),
    }
