"""Compare §2.2–2.4: the NPU's environment, the protocol, the data sets behind each side."""

from __future__ import annotations

from npueval.plan import Dataset
from npueval.records import Edit
from npueval.reporting.cells import SEGMENT_NAMES, joined, missing, model_of, row, values
from npueval.reporting.compare_baseline import logged
from npueval.reporting.dossier import Dossier
from npueval.reporting.mig_report import cann_and_plugin
from npueval.runs.cases import SEGMENTS


def edits(dossier: Dossier) -> list[Edit]:
    """§2.2, §2.3 and §2.4."""
    return [
        *values("Compare#2.2", _npu_environment(dossier)),
        *values("Compare#2.3", _protocol(dossier)),
        *_datasets(dossier),
    ]


def _npu_environment(dossier: Dossier) -> dict[str, str]:
    run, plan = dossier.npu_run, dossier.plan
    return {
        "Ascend 型号": model_of(run) if run else missing(dossier.no_npu),
        "CANN / 运行时": cann_and_plugin(dossier.environment),
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
    return "、".join(SEGMENT_NAMES[segment] for segment in segments)


def _datasets(dossier: Dossier) -> list[Edit]:
    plan, baseline = dossier.plan, dossier.baseline
    full = plan.datasets.full or plan.datasets.inference
    columns = ("数据集（名称/版本）", "子集或划分", "用途（短测/冒烟/全量等）")
    log = baseline.source == "log"
    rows = {
        "基线（日志或 GPU）精度/性能": (logged(dossier, "dataset"), logged(dossier, "split"), "全量精度（训练日志）")
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
