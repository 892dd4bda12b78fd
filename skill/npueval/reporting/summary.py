"""Summary: what the other four documents say, on one page. Every figure is one of Compare's."""

from __future__ import annotations

from npueval.records import ComparisonRow, Conclusion, Edit, Gate
from npueval.reporting.cells import joined, missing, model_of, number, row, said, values
from npueval.reporting.compare_baseline import why_this_baseline
from npueval.reporting.dossier import Dossier
from npueval.reporting.mig_report import UNRECORDED
from npueval.reporting.verified import NAMES

_FACTS = (
    "Ascend 型号",
    "驱动版本",
    "CANN 版本",
    "CANN / 框架 Ascend 插件版本",
    "Python / 关键依赖",
    "框架 Ascend 插件 / torch_npu 等",
)
FAILED = "Summary#适配失败或受阻时（勾选适用项，并写关键证据）"
SNAPSHOT = "Summary#已成功适配时（请与 Compare.md、Mig_Readme.md §3.1 对齐）"


def edits(dossier: Dossier) -> list[Edit]:
    """The snapshot, §3, §4.1, §5.1, §5.3 and the open points of §6."""
    return [
        *values("Summary#总览", _overview(dossier)),
        *values(SNAPSHOT, _snapshot(dossier)),
        *values("Summary#3", _environment(dossier)),
        *values("Summary#4.1", _gate(dossier)),
        *values("Summary#5.1", _inference(dossier)),
        *_blocked(dossier),
        *_verdicts(dossier),
        Edit("Summary#6/未解决问题", _open_points(dossier)),
    ]


def _overview(dossier: Dossier) -> dict[str, str]:
    total = dossier.comparison.total
    state = {"通过": "已成功适配", "有条件通过": "部分完成", "不通过": "失败", "待定": "部分完成"}[total.verdict]
    if dossier.npu_run is None:
        state = "受阻"
    return {"迁移/适配状态": f"{state}（性能与精度评测）", "一句话结论": f"{total.verdict}：{total.reason}"}


def _snapshot(dossier: Dossier) -> dict[str, str]:
    plan, comparison = dossier.plan, dossier.comparison
    full = plan.datasets.full or plan.datasets.inference
    dataset = f"{full.name}，{full.subset}" if full else missing("计划未给出全量评测数据集")
    model = model_of(dossier.npu_run) if dossier.npu_run else missing(dossier.no_npu)
    column = comparison.baseline_column
    return {
        "本次性能对比实际采用的 baseline": f"{column.upper()} 列（证据等级 {comparison.grade.value}）"
        if column
        else missing("没有性能基线"),
        "选用原因（必填）": why_this_baseline(dossier),
        "性能测试环境": model,
        "性能测试数据集": dataset,
        "性能结论摘要": said(comparison.performance),
        "精度测试环境": model,
        "精度测试数据集": dataset,
        "精度结论摘要": said(comparison.accuracy),
    }


def _blocked(dossier: Dossier) -> list[Edit]:
    """The boxes of what holds the migration up, as far as it was decided here."""
    comparison = dossier.comparison
    boxes = {
        "精度不达标": comparison.accuracy.verdict == "不通过",
        "性能不达标": comparison.performance.verdict == "不通过",
        "MANUAL_STOP": dossier.diagnosis.gate is Gate.MANUAL_STOP,
    }
    return [Edit(f"{FAILED}/{label}", ticked) for label, ticked in boxes.items()]


def _environment(dossier: Dossier) -> dict[str, str]:
    adopted = {"only": "本次会话", "inside": "沙箱内", "outside": "沙箱外（宿主机）"}[dossier.diagnosis.adopted]
    return {
        **{f"{key}/值": text for key, text in zip(_FACTS, _facts(dossier), strict=True)},
        "沙箱检测策略": "沙箱内外各读一次并合并"
        if dossier.diagnosis.other
        else "只读了一侧；沙箱内看不到设备时须在沙箱外复检",
        "最终采信环境": adopted,
        "采信原因": "能实际运行测试的一侧" if dossier.diagnosis.runnable else "唯一可得的读数，尚不能运行测试",
    }


