"""Take in what the user brings back from a GPU host: the kit's result, or figures in another tool's form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npueval import baselines, runs
from npueval.baselines import foreign
from npueval.errors import FormatError, Problem
from npueval.kit.building import KITS
from npueval.kit.manifest import RESULT_FORMAT, RESULT_VERSION, KitManifest, digest_of
from npueval.kit.possible import impossible
from npueval.plaindata import body_of
from npueval.plan import Plan
from npueval.records import Baseline, Grade
from npueval.runs import Run
from npueval.workloads.needs import changed

LARGEST = 512 << 20
PICKLES = (".pt", ".pth", ".pkl", ".npy", ".npz", ".ckpt")


@dataclass(frozen=True)
class Check:
    """One thing that was compared (Chinese); a kit's result whose checks all pass is grade A."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class Ingested:
    """What was taken in and where it was put. ``run`` is ``None`` for figures without raw samples."""

    path: Path
    baseline: Baseline
    checks: tuple[Check, ...] = ()
    run: Run | None = None

    @property
    def grade(self) -> Grade:
        """A only where a kit's result passed every check."""
        return Grade.A if self.checks and all(check.passed for check in self.checks) else self.baseline.grade


def ingest(file: Path, plan: Plan, facts: Mapping[str, str] | None = None) -> Ingested:
    """Check a file and put it where the report finds it: a Run among the plan's Runs, figures beside them.

    ``facts`` are what the user says of figures that do not say it themselves (device, batch, precision …).
    :class:`FormatError` where the file is of no known form, was changed, is of another plan, or cannot be true.
    """
    raw = _read(file)
    data = _json(raw)
    if isinstance(data, dict) and str(data.get("format", "")).startswith(RESULT_FORMAT):
        return _kit_result(data, plan, file)
    if isinstance(data, dict) and str(data.get("format", "")).startswith(runs.FORMAT):
        return _save_run(_checked_run(data, plan, file), (), plan)
    baseline = foreign.read(raw, data, file, plan, facts or {})
    baselines.save(baseline, plan.runs / baselines.BROUGHT)
    return Ingested(plan.runs / baselines.BROUGHT, baseline)


def _read(file: Path) -> bytes:
    if file.suffix.lower() in PICKLES:
        raise FormatError("arrays and checkpoints are never unpickled", path=file, hint="bring the kit's JSON result")
    try:
        if not file.is_file():
            raise FormatError("no such file", path=file)
        if file.stat().st_size > LARGEST:
            raise FormatError(f"larger than {LARGEST >> 20} MiB", path=file)
        return file.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=file) from None


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _kit_result(data: dict[str, Any], plan: Plan, file: Path) -> Ingested:
    try:
        body = body_of(data, RESULT_FORMAT, RESULT_VERSION, "kit result", file)
        stated = body.pop("digest", None)
        manifest = KitManifest.from_data(body.get("manifest"))
    except FormatError as error:
        raise FormatError(error.message, path=file, hint=error.hint) from None
    if stated != digest_of(body):
        raise FormatError("the result was changed after the kit wrote it", path=file, hint="run the kit again")
    run = _checked_run(body.get("run"), plan, file)
    checks = tuple(_checks(manifest, body, run, plan))
    failed = [f"{check.name}：{check.detail}" for check in checks if not check.passed]
    kit = {"manifest": manifest.sha256, "grade": "B" if failed else "A", "failed": failed}
    noted = replace(run, environment={**run.environment, "kit": kit}, doubts=(*run.doubts, *failed))
    return _save_run(noted, checks, plan)


def _checked_run(data: Any, plan: Plan, file: Path) -> Run:
    """The Run of its JSON form, which must be of this plan and can be true."""
    try:
        run = runs.from_data(data)
    except FormatError as error:
        raise FormatError(error.message, path=file, hint=error.hint) from None
    if run.plan_sha256 not in {each.sha256 for each in plan.each()}:
        raise FormatError(
            "measured by another version of the plan", path=file, hint="make a kit of the plan as it is now"
        )
    reasons = list(impossible(run))
    if run.simulated:
        reasons.append("made on a simulated device")
    if reasons:
        problems = [Problem(reason, path=file.name) for reason in reasons]
        raise FormatError("the result cannot be true", path=file, problems=problems)
    return run


def _checks(manifest: KitManifest, body: Mapping[str, Any], run: Run, plan: Plan) -> Iterator[Check]:
    kept = plan.runs / KITS / f"{manifest.sha256}.json"
    yield _check("测试包清单", kept.is_file(), "不是本项目生成的测试包，或清单被改动")
    found = body.get("found")
    yield _check("测试包内容", found == dict(manifest.files), "执行时的文件与清单不符")
    workload = plan.root / plan.workload.partition(":")[0]
    held = {workload.name: run.workload.sha256, **run.workload.needs}
    other = list(changed(held, workload.parent))
    yield _check("工作负载与权重", not other, f"与本地不同：{'、'.join(other[:5])}")
    yield _check("随机种子", run.seed == manifest.seed == plan.seed, f"{run.seed} 与 {plan.seed}")
    inputs = {str(fact.batch): fact.sha256 for fact in run.inputs}
    yield _check("输入", inputs == dict(manifest.inputs), "输入的哈希与生成测试包时不同")
    golden = body.get("golden") or {}
    yield _check("Golden 输出", golden.get("passed") is True, str(golden.get("reason") or "没有比对"))
    yield _check("完整性", run.complete, "有用例没有测完")
    yield _check("输出校验", run.valid, "；".join(run.invalid))


def _check(name: str, passed: bool, otherwise: str) -> Check:
    return Check(name, passed, "" if passed else otherwise)


def _save_run(run: Run, checks: tuple[Check, ...], plan: Plan) -> Ingested:
    return Ingested(runs.save(run, plan.runs), baselines.of_run(run), checks, run)
