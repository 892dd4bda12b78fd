"""Compare: environments and protocol, data sets, accuracy, performance, stages, verdicts, paths."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.cases import SEGMENTS
from npueval.plan import Dataset
from npueval.records import AccuracyRow, Change, ComparisonRow, Conclusion, Edit, Value
from npueval.reporting.cells import joined, missing, number, row, values
from npueval.reporting.dossier import Dossier
from npueval.reporting.mig_report import cann_and_plugin
from npueval.runs import Run

NAMES = {"preprocess": "预处理", "h2d": "H2D 拷贝", "infer": "推理", "d2h": "D2H 拷贝", "postprocess": "后处理"}
PERFORMANCE = "Compare#4"
ACCURACY = "Compare#3"
EXAMPLE_SCORE = "（如 Top-1 / mAP / MAE）"


def edits(dossier: Dossier) -> list[Edit]:
    """§1, §2.1–2.4, §3, §4, §4.1 and §6."""
    comparison = dossier.comparison
    verdicts = {
        "精度是否达标": _concluded(comparison.accuracy),
        "性能是否达标": _concluded(comparison.performance),
        "总体结论": _concluded(comparison.total),
    }
    return [
        *values("Compare#1", verdicts),
        *_baseline_environment(dossier),
        *values("Compare#2.2", _npu_environment(dossier)),
        *values("Compare#2.3", _protocol(dossier)),
        *_datasets(dossier),
        *_accuracy(dossier),
        *_performance(dossier),
        *_stages(dossier),
        *values("Compare#6", _paths(dossier)),
    ]


def _baseline_environment(dossier: Dossier) -> list[Edit]:
    return [
        *values("Compare#2.1", _choice(dossier)),
        *values("Compare#2.1[1]", _source(dossier)),
        *_side_by_side(dossier),
    ]


def _choice(dossier: Dossier) -> dict[str, str]:
    baseline, cpu = dossier.baseline, dossier.cpu_run
    log = baseline.source == "log"
    lacking = f"，缺 {'、'.join(baseline.missing)}" if baseline.missing else ""
    gpu = (
        f"已回传，见 {dossier.file_of(dossier.gpu_run)}"
        if dossier.gpu_run
        else missing("待用户按 Mig_Readme §2.6 补采")
    )
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
        "基线来源": f"项目日志（设备：{_fact(dossier, 'device_kind')}）"
        if baseline.source == "log"
        else "GPU 实测（用户回传）",
        "基线日志路径（若适用）": baseline.path or missing("基线不是日志"),
        "硬件型号（GPU 或日志中记载）": _fact(dossier, "device"),
        "框架与版本": _fact(dossier, "framework"),
        "框架/工程栈": _fact(dossier, "stack"),
        "Batch size": _fact(dossier, "batch"),
        "测量日期": _fact(dossier, "date"),
        "备注（日志摘录说明 / 待补采 / 缺 GPU）": _remark(dossier),
    }


def _remark(dossier: Dossier) -> str:
    baseline = dossier.baseline
    quoted = [f"{figure.metric} 摘自 {figure.source}" for figure in baseline.figures if figure.source]
    return joined(
        [*quoted[:3], f"日志缺：{'、'.join(baseline.missing)}，待补采" if baseline.missing else None, *baseline.doubts]
    )


def _fact(dossier: Dossier, key: str) -> str:
    return dossier.baseline.fact(key) or missing("日志未写")


def _side_by_side(dossier: Dossier) -> Iterator[Edit]:
    columns = (
        ("CPU 对照（可选）", dossier.cpu_run, dossier.no_cpu),
        ("GPU 基线（默认）", dossier.gpu_run, "待用户按 Mig_Readme §2.6 补采"),
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


def _npu_environment(dossier: Dossier) -> dict[str, str]:
    run, plan = dossier.npu_run, dossier.plan
    return {
        "Ascend 型号": run.device.model if run else missing(dossier.no_npu),
        "CANN / 运行时": cann_and_plugin(dossier),
        "入口脚本 / checkpoint 路径": joined([plan.workload, plan.project.checkpoint], " / "),
        "Batch size": f"{'、'.join(map(str, plan.batches))}（目标 {plan.target_batch}）",
        "测量日期": run.created[:10] if run else missing(dossier.no_npu),
    }


def _protocol(dossier: Dossier) -> dict[str, str]:
    plan = dossier.plan
    included = [segment for segment in SEGMENTS if segment in plan.segments]
    excluded = [segment for segment in SEGMENTS if segment not in plan.segments]
    scope = f"输入准备完成到输出准备完成；包含 {_named(included)}；不包含 {_named(excluded) or '其他环节'}"
    return {
        "延迟定义": f"{scope}；每次迭代前后做设备同步，主机时钟计时",
        "Warmup 次数": f"每个用例 {plan.warmup} 次，单独保存，不计入统计{_excuse(dossier, 'warmup')}",
        "采样次数 / iterations": f"每个用例 {plan.iterations} 次{_excuse(dossier, 'iterations')}",
        "统计量": "p50、p95（最近秩法：第 ⌈p·n⌉ 小的实测值）与 95% 区间，样本不足时不给出分位数",
        "吞吐定义": f"完成的样本数 ÷ 计时窗口的墙钟时间，单位 {plan.unit}，按样本计，所有卡合计",
    }


def _excuse(dossier: Dossier, key: str) -> str:
    reason = dossier.plan.reasons.get(key)
    return f"（低于下限的理由：{reason}）" if reason else ""


def _named(segments: list[str]) -> str:
    return "、".join(NAMES[segment] for segment in segments)


def _datasets(dossier: Dossier) -> list[Edit]:
    plan, baseline = dossier.plan, dossier.baseline
    full = plan.datasets.full or plan.datasets.inference
    columns = ("数据集（名称/版本）", "子集或划分", "用途（短测/冒烟/全量等）")
    log = baseline.source == "log"
    rows = {
        "基线（日志或 GPU）精度/性能": (_fact(dossier, "dataset"), _fact(dossier, "split"), "全量精度（训练日志）")
        if log
        else (missing(baseline.reason),) * 3,
        "基线 CPU 对照（可选）": _use(full, "性能评测") if dossier.cpu_run else (missing(dossier.no_cpu),) * 3,
        "昇腾 NPU 精度/性能": _use(full, "全量精度与性能评测"),
    }
    return [
        edit
        for label, cells in rows.items()
        for edit in row("Compare#2.4", label, dict(zip(columns, cells, strict=True)))
    ]


def _use(dataset: Dataset | None, use: str) -> tuple[str, str, str]:
    if dataset is None:
        gap = missing("计划未给出全量评测数据集")
        return gap, gap, gap
    return dataset.name, dataset.subset, use


def _concluded(conclusion: Conclusion) -> str:
    return f"{conclusion.verdict}（{conclusion.reason}）" if conclusion.reason else conclusion.verdict


def _accuracy(dossier: Dossier) -> Iterator[Edit]:
    for score in dossier.comparison.accuracy_rows:
        cells = (
            score.metric,
            _quoted(score.baseline),
            _shown(score.npu),
            score.refusal or missing("两侧不全") if score.difference is None else f"{score.difference:+.4g}",
            score.target or missing("计划未设阈值"),
            _judged(score),
        )
        yield Edit(f"{ACCURACY}/{score.metric}", cells, score.npu.source, after=EXAMPLE_SCORE)


def _judged(entry: AccuracyRow | ComparisonRow) -> str:
    if entry.judgement is None:
        return missing("计划未对此设目标")
    return f"{entry.judgement}（{entry.reason}）" if entry.reason else entry.judgement


def _performance(dossier: Dossier) -> Iterator[Edit]:
    yield from values(PERFORMANCE, _performance_basis(dossier))
    after = TEMPLATE_ROWS["throughput"]
    target = dossier.plan.target_batch, dossier.plan.concurrency[0], None
    for entry in dossier.comparison.rows:
        label = TEMPLATE_ROWS.get(entry.metric)
        if label and (entry.batch, entry.concurrency, entry.rate) == target:
            yield from row(PERFORMANCE, label, dict(zip(COLUMNS, _cells(entry), strict=True)), entry.npu.source)
        else:
            yield Edit(f"{PERFORMANCE}/{entry.label}", (entry.label, *_cells(entry)), entry.npu.source, after=after)
            after = entry.label


TEMPLATE_ROWS = {
    "latency_p50_ms": "延迟 p50 (ms)",
    "latency_p95_ms": "延迟 p95 (ms)",
    "throughput": "吞吐 (samples/s 或 images/s)",
}
COLUMNS = ("CPU 基线", "GPU 基线", "NPU（迁移后）", "对 CPU 提升/回退", "对 GPU 提升/回退", "目标", "是否达标")


def _cells(entry: ComparisonRow) -> tuple[str, ...]:
    return (
        _shown(entry.cpu),
        _shown(entry.gpu),
        _shown(entry.npu),
        _changed(entry.against_cpu),
        _changed(entry.against_gpu),
        entry.target or "—",
        _judged(entry),
    )


def _performance_basis(dossier: Dossier) -> dict[str, str]:
    done = dossier.npu_run and dossier.comparison.performance.verdict != "待定"
    return {
        "本次性能结论所依据的 baseline": why_this_baseline(dossier),
        "与归档对齐": "见 Summary §5，数字以本表为准" if done else missing("性能尚无结论，不归档"),
    }


def _shown(value: Value) -> str:
    return missing(value.reason) if value.value is None else number(value.value)


def _quoted(value: Value) -> str:
    return f"{_shown(value)}（{value.source}）" if value.value is not None and value.source else _shown(value)


def _changed(change: Change) -> str:
    if change.ratio is None:
        return change.refusal
    word = "提升" if change.ratio >= 1 else "回退"
    known = change.low is not None and change.high is not None
    bounds = f"，95% 区间 {change.low:.3g}–{change.high:.3g}" if known else ""
    return f"{word} {abs(change.ratio - 1):.1%}（{change.ratio:.3g} 倍{bounds}）"


TEMPLATE_STAGES = ("preprocess", "infer", "postprocess")


def _stages(dossier: Dossier) -> Iterator[Edit]:
    column = dossier.comparison.baseline_column or "gpu"
    after = ""
    for stage in dossier.comparison.stages:
        name = NAMES[stage.segment]
        cells = (
            _shown(stage.gpu if column == "gpu" else stage.cpu),
            _shown(stage.npu),
            f"p50，batch {stage.batch}，基线为 {column.upper()} 列",
        )
        if stage.segment in TEMPLATE_STAGES:
            yield from row("Compare#4.1", name, dict(zip(STAGE_COLUMNS, cells, strict=True)), stage.npu.source)
        else:
            yield Edit(f"Compare#4.1/{name}", (name, *cells), stage.npu.source, after=after)
        after = name


STAGE_COLUMNS = ("基线 (ms)", "迁移后 (ms)", "备注")


def _paths(dossier: Dossier) -> dict[str, str]:
    baseline = dossier.baseline
    npu = dossier.file_of(dossier.npu_run)
    return {
        "基线来源日志": _cited(dossier) if baseline.path else missing(baseline.reason),
        "昇腾评测日志": npu or missing(dossier.no_npu),
        "Profiling 结果（如有）": missing("本次未采集 profiling"),
    }


def _cited(dossier: Dossier) -> str:
    lines = sorted({figure.source.line for figure in dossier.baseline.figures if figure.source})
    return f"{dossier.baseline.path}（第 {'、'.join(map(str, lines))} 行）" if lines else str(dossier.baseline.path)
