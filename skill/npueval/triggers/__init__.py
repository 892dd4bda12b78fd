"""Are the performance and the accuracy section triggered? Then the five parts; else the not-executed block.

Performance (any one): the user asked; the machine can run tests and the user agreed; the acceptance criteria hold a
latency or throughput KPI. Accuracy (any one): the user asked for a quantified verdict; reproducible test data and a
baseline definition exist; the machine can run tests, or the user brought offline results.
"""

from __future__ import annotations

from collections.abc import Iterable

from npueval import globs
from npueval.commands import Template, file_argument, quoted
from npueval.commands.templates import DEFAULT_SET_ENV, Values, templates
from npueval.errors import NotExecuted
from npueval.gate.diagnosis import Diagnosis
from npueval.language import Lang, Text, one_line, same
from npueval.logs import ours
from npueval.plan import Dataset, Plan
from npueval.tolerances import DEFAULTS
from npueval.triggers.answers import Block, Condition, Decision, FiveParts, Pending, Trigger
from npueval.triggers.devices_here import missing
from npueval.triggers.fiveparts import build

_PERFORMANCE_KPIS = ("latency", "throughput")


def decide(plan: Plan, diagnosis: Diagnosis) -> Decision:
    """Both triggers, every condition with its evidence."""
    performance = (_asked_performance(plan), _runs_and_agreed(plan, diagnosis), _has_kpi(plan))
    accuracy = (_asked_accuracy(plan), _reproducible(plan), _runs_or_offline(plan, diagnosis))
    return Decision(Trigger(performance), Trigger(accuracy))


def _asked_performance(plan: Plan) -> Condition:
    return _asked(
        plan.request.performance, "用户要求性能测试或对比", "the user asked for performance", "request.performance"
    )


def _asked_accuracy(plan: Plan) -> Condition:
    return _asked(plan.request.accuracy, "用户要求可量化的回归结论", "the user asked for a verdict", "request.accuracy")


def _asked(met: bool, zh: str, en: str, key: str) -> Condition:
    return Condition(Text(zh, en), met, same(f"{key}: {str(met).lower()}"))


def _runs_and_agreed(plan: Plan, diagnosis: Diagnosis) -> Condition:
    agreed = plan.request.agreed
    return Condition(
        Text("环境可直接执行测试且用户同意执行", "tests can run here and the user agreed"),
        diagnosis.runnable and agreed,
        Text(
            f"{_state(diagnosis).zh}，request.agreed: {str(agreed).lower()}",
            f"{_state(diagnosis).en}, request.agreed: {str(agreed).lower()}",
        ),
    )


def _state(diagnosis: Diagnosis) -> Text:
    if diagnosis.runnable:
        return Text("门禁 AUTO，可直接执行测试", "gate AUTO, tests can run")
    return Text(f"门禁 {diagnosis.gate.value}，不能直接执行测试", f"gate {diagnosis.gate.value}, tests cannot run")


def _has_kpi(plan: Plan) -> Condition:
    named = [f"request.kpis: {kpi}" for kpi in plan.request.kpis if kpi in _PERFORMANCE_KPIS]
    keys = ("latency_p50_ms", "latency_p95_ms", "throughput", "ratio_to_baseline")
    limits = [(key, getattr(plan.targets, key)) for key in keys]
    named += [f"targets.{key}: {limit:g}" for key, limit in limits if limit is not None]
    return Condition(
        Text("验收标准含延迟/吞吐 KPI", "the acceptance holds a latency or throughput KPI"),
        bool(named),
        Text(
            "、".join(named) or "request.kpis 与 targets 均无",
            ", ".join(named) or "neither request.kpis nor targets has one",
        ),
    )


def _reproducible(plan: Plan) -> Condition:
    data = [dataset for dataset in _test_data(plan) if dataset]
    baseline = _baseline(plan)
    named = Text(f"{data[0].name}（{data[0].subset}）", f"{data[0].name} ({data[0].subset})") if data else None
    return Condition(
        Text("已具备可复现测试数据与基线口径", "reproducible test data and a baseline definition exist"),
        bool(data and baseline),
        Text(
            f"测试数据：{named.zh if named else '未列'}；基线口径：{baseline or '未列'}",
            f"test data: {named.en if named else 'none listed'}; baseline: {baseline or 'none listed'}",
        ),
    )


def _test_data(plan: Plan) -> tuple[Dataset | None, ...]:
    return plan.datasets.full, plan.datasets.inference, plan.datasets.golden


def _baseline(plan: Plan) -> str:
    logs = ", ".join(pattern for pattern in plan.baseline.logs if _means_a_log(plan, pattern))
    gpu = "baseline.gpu" if plan.baseline.gpu else ""
    return logs or gpu


def _means_a_log(plan: Plan, pattern: str) -> bool:
    """Whether there is such a file that this tool did not print: the command templates keep their output there too."""
    return any(not ours.wrote(path) for path in globs.found(plan.root, pattern))


