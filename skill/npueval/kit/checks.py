"""What a kit's result must agree in with the project it was made for: where all of it does, the result is grade A."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from npueval.kit.building import KITS
from npueval.kit.manifest import PROJECT, KitManifest
from npueval.language import joined
from npueval.measuring import case_specs
from npueval.plan import Plan
from npueval.possible import CLOCK_SKEW, moment
from npueval.runs import Run
from npueval.workloads.needs import changed


@dataclass(frozen=True)
class Check:
    """One thing that was compared (Chinese); a kit's result whose checks all pass is grade A."""

    name: str
    passed: bool
    detail: str = ""


def checks(manifest: KitManifest, body: Mapping[str, Any], run: Run, plan: Plan) -> Iterator[Check]:
    """Every check of a result (``body``, of a sound form) against the plan, its project, and the kits it made."""
    kept = plan.runs / KITS / f"{manifest.sha256}.json"
    yield _check("测试包清单", kept.is_file(), "不是本项目生成的测试包，或清单被改动")
    yield _check("测试包内容", body["found"] == dict(manifest.files), "执行时的文件与清单不符")
    other = list(_other_files(manifest, run, plan))
    yield _check("工作负载与权重", not other, f"与本地不同：{'、'.join(other[:5])}")
    yield _check("随机种子", run.seed == manifest.seed == plan.seed, f"{run.seed} 与 {plan.seed}")
    inputs = {str(fact.batch): fact.sha256 for fact in run.inputs}
    unlike = [batch for batch in {**manifest.inputs, **inputs} if manifest.inputs.get(batch) != inputs.get(batch)]
    yield _check("输入", not unlike, f"输入的哈希与生成测试包时不同：batch {'、'.join(unlike)}")
    golden = body["golden"]
    yield _check("Golden 输出", golden["passed"], golden["reason"] or "没有比对")
    unfinished = list(_unfinished(run, plan))
    yield _check("完整性", not unfinished, f"没有测完：{'、'.join(unfinished)}")
    yield _check("输出校验", run.valid, joined(run.wrong, "；").zh)
    yield _check("测量时间", not _before(run.created, manifest.created), f"{run.created} 早于测试包 {manifest.created}")


def _other_files(manifest: KitManifest, run: Run, plan: Plan) -> Iterator[str]:
    """What was measured and does not lie here, then what was packed and is not what was measured."""
    file = PurePosixPath(plan.workload.partition(":")[0])
    workload = (plan.root / file).resolve()
    yield from changed({workload.name: run.workload.sha256, **run.workload.needs}, workload.parent)
    held = {file.name: run.workload.sha256, **run.workload.needs}
    measured = {posixpath.normpath(PurePosixPath(PROJECT, file.parent, name)): held[name] for name in held}
    for name in (name for name in manifest.files if name.startswith(f"{PROJECT}/")):
        # What is only imported may differ between a CPU and a GPU; data and weights are declared.
        missing_module = name not in measured and name.endswith(".py")
        if measured.get(name) != manifest.files[name] and not missing_module:
            yield name


def _unfinished(run: Run, plan: Plan) -> Iterator[str]:
    """The planned cases that are absent or were broken off."""
    held = {case.name: case for case in run.cases}
    told = {*(name for case in run.cases for name in case.samples), *run.not_measured}
    yield from (f"{name} 未测且未说明" for name in plan.segments if name not in told)
    for name in (spec.empty().name for spec in case_specs(plan)):
        if name not in held:
            yield f"缺 {name}"
        elif not held[name].complete:
            yield f"{name} 止于 {held[name].n} 个样本"
    if not run.complete and all(case.complete for case in run.cases):
        yield "测量中断"


def _before(measured: str, made: str) -> bool:
    """Whether something was measured before its kit was made, by more than two hosts' clocks may differ."""
    first, second = moment(measured), moment(made)
    return first is None or second is None or first < second - CLOCK_SKEW


def _check(name: str, passed: bool, otherwise: str) -> Check:
    return Check(name, passed, "" if passed else otherwise)
