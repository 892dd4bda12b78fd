"""Compare §2.1: which baseline, from where, why that one, and what it was measured on."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.records import Baseline, Edit, Grade
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
    baseline = dossier.baseline
    log = baseline.source == "log"
    lacking = f"，缺 {'、'.join(baseline.missing)}" if baseline.missing else ""
    grades = f"{baseline.grade.value}{_of_accuracy(dossier)}"
    back = dossier.file_of(dossier.gpu_run) or (dossier.brought.path if dossier.brought else None)
    return {
        "项目内完整训练日志（优先）": f"{baseline.path}（证据等级 {grades}{lacking}）"
        if log
        else missing(baseline.reason),
        "无可用日志时（默认 GPU）": f"已回传，见 {back}" if back else missing(NO_GPU),
        "CPU 对照（可选）": _cpu(dossier),
        "最终对比结论须写清": why_this_baseline(dossier),
    }


def _of_accuracy(dossier: Dossier) -> str:
    """The grade of the log's accuracy, where data set and samples beside it make it worth more than the rest."""
    rows = dossier.comparison.accuracy_rows[:1]
    better = [row for row in rows if row.grade not in (Grade.NONE, dossier.baseline.grade)]
    quoted = [row for row in better if row.baseline.source.startswith(f"{dossier.baseline.path}:")]
    return "".join(f"；其中 {row.metric} 写有数据集与样本数，为 {row.grade.value} 级" for row in quoted)


def _cpu(dossier: Dossier) -> str:
    run = dossier.cpu_run
    if run is None:
        return missing(dossier.no_cpu)
    return f"项目要求，已测，见 {dossier.file_of(run)}{_graded(run)}"


def why_this_baseline(dossier: Dossier) -> str:
    """Which baseline the conclusions rest on, and why that one."""
    return joined([_accuracy_basis(dossier), _performance_basis(dossier)])


def _accuracy_basis(dossier: Dossier) -> str:
    sources = [entry.baseline.source for entry in dossier.comparison.accuracy_rows if entry.baseline.value is not None]
    if not sources:
        return "精度尚无基线"
    if dossier.gpu_run and dossier.gpu_run.id in sources:
        return "精度基线为 GPU 实测（用户回传）"
    return f"精度基线摘自项目日志 {dossier.baseline.path}"


def _performance_basis(dossier: Dossier) -> str:
    column = dossier.comparison.baseline_column
    if column is None:
        return "性能尚无基线（日志不含推理延迟，GPU 待补采），不作性能结论"
    if column == "gpu" and dossier.gpu_run:
        return f"性能基线为 GPU 实测（用户回传{_graded(dossier.gpu_run)}）"
    if column == "gpu" and dossier.brought:
        return f"性能基线为 GPU 实测（用户回传，证据等级 {dossier.brought.grade.value}）"
    return f"性能基线摘自项目日志 {dossier.baseline.path}（{column.upper()}）"


FIELDS = (
    "基线来源",
    "基线日志路径（若适用）",
    "硬件型号（GPU 或日志中记载）",
    "框架与版本",
    "框架/工程栈",
    "Batch size",
    "测量日期",
    "备注（日志摘录说明 / 待补采 / 缺 GPU）",
)


def _source(dossier: Dossier) -> dict[str, str]:
    """What was measured on a GPU stands before the log, as it does in the verdict."""
    if dossier.gpu_run:
        return _of_gpu_run(dossier, dossier.gpu_run)
    baseline = dossier.brought or dossier.baseline
    if baseline.source == "none":
        source = "CPU 实测（项目要求的对照，不作性能结论的依据）" if dossier.cpu_run else missing(baseline.reason)
        gaps = dict.fromkeys(FIELDS, missing(baseline.reason))
        return gaps | {FIELDS[0]: source, FIELDS[-1]: "待补采：见 Mig_Readme §2.6"}
    log = baseline.source == "log"
    texts = (
        f"项目日志（设备：{logged(dossier, 'device_kind')}）" if log else "GPU 实测（用户回传）",
        baseline.path or missing("基线不是日志"),
        *(baseline.fact(key) or missing("日志未写") for key in ("device", "framework", "stack", "batch", "date")),
        _remark(baseline),
    )
    return dict(zip(FIELDS, texts, strict=True))


def _of_gpu_run(dossier: Dossier, run: Run) -> dict[str, str]:
    model, framework, batches, date, remark = _facts_of(run, dossier).values()
    log = dossier.baseline.path
    own = f"项目训练日志 {log} 作为参照" if log else None
    path, stack = missing("基线不是日志"), missing("测量记录未写")
    texts = ("GPU 实测（用户回传）", path, model, framework, stack, batches, date, joined([remark, own]))
    return dict(zip(FIELDS, texts, strict=True))


def _remark(baseline: Baseline) -> str:
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
    brought = dossier.brought if dossier.brought and dossier.brought.fact("device_kind") == "gpu" else None
    for column, run, reason in columns:
        facts = _facts_of(run, dossier) if run else dict.fromkeys(_FACTS, missing(reason))
        if brought and not run and column == columns[1][0]:
            facts = _facts_of_figures(brought)
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
        joined([f"测量记录 {dossier.file_of(run)}{_graded(run)}", doubted(run)]),
    )
    return dict(zip(_FACTS, texts, strict=True))


def _facts_of_figures(brought: Baseline) -> dict[str, str]:
    known = (brought.fact(key) or missing("文件未写") for key in ("device", "framework", "batch", "date"))
    remark = joined([f"摘自 {brought.path}，证据等级 {brought.grade.value}", *brought.doubts])
    return dict(zip(_FACTS, (*known, remark), strict=True))


def _graded(run: Run) -> str:
    """The grade of what a kit brought, as it was found when it was taken in; nothing for what was measured here."""
    kit = run.environment.get("kit")
    if not kit:
        return ""
    failed = kit.get("failed") or ["测试包核对全部通过"]
    return f"，证据等级 {kit.get('grade')}：{'、'.join(failed)}"


def doubted(run: Run) -> str | None:
    """How many doubts a Run has, and where they stand; ``None`` where it has none."""
    count = len(list(run.all_doubts()))
    return f"含 {count} 条疑点，见该记录的 doubts" if count else None
