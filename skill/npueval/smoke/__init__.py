"""Does the migrated workload run at all? Inference and training smoke, on the device of the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from npueval.devices import Device
from npueval.errors import FormatError
from npueval.plan import Plan
from npueval.sessions import Report, Session, Setup, in_child, open_session, orders
from npueval.smoke.checks import Check, Smoke, from_data, to_data
from npueval.smoke.inference import inference
from npueval.smoke.training import training

__all__ = ["Check", "Smoke", "conditions", "from_data", "load", "run", "save", "to_data"]

_RESULT = "smoke.json"


def run(plan: Plan, *, device: str | Device | None = None) -> Smoke:
    """Smoke-test the plan's workload in a process of its own (a device object instead of a name: in this one).

    :class:`NotExecuted` where the device is not there, :class:`WorkloadError` where the workload does not load,
    :class:`MeasurementError` where it hangs or takes its process down.
    """
    batches = _batches(plan)
    if isinstance(device, Device):
        return _smoke(open_session(Setup.of(plan, device.name), device), batches)
    return in_child(
        f"{__name__}:in_worker",
        Setup.of(plan, device),
        lambda folder: load(folder / _RESULT),
        timeout_s=plan.case_timeout_s,
        further={"batches": batches},
    )


def conditions(plan: Plan) -> dict[str, Any]:
    """What of a plan decides its smoke test."""
    return _conditions(Setup.of(plan), _batches(plan))


def _batches(plan: Plan) -> list[int]:
    return list(dict.fromkeys((min(plan.batches), plan.target_batch)))


def _conditions(setup: Setup, batches: Sequence[int]) -> dict[str, Any]:
    said = {name: getattr(setup, name) for name in ("precision", "precision_mode", "seed")}
    return {**said, "batches": list(batches)}


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
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"not a smoke result: {error}", path=path) from None


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does."""
    setup, further = orders(folder)
    report("open", {})
    session = open_session(setup)
    report("smoke", {})
    found = _smoke(session, further["batches"])
    (folder / _RESULT).write_text(json.dumps(to_data(found)), encoding="utf-8", newline="\n")


def _smoke(session: Session, batches: Sequence[int]) -> Smoke:
    device, setup = session.device, session.setup
    of_inference = inference(session.pipeline, device, batches, setup.seed)
    of_training, losses = training(session.workload)
    return Smoke(
        created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        device=device.describe(),
        simulated=device.simulated,
        workload=setup.workload,
        precision=setup.precision,
        inference=of_inference,
        training=of_training,
        losses=losses,
        made_with=session.workload.facts(),
        conditions=_conditions(setup, batches),
    )
