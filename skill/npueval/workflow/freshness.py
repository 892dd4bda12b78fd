"""Is what was measured or verified still of this workload and this plan? Evidence of an older one proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from npueval import golden, smoke, training
from npueval.commands import file_argument, quoted
from npueval.golden import Manifest
from npueval.plan import Plan
from npueval.runs.conditions import WorkloadFacts
from npueval.smoke import Smoke
from npueval.training import Record
from npueval.workloads import needs

_LABELS = {
    "workload": "workload",
    "code_sha256": "workload 所在目录的代码",
    "device": "设备",
    "precision": "精度",
    "precision_mode": "精度方式",
    "seed": "种子",
    "batch": "batch",
    "batches": "batch",
    "dataset": "短测数据集",
    "metric": "指标",
    "steps": "步数",
    "band": "降幅要求",
}
_HASHES = frozenset({"code_sha256"})


def of_smoke(found: Smoke, plan: Plan) -> str:
    """Why a smoke test no longer counts; empty where it does."""
    return _told(_files(found.made_with, plan), _differing(found.conditions, smoke.conditions(plan)))


def of_golden(found: Manifest, plan: Plan, precision: str) -> str:
    """Why a golden set no longer counts as that of a plan at a precision; empty where it does."""
    held = {name: getattr(found, name) for name in ("precision", "precision_mode", "seed", "batch")}
    return _told(_files(found.workload, plan), _differing(held, golden.conditions(plan, precision)))


def of_short_test(found: Record, plan: Plan) -> str:
    """Why a short test no longer counts; empty where it does."""
    wanted = training.configuration(plan, found.device, found.verdict.band)
    files = _files(found.made_with, plan) if found.made_with else iter(())
    return _told(files, _differing(found.configuration, wanted))


def altered(made_with: WorkloadFacts, plan: Plan) -> list[str]:
    """The files of a workload that are here and are no longer what they were."""
    workload = plan.root / plan.workload.partition(":")[0]
    return list(needs.altered(made_with.files(workload.name), workload.parent))


def command(plan: Plan, *words: str) -> str:
    """What to run again, in the folder of the plan."""
    return " ".join(("npueval", *words, quoted(file_argument(plan.path.name), "bash")))


def _files(made_with: WorkloadFacts | None, plan: Plan) -> Iterator[str]:
    if made_with is None:
        yield "记录没有写明它用了哪些文件"
    elif made_with.ref != plan.workload:
        yield "计划换了 workload"
    elif names := altered(made_with, plan):
        yield f"{'、'.join(names)} 已改变"


def _differing(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        if name not in held:
            yield f"记录没有写明{_LABELS[name]}"
        elif held[name] != value:
            yield f"{_LABELS[name]} 已改变" + ("" if name in _HASHES else f"（{_said(held[name])} → {_said(value)}）")


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "、".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)


def _told(*reasons: Iterator[str]) -> str:
    return "；".join(dict.fromkeys(reason for several in reasons for reason in several))
