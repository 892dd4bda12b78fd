"""The five parts of the mandatory answer, filled from the plan and the machine: nothing that is known stays open."""

from __future__ import annotations

import os
from pathlib import Path

from npueval.environment import Environment
from npueval.language import Lang, Text, joined, one_line, same
from npueval.plan import Dataset, Plan
from npueval.tolerances import DEFAULTS
from npueval.triggers import sentences
from npueval.triggers.answers import PART_KEYS, PART_TITLES, Decision, FiveParts, Part, Row
from npueval.triggers.devices_here import present
from npueval.triggers.reporttable import table

SEGMENTS = {
    "preprocess": Text("预处理（preprocess）", "preprocessing"),
    "h2d": Text("主机→设备拷贝（h2d）", "host to device copy (h2d)"),
    "infer": Text("推理（infer）", "inference"),
    "d2h": Text("设备→主机拷贝（d2h）", "device to host copy (d2h)"),
    "postprocess": Text("后处理（postprocess）", "postprocessing"),
}
_USES = ("short_test", "smoke", "golden", "full", "training", "inference")
_UNKNOWN = Text("未知", "unknown")


def build(plan: Plan, environment: Environment, decision: Decision, lang: Lang = "zh") -> FiveParts:
    """The complete answer in one language."""
    facts = {**_plan_facts(plan), **_scope_facts(plan), "environment": _environment(environment, plan.device_kind)}
    facts["triggered"] = _triggered(decision)
    parts = [
        Part(
            key,
            title.say(lang),
            _rows(part, facts, lang),
            table(plan, decision, lang) if key == PART_KEYS[-1] else None,
        )
        for key, title, part in zip(PART_KEYS, PART_TITLES, sentences.PARTS, strict=True)
    ]
    return FiveParts(lang, decision, tuple(parts))


Facts = dict[str, Text | str | int | float]


def _rows(part: tuple[sentences.Sentence, ...], facts: Facts, lang: Lang) -> tuple[Row, ...]:
    return tuple(Row(label.say(lang), one_line(value.filled(facts).say(lang))) for label, value in part)


def _plan_facts(plan: Plan) -> Facts:
    facts: Facts = {use: _dataset(getattr(plan.datasets, use)) for use in _USES}
    return {
        **facts,
        "project": plan.project.name,
        "workload": plan.workload,
        "device": plan.device,
        "precision": ", ".join(plan.precisions),
        "mode": plan.precision_mode,
        "batches": ", ".join(str(batch) for batch in plan.batches),
        "target": plan.target_batch,
        "batches_reason": _reason(plan, "batches"),
        "load": _load(plan),
        "warmup": plan.warmup,
        "warmup_reason": _reason(plan, "warmup"),
        "iterations": plan.iterations,
        "iterations_reason": _reason(plan, "iterations"),
        "timeout": f"{plan.case_timeout_s:g}",
        "unit": plan.unit,
        "seed": plan.seed,
        "tolerance": _tolerance(plan),
        "baseline": _baseline(plan),
        "runs": _relative(plan, plan.runs),
        "documents": _relative(plan, plan.documents),
    }


def _scope_facts(plan: Plan) -> Facts:
    included = [text for name, text in SEGMENTS.items() if name in plan.segments]
    excluded = [text for name, text in SEGMENTS.items() if name not in plan.segments]
    listed = joined(excluded)
    return {
        "included": joined(included),
        "excluded": Text(f"{listed.zh}；", f"{listed.en}; ") if excluded else "",
        "end_to_end": _end_to_end(complete=not excluded),
    }


def _end_to_end(*, complete: bool) -> Text:
    if complete:
        return Text(
            "五个环节之和：从“输入准备完成”到“输出准备完成”", "all five segments: from input ready to output ready"
        )
    return Text(
        "所列环节之和；有环节未计入，不是“输入准备完成→输出准备完成”的完整端到端",
        "the sum of the listed segments; some are left out, so it is not the whole way from input to output",
    )


