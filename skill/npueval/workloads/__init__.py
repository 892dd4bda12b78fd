"""The user's workload and its values: loading, hashing, moving, checking."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from npueval.runs.conditions import ArrayFacts, InputFacts, OutputFacts
from npueval.workloads.base import ArrayKind, as_bytes, leaves, rebuilt
from npueval.workloads.delivered import is_pending, undelivered
from npueval.workloads.loading import Workload, load, raised
from npueval.workloads.numpy_arrays import NumpyArrays
from npueval.workloads.torch_tensors import TorchTensors

MEMBERS: tuple[ArrayKind, ...] = (NumpyArrays(), TorchTensors())

__all__ = [
    "MEMBERS",
    "Workload",
    "input_facts",
    "is_pending",
    "leaves",
    "load",
    "moved",
    "output_facts",
    "raised",
    "undelivered",
]


def moved(value: Any, device: str) -> Any:
    """Every array on ``device``; ``value`` itself where all were there (or can be nowhere else)."""

    def move(leaf: Any) -> Any:
        kind = _owner(leaf)
        return leaf if kind is None else kind.moved(leaf, device)

    return rebuilt(value, move)


def input_facts(batch: int, raw: Any) -> InputFacts:
    """Hash and make-up of raw inputs. Leaves that are no arrays (texts, paths) are hashed as they print."""
    digest = hashlib.sha256()
    facts = []
    for leaf in leaves(raw):
        kind = _owner(leaf)
        if kind is None:
            facts.append(ArrayFacts((), type(leaf).__name__))
            digest.update(leaf if isinstance(leaf, bytes) else repr(leaf).encode())
        else:
            facts.append(kind.facts(leaf))
            digest.update(f"{facts[-1]}".encode())
            digest.update(as_bytes(kind.to_numpy(leaf)))
    return InputFacts(batch, digest.hexdigest(), tuple(facts))


def output_facts(value: Any) -> tuple[OutputFacts, ...]:
    """Statistics of every output, over its finite elements; texts and other objects are named and have none."""
    return tuple(_statistics(leaf) for leaf in leaves(value))


def _statistics(leaf: Any) -> OutputFacts:
    kind = _owner(leaf)
    if kind is None:
        return OutputFacts((), type(leaf).__name__, 0, 0, None, None, None, None)
    fact, array = kind.facts(leaf), kind.to_numpy(leaf)
    if array.dtype.kind not in "biuf":
        return OutputFacts(fact.shape, fact.dtype, 0, 0, None, None, None, None)
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    nan, inf = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    if not finite.size:
        return OutputFacts(fact.shape, fact.dtype, nan, inf, None, None, None, None)
    numbers = (float(number) for number in (finite.mean(), finite.std(), finite.min(), finite.max()))
    return OutputFacts(fact.shape, fact.dtype, nan, inf, *numbers)


def _owner(leaf: Any) -> ArrayKind | None:
    return next((kind for kind in MEMBERS if kind.owns(leaf)), None)
