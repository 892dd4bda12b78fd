"""The workload contract, and what its values look like from outside.

A workload is a class in the user's project, named ``file.py:Class`` in the plan::

    class Model:
        needs = ("model.py", "model.pt")                              # files beside it: hashed, and packed for a GPU
        def load(self, device: str, precision: str) -> None: ...      # required
        def inputs(self, batch: int, seed: int): ...                  # required; raw inputs on the host
        def infer(self, inputs): ...                                  # required
        def preprocess(self, raw): ...                                # the other segments; one that is absent
        def h2d(self, inputs, device: str): ...                       #   is "not measured", never zero
        def d2h(self, outputs): ...
        def postprocess(self, outputs): ...
        def dataset(self): ...                                        # raw batches to check the outputs on
        def check(self, outputs: list) -> dict: ...                   # metric, value, n, direction, passed
        def train_step(self, step: int): ...                          # a loss, or {"loss", "model", "optimizer"}

Where ``h2d`` or ``d2h`` is absent and the values are torch tensors on the wrong side, the transfer is made and timed by
us. Values may be nested in tuples, lists and mappings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval.runs.conditions import ArrayFacts

REQUIRED = ("load", "inputs", "infer")
OPTIONAL = ("preprocess", "h2d", "d2h", "postprocess", "dataset", "check", "train_step")


class ArrayKind(ABC):
    """One library's arrays."""

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Whether a value is an array of this library."""

    @abstractmethod
    def to_numpy(self, value: Any) -> NDArray[Any]:
        """The values on the host (types that numpy lacks are widened)."""

    @abstractmethod
    def facts(self, value: Any) -> ArrayFacts:
        """Shape and element type under the library's own name."""

    @abstractmethod
    def moved(self, value: Any, device: str) -> Any:
        """The array on a device; itself where it is there already or its library knows only the host."""


def leaves(value: Any) -> Iterator[Any]:
    """The values at the ends of nested tuples, lists and mappings, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same nesting with every leaf changed; ``value`` itself where no leaf did."""
    if isinstance(value, Mapping):
        items = {key: rebuilt(item, change) for key, item in value.items()}
        return value if all(items[key] is value[key] for key in value) else items
    if isinstance(value, list | tuple):
        parts = [rebuilt(item, change) for item in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return change(value)


def as_bytes(array: NDArray[Any]) -> bytes:
    """The elements of an array in C order, for hashing."""
    return np.ascontiguousarray(array).tobytes()
