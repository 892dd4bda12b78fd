"""Does the migrated workload run at all? Inference and training smoke, on the device of the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from npueval import isolation
from npueval.devices import Device, open_device
from npueval.errors import FormatError, MeasurementError
from npueval.pipeline import build, load_precision
from npueval.plan import Plan
from npueval.smoke.checks import Check, Smoke, from_data, to_data
from npueval.smoke.inference import inference
from npueval.smoke.training import training
from npueval.workloads import load as load_workload

__all__ = ["Check", "Smoke", "from_data", "load", "run", "save", "to_data"]

_JOB, _RESULT = "job.json", "smoke.json"


def run(plan: Plan, *, device: str | Device | None = None) -> Smoke:
    """Smoke-test the plan's workload in a process of its own (a device object instead of a name: in this one).

    :class:`NotExecuted` where the device is not there, :class:`WorkloadError` where the workload does not load,
    :class:`MeasurementError` where it hangs or takes its process down.
    """
    if isinstance(device, Device):
        return _smoke(_job(plan, device.name), device)
    job = _job(plan, device or plan.device)
    with TemporaryDirectory(prefix="npueval-smoke-") as name:
        folder = Path(name)
        (folder / _JOB).write_text(json.dumps(job), encoding="utf-8", newline="\n")
        ended = isolation.run(
            f"{__name__}:in_worker",
            folder,
            blame=Path(job["root"], job["workload"].partition(":")[0]).resolve(),
            timeout_s=plan.case_timeout_s,
            with_npu=job["device"].startswith("npu"),
        )
        if ended.error:
            raise ended.error
        if not ended.done:
            raise MeasurementError(f"the smoke test did not end: {ended.reason}")
        return load(folder / _RESULT)


def save(smoke: Smoke, folder: Path) -> Path:
    """Write ``smoke-<device>.json`` into a folder (the newest of a device replaces the one before)."""
    path = folder / f"smoke-{smoke.device.kind}.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_data(smoke), ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    return path


def load(path: Path) -> Smoke:
    """Read a result; :class:`FormatError` where the file is none."""
    try:
        return from_data(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise FormatError(f"cannot read the smoke result: {error.strerror}", path=path) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"not a smoke result: {error}", path=path) from None


def in_worker(folder: Path, report: Callable[[str, dict[str, Any]], None]) -> None:
    """What the worker process does."""
    job = json.loads((folder / _JOB).read_text(encoding="utf-8"))
    report("open", {})
    device = open_device(job["device"])
    report("smoke", {})
    smoke = _smoke(job, device)
    (folder / _RESULT).write_text(json.dumps(to_data(smoke)), encoding="utf-8", newline="\n")


def _job(plan: Plan, device: str) -> dict[str, Any]:
    return {
        "workload": plan.workload,
        "root": str(plan.root),
        "device": device,
        "precision": plan.precision,
        "precision_mode": plan.precision_mode,
        "batches": list(dict.fromkeys((min(plan.batches), plan.target_batch))),
        "seed": plan.seed,
    }


def _smoke(job: dict[str, Any], device: Device) -> Smoke:
    workload = load_workload(job["workload"], Path(job["root"]))
    workload.call("load", device.name, load_precision(job["precision"], job["precision_mode"]))
    pipeline = build(workload, device, job["precision"], job["precision_mode"])
    device.seed(job["seed"])
    of_inference = inference(pipeline, device, job["batches"], job["seed"])
    of_training, losses = training(workload)
    return Smoke(
        created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        device=device.describe(),
        simulated=device.simulated,
        workload=job["workload"],
        precision=job["precision"],
        inference=of_inference,
        training=of_training,
        losses=losses,
    )
