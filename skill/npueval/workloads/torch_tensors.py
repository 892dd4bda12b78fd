"""torch tensors. torch is looked at only where the workload itself has imported it."""

from __future__ import annotations

import sys
from typing import Any

from numpy.typing import NDArray

from npueval.runs.conditions import ArrayFacts
from npueval.workloads.base import ArrayKind


class TorchTensors(ArrayKind):
    """Tensors of any device."""

    def owns(self, value: Any) -> bool:
        """See :meth:`ArrayKind.owns`."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch.Tensor)

    def to_numpy(self, value: Any) -> NDArray[Any]:
        """See :meth:`ArrayKind.to_numpy`."""
        value = value.detach().cpu()
        wide = value.float() if str(value.dtype) == "torch.bfloat16" else value
        array: NDArray[Any] = wide.numpy()
        return array

    def facts(self, value: Any) -> ArrayFacts:
        """See :meth:`ArrayKind.facts`."""
        return ArrayFacts(tuple(value.shape), str(value.dtype).removeprefix("torch."))

    def moved(self, value: Any, device: str) -> Any:
        """See :meth:`ArrayKind.moved`."""
        return value.to(device)
