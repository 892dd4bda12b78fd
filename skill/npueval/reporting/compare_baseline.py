"""Compare §2.1: which baseline, from where, why that one, and what it was measured on."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.records import Edit
from npueval.reporting.cells import joined, missing, values
from npueval.reporting.dossier import Dossier
from npueval.runs import Run

NO_GPU = "待用户按 Mig_Readme §2.6 补采"


def edits(dossier: Dossier) -> list[Edit]:
    """The fields and both tables of §2.1."""
    return [
        *values("Compare#2.1", _choice(dossier)),
        *values("Compare#2.1[1]", _source(dossier)),
        *_side_by_side(dossier),
    ]


def _choice(dossier: Dossier) -> dict[str, str]:
    baseline, cpu = dossier.baseline, dossier.cpu_run
    log = baseline.source == "log"
    lacking = f"，缺 {'、'.join(baseline.missing)}" if baseline.missing else ""
    gpu = f"已回传，见 {dossier.file_of(dossier.gpu_run)}" if dossier.gpu_run else missing(NO_GPU)
    return {
        "项目内完整训练日志（优先）": f"{baseline.path}（证据等级 {baseline.grade.value}{lacking}）"
        if log
        else missing(baseline.reason),
        "无可用日志时（默认 GPU）": gpu,
        "CPU 对照（可选）": f"项目要求，已测，见 {dossier.file_of(cpu)}" if cpu else missing(dossier.no_cpu),
        "最终对比结论须写清": why_this_baseline(dossier),
    }


def why_this_baseline(dossier: Dossier) -> str:
    """Which baseline the conclusions rest on, and why that one."""
    baseline = dossier.baseline
    if dossier.gpu_run:
        performance = "性能基线为 GPU 实测（用户回传）"
    else:
        performance = "性能尚无基线（日志不含推理延迟，GPU 待补采），不作性能结论"
    accuracy = f"精度基线摘自项目日志 {baseline.path}" if baseline.source == "log" else "精度尚无基线"
    return joined([accuracy, performance])


def _source(dossier: Dossier) -> dict[str, str]:
    baseline = dossier.baseline
    if baseline.source == "none":
        gap = missing(baseline.reason)
        return dict.fromkeys(
            (
                "基线来源",
                "基线日志路径（若适用）",
                "硬件型号（GPU 或日志中记载）",
                "框架与版本",
                "框架/工程栈",
                "Batch size",
                "测量日期",
            ),
            gap,
        ) | {"备注（日志摘录说明 / 待补采 / 缺 GPU）": "待补采：见 Mig_Readme §2.6"}
    return {
        "基线来源": f"项目日志（设备：{logged(dossier, 'device_kind')}）"
        if baseline.source == "log"
        else "GPU 实测（用户回传）",
        "基线日志路径（若适用）": baseline.path or missing("基线不是日志"),
        "硬件型号（GPU 或日志中记载）": logged(dossier, "device"),
        "框架与版本": logged(dossier, "framework"),
        "框架/工程栈": logged(dossier, "stack"),
        "Batch size": logged(dossier, "batch"),
        "测量日期": logged(dossier, "date"),
        "备注（日志摘录说明 / 待补采 / 缺 GPU）": _remark(dossier),
    }


def _remark(dossier: Dossier) -> str:
    baseline = dossier.baseline
    quoted = [f"{figure.metric} 摘自 {figure.source}" for figure in baseline.figures if figure.source]
    return joined(
        [*quoted[:3], f"日志缺：{'、'.join(baseline.missing)}，待补采" if baseline.missing else None, *baseline.doubts]
    )


def logged(dossier: Dossier, key: str) -> str:
    """A condition as the baseline states it."""
    return dossier.baseline.fact(key) or missing("日志未写")


def _side_by_side(dossier: Dossier) -> Iterator[Edit]:
    columns = (
        ("CPU 对照（可选）", dossier.cpu_run, dossier.no_cpu),
        ("GPU 基线（默认）", dossier.gpu_run, NO_GPU),
    )
    for column, run, reason in columns:
        facts = _facts_of(run, dossier) if run else dict.fromkeys(_FACTS, missing(reason))
        for label, text in facts.items():
            yield Edit(f"Compare#2.1[2]/{label}/{column}", text, run.id if run else "")


_FACTS = ("硬件型号", "框架与版本", "Batch size", "测量日期", "备注")


def _facts_of(run: Run, dossier: Dossier) -> dict[str, str]:
    packages = run.environment.get("packages") or {}
    framework = joined([f"{name} {packages[name]}" for name in ("torch", "numpy") if packages.get(name)])
    batches = "、".join(str(batch) for batch in dict.fromkeys(case.batch for case in run.cases))
    texts = (
        run.device.model,
        framework or missing("测量记录未写"),
        batches,
        run.created[:10],
        joined([f"测量记录 {dossier.file_of(run)}", _doubted(run)]),
    )
    return dict(zip(_FACTS, texts, strict=True))


def _doubted(run: Run) -> str | None:
    count = len(list(run.all_doubts()))
    return f"含 {count} 条疑点，见该记录的 doubts" if count else None