def _triggered(decision: Decision) -> Text:
    pairs = ((decision.performance, Text("性能", "performance")), (decision.accuracy, Text("精度", "accuracy")))
    named = []
    for trigger, name in pairs:
        if trigger.met:
            evidence = joined((condition.evidence for condition in trigger.because), "；", "; ")
            named.append(Text(f"{name.zh}（{evidence.zh}）", f"{name.en} ({evidence.en})"))
    return joined(named)


def _environment(environment: Environment, kind: str) -> Text:
    """Device, versions, system, commit and digest; what cannot be read is said to be unknown."""
    devices, commit = present(environment, kind), environment.commit
    facts = (
        (Text("设备", "device"), f"{devices[0]} × {len(devices)}" if devices else None),
        (Text("驱动", "driver"), environment.driver),
        (same("CANN"), environment.cann),
        (same("torch"), environment.packages.get("torch")),
        (same("torch_npu"), environment.packages.get("torch_npu")),
        (same("Python"), environment.python.version),
        (Text("系统", "system"), environment.system.os),
        (Text("代码版本", "commit"), commit.sha[:12] if commit else None),
        (Text("环境指纹", "environment digest"), environment.digest),
    )
    return joined(
        (Text(f"{label.zh} {value or _UNKNOWN.zh}", f"{label.en} {value or _UNKNOWN.en}") for label, value in facts),
        "，",
    )


def _load(plan: Plan) -> Text:
    closed = [
        Text(f"闭环并发 {workers}", f"closed loop of {workers} workers")
        if workers > 1
        else Text("单请求顺序执行", "single requests in sequence")
        for workers in plan.concurrency
    ]
    opened = [
        Text(
            f"开环泊松到达 {rate:g} 请求/s（延迟从计划时刻起算）",
            f"open loop of {rate:g} req/s, from the scheduled time",
        )
        for rate in plan.arrival_rates
    ]
    return joined([*closed, *opened])


def _reason(plan: Plan, key: str) -> str | Text:
    reason = plan.reasons.get(key)
    return Text(f"（计划说明：{reason}）", f" (the plan says: {reason})") if reason else ""


def _dataset(dataset: Dataset | None) -> Text:
    if dataset is None:
        return Text("不适用（计划中为 null）", "does not apply (null in the plan)")
    same_as = dataset.same_as_baseline
    return Text(
        f"{dataset.name}，{dataset.subset}，路径 {dataset.path}" + (f"，与基线：{same_as}" if same_as else ""),
        f"{dataset.name}, {dataset.subset}, at {dataset.path}"
        + (f", against the baseline: {same_as}" if same_as else ""),
    )


def _tolerance(plan: Plan) -> Text:
    return joined([_tolerance_at(each) for each in plan.each()], "；", "; ")


def _tolerance_at(plan: Plan) -> Text:
    default = DEFAULTS.get(plan.precision)
    rtol = plan.tolerances.rtol if plan.tolerances.rtol is not None or default is None else default.rtol
    atol = plan.tolerances.atol if plan.tolerances.atol is not None or default is None else default.atol
    if rtol is None or atol is None:
        return Text(
            f"{plan.precision} 无默认容差，须在计划中给出", f"{plan.precision} has no default: set it in the plan"
        )
    return same(f"{plan.precision}: rtol {rtol:g}, atol {atol:g}")


def _baseline(plan: Plan) -> Text:
    logs = ", ".join(plan.baseline.logs)
    named = [
        Text(f"优先项目训练日志（{logs}）", f"the project's logs ({logs})")
        if logs
        else Text("计划未列项目日志", "no project log in the plan"),
        Text("否则 GPU 实测，由用户执行", "else a GPU, run by the user"),
    ]
    if plan.baseline.cpu:
        named.append(Text("另附 CPU 对照", "and the CPU beside it"))
    return joined(named, "，")


def _relative(plan: Plan, path: Path) -> str:
    return os.path.relpath(path, plan.root).replace(os.sep, "/")