def _runs_or_offline(plan: Plan, diagnosis: Diagnosis) -> Condition:
    offline = plan.request.offline_results
    return Condition(
        Text("环境允许直接跑测试，或用户提供了离线结果", "tests can run here, or the user brought offline results"),
        diagnosis.runnable or offline,
        Text(
            f"{_state(diagnosis).zh}，request.offline_results: {str(offline).lower()}",
            f"{_state(diagnosis).en}, request.offline_results: {str(offline).lower()}",
        ),
    )


def answer(plan: Plan, diagnosis: Diagnosis, decision: Decision, lang: Lang = "zh") -> FiveParts | Block:
    """The five parts when something is triggered and tests can run on this machine's NPU; else the block."""
    absent = missing(plan, diagnosis) if diagnosis.runnable else None
    if decision.met and diagnosis.runnable and not absent:
        return build(plan, diagnosis.environment, decision, lang)
    reasons = [*_untriggered(decision), *_closed(diagnosis), *([absent] if absent else [])]
    pending = [*_ask_for(plan, decision, lang), *_put_right(diagnosis, lang), *(_choose(plan, lang) if absent else [])]
    return Block(lang, diagnosis.gate, decision, _said(reasons, lang), tuple(pending), commands(plan, diagnosis))


def refused(plan: Plan, diagnosis: Diagnosis, error: NotExecuted, device: str, lang: Lang = "zh") -> Block:
    """The block where a device that was asked for is not there: the device's own reason leads."""
    reasons = [Text(f"要求的设备 {device} 不可用：{error.message}", f"{device} cannot be used: {error.message}")]
    proof = Text("再次运行同一命令，不再报告此原因", "the same command does not give this reason any more")
    pending = [Pending(one_line(error.hint or error.message), proof.say(lang))]
    # What keeps the NPU from running says nothing about another device.
    if device.partition(":")[0] == "npu":
        reasons += _closed(diagnosis)
        pending += _put_right(diagnosis, lang)
    decision, said = decide(plan, diagnosis), _said(reasons, lang)
    return Block(lang, diagnosis.gate, decision, said, tuple(pending), commands(plan, diagnosis))


def _choose(plan: Plan, lang: Lang) -> list[Pending]:
    condition = Text(
        "把计划的 device 改为本机可见的设备，或在 ASCEND_RT_VISIBLE_DEVICES / CUDA_VISIBLE_DEVICES 中放出该卡",
        "name a device that is visible here in the plan, or let it be seen by ASCEND_RT_VISIBLE_DEVICES or"
        " CUDA_VISIBLE_DEVICES",
    )
    proof = Text("`npueval check` 不再报告此原因", "`npueval check` does not give this reason any more")
    return [Pending(condition.say(lang), proof.say(lang), _again(plan))]


def _again(plan: Plan) -> str:
    return f"npueval check {quoted(file_argument(plan.path.name), 'bash')}"


def _said(texts: Iterable[Text], lang: Lang) -> tuple[str, ...]:
    return tuple(one_line(text.say(lang)) for text in texts)


def _untriggered(decision: Decision) -> list[Text]:
    if decision.met:
        return []
    conditions = (*decision.performance.conditions, *decision.accuracy.conditions)
    return [
        Text(f"未触发：{c.name.zh}（{c.evidence.zh}）", f"not triggered: {c.name.en} ({c.evidence.en})")
        for c in conditions
    ]


def _closed(diagnosis: Diagnosis) -> list[Text]:
    return [] if diagnosis.runnable else [_state(diagnosis), *diagnosis.reasons]


def _ask_for(plan: Plan, decision: Decision, lang: Lang) -> list[Pending]:
    if decision.met:
        return []
    condition = Text(
        "满足任一触发条件：提出性能或精度要求、同意执行、或给出延迟/吞吐 KPI",
        "any one trigger: ask for performance or accuracy, agree to a run, or set a latency or throughput KPI",
    )
    proof = Text(
        "计划中 request.performance / accuracy / agreed / kpis 已填写，`npueval check` 显示已触发",
        "request.performance, accuracy, agreed or kpis is set in the plan, and `npueval check` says triggered",
    )
    return [Pending(condition.say(lang), proof.say(lang), _again(plan))]


def _put_right(diagnosis: Diagnosis, lang: Lang) -> list[Pending]:
    return [Pending(one_line(a.text.say(lang)), one_line(a.proof.say(lang)), a.command) for a in diagnosis.actions]


def commands(plan: Plan, diagnosis: Diagnosis) -> tuple[Template, ...]:
    """The command templates, filled with what the plan and the machine know."""
    environment = diagnosis.environment
    cann = environment.ascend.cann
    default = DEFAULTS.get(plan.precision)
    rtol, atol = plan.tolerances.rtol, plan.tolerances.atol
    # The plan's index counts among the visible cards: all up to it must be.
    index = int(plan.device.partition(":")[2] or 0) if plan.device_kind == "npu" else 0
    return templates(
        Values(
            plan=plan.path.name,
            set_env=(cann.set_env if cann else None) or DEFAULT_SET_ENV,
            visible=environment.visible_devices or ",".join(map(str, range(index + 1))),
            gpu_visible=plan.baseline.gpu_visible,
            cards=len(environment.npu.chips) if len(environment.npu.chips) > 1 else None,
            rtol=default.rtol if rtol is None and default else rtol,
            atol=default.atol if atol is None and default else atol,
        )
    )
