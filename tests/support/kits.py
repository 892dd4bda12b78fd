"""A kit's result as it comes back, without a kit that ran: for tests of what is made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from npueval import runs
from npueval.kit.building import KITS
from npueval.kit.manifest import RESULT_FORMAT, RESULT_VERSION, KitManifest, digest_of
from npueval.language import same
from npueval.plan import Plan
from npueval.runs import Run
from npueval.runs.conditions import ArrayFacts, DeviceFacts, InputFacts, WorkloadFacts
from support.make_runs import make_case, make_run

GPU = DeviceFacts("cuda:0", "cuda", 0, "NVIDIA A100")
CREATED = "2026-02-01T00:00:00Z"


def run_of(plan: Plan, **changes: Any) -> Run:
    """What a GPU would have measured of a plan of batches 1 and 4 and 100 iterations."""
    source = (plan.root / "workload.py").read_bytes()
    known = make_run()
    mine: dict[str, Any] = {
        "id": "20260201T000000Z-cuda-0000",
        "created": CREATED,
        "device": GPU,
        "unit": plan.unit,
        "seed": plan.seed,
        "plan_sha256": plan.sha256,
        "protocol": replace(known.protocol, iterations=plan.iterations, warmup=plan.warmup, scope=plan.segments),
        "not_measured": {name: same("not needed") for name in plan.segments if name not in ("preprocess", "infer")},
        "workload": WorkloadFacts(plan.workload, hashlib.sha256(source).hexdigest(), 16),
        "inputs": tuple(InputFacts(b, f"{b}" * 64, (ArrayFacts((b, 4), "float32"),)) for b in plan.batches),
        "cases": tuple(make_case(batch, 2.0 * batch, n=plan.iterations) for batch in plan.batches),
    }
    return replace(known, **{**mine, **changes})


def result_of(plan: Plan, run: Run) -> dict[str, Any]:
    """The result of a kit of the plan, whose manifest the plan's folder knows."""
    manifest = KitManifest(
        tool="0.1.0",
        created=CREATED,
        plan_sha256=plan.sha256,
        seed=plan.seed,
        batches=plan.batches,
        files={"plan.json": "a" * 64, "golden.npz": "b" * 64, "project/workload.py": run.workload.sha256},
        inputs={str(fact.batch): fact.sha256 for fact in run.inputs},
    )
    kept = plan.runs / KITS / f"{manifest.sha256}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(manifest.to_data()), encoding="utf-8")
    body = {
        "manifest": manifest.to_data(),
        "found": dict(manifest.files),
        "run": runs.to_data(run),
        "golden": {"passed": True, "reason": ""},
    }
    return sealed(body)


def sealed(body: dict[str, Any]) -> dict[str, Any]:
    """A result around its body, its digest right: also what somebody writes who means to deceive."""
    return {"format": f"{RESULT_FORMAT}/{RESULT_VERSION}", "digest": digest_of(body), **body}


def changed(result: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A copy of a result after ``change``, its digest made right again."""
    body = json.loads(json.dumps({key: value for key, value in result.items() if key not in ("format", "digest")}))
    change(body)
    return sealed(body)


def written(path: Path, content: Any) -> Path:
    """A file of JSON, of text or of bytes."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="\n")
    return path
