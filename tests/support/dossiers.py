"""Whole evaluations made of Runs of known figures, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npueval import baselines, comparing, environment, gate, plan
from npueval.environment import Environment
from npueval.reporting import Dossier
from npueval.runs import Run
from npueval.runs.cases import Case
from npueval.runs.conditions import DeviceFacts, OutputCheck
from support import small_project
from support.machines import Machine, working
from support.make_runs import make_case, make_run, milliseconds

DEVICES = {
    "npu": DeviceFacts("npu:0", "npu", 0, "Ascend910B3"),
    "cuda": DeviceFacts("cuda:0", "cuda", 0, "A GPU"),
    "cpu": DeviceFacts("cpu", "cpu", None, "A processor"),
}


def made_on(kind: str, cases: Sequence[Case], **changes: Any) -> Run:
    """A Run of one kind of device whose outputs are right for the small project."""
    check = OutputCheck(True, result={"metric": "val_accuracy", "value": 0.9722, "n": 360, "direction": "higher"})
    known: dict[str, Any] = {"id": f"20260201T000000Z-{kind}-0000", "device": DEVICES[kind], "output_check": check}
    return make_run(**{**known, "cases": tuple(cases), "unit": "samples/s", **changes})


def environment_of(folder: Path, *, npu: bool = False) -> Environment:
    """What a bare machine, or one with a working card, says of itself."""
    folder.mkdir(parents=True)
    return environment.record(folder, host=(working(folder) if npu else Machine(folder).torch()).host)


def project(folder: Path, *, text: str = small_project.PLAN, log: str | None = small_project.LOG) -> plan.Plan:
    """The plan of the small project, written into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    return plan.load(small_project.write(folder, plan=text, log=log))


def dossier(wanted: plan.Plan, machine: Environment, *made: Run) -> Dossier:
    """The evaluation of some Runs, as the workflow makes it of what it finds."""
    gone = "NPU 未执行：门禁 UNKNOWN，见 environment.md"
    baseline = baselines.best(baselines.scan(wanted.root, wanted.baseline.logs), wanted)
    npu, gpu, cpu = ([run for run in made if run.device.kind == kind] for kind in DEVICES)
    comparison = comparing.compare(wanted, npu, baseline, gpu=gpu, cpu=cpu, reason_no_run=gone)
    files = {run.id: f"runs/{run.id}.json" for run in made}
    diagnosis = gate.examine(wanted.root, environment=machine)
    return Dossier(
        wanted, diagnosis, baseline, comparison, runs=made, no_npu=gone, no_cpu="项目未要求 CPU 对照", files=files
    )


def with_run(dossier: Dossier, run: Run | None, **changes: Any) -> Dossier:
    """The evaluation with one of its Runs changed, its comparison left as it is."""
    assert run is not None
    changed = replace(run, **changes)
    return replace(dossier, runs=tuple(changed if each is run else each for each in dossier.runs))


def lifelike(batch: int, centre: float, n: int = 200, seed: int = 0, **changes: Any) -> Case:
    """A case with five segments, a slow warm-up, a little drift, and two stalls."""
    shares = {"preprocess": 0.2, "h2d": 0.05, "infer": 0.6, "d2h": 0.03, "postprocess": 0.12}
    samples = {
        name: milliseconds(centre * share, n, spread=0.05, seed=seed + place)
        for place, (name, share) in enumerate(shares.items())
    }
    drift = np.linspace(1.0, 1.04, n)
    samples["infer"] = (samples["infer"] * drift).astype(np.int64)
    samples["infer"][[n // 3, n // 2]] *= 3
    warm = {name: (series[:20] * np.linspace(4, 1, min(20, n))).astype(np.int64) for name, series in samples.items()}
    whole = sum(int(series.sum()) for series in samples.values())
    known: dict[str, Any] = {"samples": samples, "warmup": warm, "window_ns": int(whole * 1.02), "items": batch * n}
    return make_case(batch, n=n, **{**known, **changes})
