"""The short test run live: train until the loss has clearly fallen by enough, then stop. Passed once, never again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from npueval import __version__
from npueval.devices import Device
from npueval.errors import MeasurementError, NotExecuted, WorkloadError
from npueval.learning import fault_of, loss_of
from npueval.plaindata import from_plain, to_plain
from npueval.plan import Plan, Training
from npueval.runs.conditions import WorkloadFacts
from npueval.sessions import Report, Session, Setup, in_child, open_session, orders
from npueval.statistics.trends import LEAST_POINTS
from npueval.training import record
from npueval.training.curves import of_values
from npueval.training.record import Record
from npueval.training.short import BAND, Band, judge_short

_LOSSES = "losses.json"
_CHECK_EVERY = 5

Progress = Callable[[str], None]


@dataclass(frozen=True)
class _Trained:
    device: str
    simulated: bool
    losses: tuple[float | None, ...]
    made_with: WorkloadFacts | None = None


def short_test(
    plan: Plan,
    *,
    device: str | Device | None = None,
    band: Band = BAND,
    forced: bool = False,
    progress: Progress = lambda _line: None,
) -> tuple[Record, Path]:
    """Train by the workload's ``train_step`` for at most ``training.steps`` steps; stop when the test has passed.

    The record is written to ``runs/short_tests/``. A device's name is opened in a process of its own; an opened device
    is used in this one. :class:`NotExecuted` where the plan has no training, the device is absent, or a test of the
    same configuration has passed before (unless ``forced``); :class:`WorkloadError` where a step fails.
    """
    if plan.training is None:
        raise NotExecuted("the plan has no training section: a short test does not apply", code="NO_TRAINING")
    name = device.name if isinstance(device, Device) else device or plan.device
    configured = record.configuration(plan, name, band)
    path = record.path_of(plan, configured)
    if not forced:
        record.refuse_repeat(plan, path)
    trained = _trained(plan, plan.training, device, band, progress)
    values = [math.nan if loss is None else loss for loss in trained.losses]
    kept = Record(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        tool=f"npueval {__version__}",
        device=trained.device,
        simulated=trained.simulated,
        configuration=configured,
        losses=trained.losses,
        verdict=judge_short(of_values(plan.training.metric, values), band),
        made_with=trained.made_with,
    )
    record.save(path, kept)
    return kept, path


def _trained(plan: Plan, training: Training, device: str | Device | None, band: Band, progress: Progress) -> _Trained:
    if isinstance(device, Device):
        session = open_session(Setup.of(plan, device.name), device)
        return train(session, training.steps, band, lambda _event, facts: progress(_said(facts)))
    return in_child(
        f"{__name__}:in_worker",
        Setup.of(plan, device),
        lambda folder: from_plain(_Trained, json.loads((folder / _LOSSES).read_text(encoding="utf-8"))),
        timeout_s=plan.case_timeout_s,
        further={"steps": training.steps, "band": to_plain(band)},
        heard=lambda event: progress(_said(event)) if "loss" in event else None,
    )


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does."""
    setup, further = orders(folder)
    report("open", {})
    trained = train(open_session(setup), further["steps"], from_plain(Band, further["band"]), report)
    text = json.dumps(to_plain(trained), allow_nan=False)
    (folder / _LOSSES).write_text(text, encoding="utf-8", newline="\n")


def train(session: Session, steps: int, band: Band, report: Report) -> _Trained:
    """Take up to ``steps`` steps; end sooner at a loss that is not finite, or when the test has passed twice in a row.

    One passing look could be luck, and looking again and again invites it; two looks, some steps apart, are not.
    """
    if session.workload.hook("train_step") is None:
        raise WorkloadError(
            "the workload has no train_step", path=session.workload.path, hint="see the workload contract"
        )
    losses: list[float] = []
    passed_before = False
    for step in range(steps):
        losses.append(_loss(session, step))
        report("step", {"step": step, "loss": losses[-1] if math.isfinite(losses[-1]) else None})
        if not math.isfinite(losses[-1]):
            break
        if len(losses) >= LEAST_POINTS and len(losses) % _CHECK_EVERY == 0:
            passed = judge_short(of_values("loss", losses), band).passed
            if passed and passed_before:
                break
            passed_before = passed
    kept = tuple(loss if math.isfinite(loss) else None for loss in losses)
    return _Trained(session.device.name, session.device.simulated, kept, session.workload.facts())


def _loss(session: Session, step: int) -> float:
    try:
        return loss_of(session.workload.call("train_step", step))
    except WorkloadError as error:
        known = fault_of(error.__cause__) if error.__cause__ else None
        if known is None:
            raise
        raise MeasurementError(known.text.en, path=error.path, line=error.line) from error


def _said(facts: dict[str, Any]) -> str:
    return f"short test, step {facts['step']}: loss {facts['loss']}"