def _facts(dossier: Dossier) -> tuple[str, ...]:
    environment, run = dossier.environment, dossier.npu_run
    if environment is None:
        return (model_of(run) if run else missing(dossier.no_npu), *(missing(UNRECORDED),) * (len(_FACTS) - 1))
    cann = environment.cann or missing("本机未找到 CANN 安装")
    plugin = environment.packages.get("torch_npu") or missing("torch_npu 未安装")
    torch = environment.packages.get("torch")
    model = model_of(run) if run else environment.devices[0] if environment.npu.chips else None
    return (
        f"{model} × {len(environment.devices) or 1}" if model else missing(dossier.no_npu),
        environment.driver or missing("本机未读到驱动版本"),
        cann,
        joined([cann, plugin]),
        joined([f"Python {environment.python.version}", f"torch {torch}" if torch else None]),
        plugin,
    )


def _gate(dossier: Dossier) -> dict[str, str]:
    diagnosis = dossier.diagnosis
    steps = "；".join(f"{n}. {action.text.zh}" for n, action in enumerate(diagnosis.actions, 1))
    stopped = diagnosis.gate is Gate.MANUAL_STOP
    return {
        "4.0.3 判定": diagnosis.gate.value,
        "判定依据摘要": "；".join(reason.zh for reason in diagnosis.reasons) or "各项检查通过",
        "若 MANUAL_STOP": steps if stopped else missing(f"判定为 {diagnosis.gate.value}"),
    }


def _inference(dossier: Dossier) -> dict[str, str]:
    comparison = dossier.comparison
    return {
        "全量精度结论（引用 Compare.md）": said(comparison.accuracy),
        "性能结论（p50/p95/吞吐）": joined([said(comparison.performance), _figures(dossier)]),
    }


def _figures(dossier: Dossier) -> str | None:
    rows = [entry for entry in dossier.comparison.rows if entry.batch == dossier.plan.target_batch][:3]
    return joined([_figure(entry) for entry in rows], "，") or None


def _figure(entry: ComparisonRow) -> str | None:
    names = {"latency_p50_ms": "p50", "latency_p95_ms": "p95", "throughput": "吞吐"}
    if entry.npu.value is None or entry.metric not in names:
        return None
    return f"{names[entry.metric]} {number(entry.npu.value)} {entry.unit}"


def _verdicts(dossier: Dossier) -> list[Edit]:
    comparison = dossier.comparison
    rows = {"精度": comparison.accuracy, "性能": comparison.performance, "总体结论": comparison.total}
    return [
        edit
        for label, conclusion in rows.items()
        for edit in row(
            "Summary#5.3", label, {"是否达标": conclusion.verdict, "结论说明": conclusion.reason or conclusion.verdict}
        )
    ]


def _open_points(dossier: Dossier) -> str:
    points = [] if dossier.npu_run else [f"NPU 数据缺失（{dossier.no_npu}）"]
    points += (
        [f"基线缺 {'、'.join(dossier.baseline.missing)}"] if dossier.baseline.missing and not dossier.gpu_run else []
    )
    points += [f"{name} 未通过" for key, name in NAMES.items() if _failed(dossier, key)]
    points += [f"{name}{each.verdict}" for name, each in _concluded(dossier) if each.verdict in ("不通过", "待定")]
    return joined(points) or "无"


def _failed(dossier: Dossier, key: str) -> bool:
    return key in dossier.verified and dossier.verified[key].passed is False


def _concluded(dossier: Dossier) -> tuple[tuple[str, Conclusion], ...]:
    return ("性能", dossier.comparison.performance), ("精度", dossier.comparison.accuracy)
