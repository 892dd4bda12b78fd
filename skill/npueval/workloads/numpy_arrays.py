"""numpy arrays, and plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval.runs.conditions import ArrayFacts
from npueval.workloads.base import ArrayKind


class NumpyArrays(ArrayKind):
    """Arrays and scalars of the host; they never move."""

    def owns(self, value: Any) -> bool:
        """See :meth:`ArrayKind.owns`."""
        return isinstance(value, np.ndarray | np.generic | bool | int | float)

    def to_numpy(self, value: Any) -> NDArray[Any]:
        """See :meth:`ArrayKind.to_numpy`."""
        return np.asarray(value)

    def facts(self, value: Any) -> ArrayFacts:
        """See :meth:`ArrayKind.facts`."""
        array = np.asarray(value)
        return ArrayFacts(array.shape, str(array.dtype))

    def moved(self, value: Any, device: str) -> Any:  # noqa: ARG002 - numpy knows only the host
        """See :meth:`ArrayKind.moved`."""
        return value
