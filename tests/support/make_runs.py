"""Runs of known figures, for tests of whatever reads a Run."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from npueval.language import Text, same
from npueval.runs import Run
from npueval.runs.cases import Case, Memory, Reading
from npueval.runs.conditions import (
    ArrayFacts,
    ColdStart,
    DeviceFacts,
    InputFacts,
    OutputCheck,
    OutputFacts,
    Protocol,
    WorkloadFacts,
)

_UNREADABLE = Reading(None, Text("读不到", "not readable"))


def milliseconds(centre: float, n: int = 200, *, spread: float = 0.02, seed: int = 0) -> np.ndarray:
    """``n`` int64 ns samples, log-normal around ``centre`` ms."""
    draws = np.random.default_rng(seed).normal(size=n)
    return (centre * 1e6 * np.exp(spread * draws)).astype(np.int64)


def make_case(batch: int = 1, infer_ms: float = 2.0, n: int = 200, beside: str = "preprocess", **changes: Any) -> Case:
    """A complete sequential case whose ``infer`` takes about ``infer_ms`` and ``beside`` a quarter of that."""
    samples: Mapping[str, np.ndarray] = {
        beside: milliseconds(infer_ms / 4, n, seed=batch),
        "infer": milliseconds(infer_ms, n, seed=batch + 1),
    }
    known: dict[str, Any] = {
        "batch": batch,
        "precision": "fp32",
        "samples": samples,
        "warmup": {name: series[:10] for name, series in samples.items()},
        "window_ns": int(sum(series.sum() for series in samples.values())),
        "items": batch * n,
        "memory": Memory(Reading(3 << 20), Reading(4 << 20), _UNREADABLE, Reading(200 << 20)),
    }
    return Case(**{**known, **changes})


def make_run(**changes: Any) -> Run:
    """A valid cpu Run of batches 1 and 32."""
    known: dict[str, Any] = {
        "id": "20260101T000000Z-cpu-0000",
        "created": "2026-01-01T00:00:00Z",
        "tool": "0.1.0",
        "device": DeviceFacts("cpu", "cpu", None, "A processor", {"cores": 2}, {"threads": "2"}),
        "precision": "fp32",
        "unit": "images/s",
        "seed": 20,
        "protocol": Protocol(10, 200, ("preprocess", "h2d", "infer"), "none needed", "nearest-rank", "perf_counter_ns"),
        "workload": WorkloadFacts("workload.py:Digits", "0" * 64, 10_010),
        "floor_ns": 150.0,
        "not_measured": {"h2d": Text("CPU 无需拷贝", "the cpu needs no transfer")},
        "cold_start": ColdStart(12_000_000, 90_000_000, {"1": 90_000_000, "32": 4_000_000}),
        "inputs": (InputFacts(1, "1" * 64, (ArrayFacts((1, 8, 8), "uint8"),)),),
        "output_check": OutputCheck(
            True, same(""), (OutputFacts((1,), "int64", 0, 0, 4.0, 0.0, 4.0, 4.0),), {"metric": "top1", "value": 0.98}
        ),
        "cases": (make_case(1, 2.0), make_case(32, 8.0)),
        "environment": {"python": "3.11"},
    }
    return Run(**{**known, **changes})
