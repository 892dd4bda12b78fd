"""A workload loaded on a device, ready to be walked through; in this process or in one of its own."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from npueval import isolation
from npueval.devices import Device, open_device
from npueval.errors import MeasurementError
from npueval.pipeline import Passage, Pipeline, build, load_precision
from npueval.plaindata import from_plain, to_plain
from npueval.workloads import Workload, load

if TYPE_CHECKING:
    from npueval.plan import Plan

T = TypeVar("T")
Report = Callable[[str, dict[str, Any]], None]

_JOB = "job.json"
LARGEST_NUMPY_SEED = 2**32


@dataclass(frozen=True)
class Setup:
    """Which workload is to be loaded where, as a worker process is told it."""

    workload: str
    root: str
    device: str
    precision: str
    precision_mode: str
    seed: int
    batch: int

    @classmethod
    def of(cls, plan: Plan, device: str | None = None, precision: str | None = None) -> Setup:
        """What a plan says, on another device or in another precision where one is named."""
        return cls(
            plan.workload,
            str(plan.root),
            device or plan.device,
            precision or plan.precision,
            plan.precision_mode,
            plan.seed,
            plan.target_batch,
        )


@dataclass(frozen=True)
class Session:
    """A loaded workload on an opened device."""

    setup: Setup
    device: Device
    workload: Workload
    pipeline: Pipeline

    def walk(self, raw: Any) -> Passage:
        """Take raw inputs through every segment, each synchronised."""
        with self.device.lane(own_stream=False) as lane:
            return self.pipeline.walk(raw, lane, self.device.clock)


def open_session(setup: Setup, device: Device | None = None) -> Session:
    """Open the device (unless it is given), seed every generator, load the workload.

    :class:`NotExecuted` where the device is not there, :class:`WorkloadError` where the workload cannot be used.
    """
    device = device or open_device(setup.device)
    return begin(load(setup.workload, Path(setup.root)), setup, device)


def begin(workload: Workload, setup: Setup, device: Device) -> Session:
    """Seed every generator, then have the workload load.

    In this order, and after its file was imported, for only that may have brought torch: so are weights that ``load``
    makes at random the same each time.
    """
    seed_all(setup.seed, device)
    workload.call("load", device.name, load_precision(setup.precision, setup.precision_mode))
    return Session(setup, device, workload, build(workload, device, setup.precision, setup.precision_mode))


def seed_all(seed: int, device: Device) -> None:
    """Seed python, numpy, torch (where it is loaded) and the device."""
    random.seed(seed)
    np.random.seed(seed % LARGEST_NUMPY_SEED)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
    device.seed(seed)


def in_child(
    target: str,
    setup: Setup,
    harvest: Callable[[Path], T],
    *,
    timeout_s: float,
    further: Mapping[str, Any] | None = None,
    heard: Callable[[dict[str, Any]], None] = lambda _event: None,
) -> T:
    """Have ``module:function`` work on a setup in a process of its own; ``harvest`` reads what it left in its folder.

    The function finds its orders with :func:`orders`. :class:`MeasurementError` where the process hangs or dies.
    """
    with TemporaryDirectory(prefix="npueval-") as name:
        folder = Path(name)
        job = {"setup": to_plain(setup), "further": dict(further or {})}
        (folder / _JOB).write_text(json.dumps(job), encoding="utf-8", newline="\n")
        ended = isolation.run(
            target,
            folder,
            blame=Path(setup.root, setup.workload.partition(":")[0]).resolve(),
            timeout_s=timeout_s,
            with_npu=setup.device.partition(":")[0] == "npu",
            heard=heard,
        )
        if ended.error:
            raise ended.error
        if not ended.done:
            said = isolation.last_said(folder).strip().splitlines()
            raise MeasurementError(f"the worker process broke off: {ended.reason}", hint=said[-1] if said else None)
        return harvest(folder)


def orders(folder: Path) -> tuple[Setup, dict[str, Any]]:
    """What a worker process is to do: the setup, and what was ordered beside it."""
    job = json.loads((folder / _JOB).read_text(encoding="utf-8"))
    return from_plain(Setup, job["setup"]), job["further"]
