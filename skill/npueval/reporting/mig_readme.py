"""Mig_Readme §2.6: what the user runs on a GPU, only where the project's own log does not already answer it."""

from __future__ import annotations

import shlex

from npueval.commands.templates import KIT, on_gpu
from npueval.plan import Plan
from npueval.records import Baseline, Edit
from npueval.reporting.cells import joined, missing, row, values
from npueval.reporting.datasets import USES
from npueval.reporting.dossier import Dossier

PLACE = "Mig_Readme#2.6"
COLUMNS = (
    "设备",
    "入口（脚本或命令）",
    "关键参数（如 --device、CUDA_VISIBLE_DEVICES、batch、权重路径）",
    "与 §3.1 哪一行数据集对齐",
    "备注",
)


def edits(dossier: Dossier) -> list[Edit]:
    """The three rows and the two fields of §2.6."""
    plan, baseline = dossier.plan, dossier.baseline
    answered = _answered_by_log(baseline)
    rows = {
        "推理 baseline（默认）": _row(_nothing(answered)) if answered else inference(plan, baseline),
        "训练 baseline（若适用，默认）": training(plan, baseline),
        "CPU 对照（可选）": _row(_cpu(dossier)),
    }
    return [
        *(edit for label, cells in rows.items() for edit in row(PLACE, label, cells)),
        *values(PLACE, {"环境": environment(plan), "与 Golden": golden(plan)}),
    ]


def _row(cells: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(COLUMNS, cells, strict=True))


def _answered_by_log(baseline: Baseline) -> str:
    """The log's path where it holds all that is asked for, inference figures included."""
    latency = baseline.figure("latency_p50_ms") or baseline.figure("latency_mean_ms")
    return baseline.path or "" if baseline.source == "log" and latency and not baseline.missing else ""


def _nothing(reason: str) -> tuple[str, ...]:
    return (missing(reason),) * len(COLUMNS)


def inference(plan: Plan, baseline: Baseline, kit: str = KIT) -> dict[str, str]:
    """What the user runs for the inference baseline; also in the leaflet of the kit."""
    visible, run = on_gpu(plan.baseline.gpu_visible, kit)
    own = plan.baseline.gpu.get("inference_command")
    why = f"训练日志 {baseline.path} 不含推理延迟" if baseline.source == "log" else "项目内没有可引用的完整日志"
    made = shlex.join(("npueval", "baseline", "kit", plan.path.name, "-o", kit))
    return _row(
        (
            "GPU（用户执行）",
            _code(shlex.join(run.argv)),
            joined(
                [
                    _code(f"{visible.name}={shlex.quote(visible.value)}"),
                    _batches(plan),
                    f"精度 {'、'.join(plan.precisions)}",
                    _weights(plan),
                    f"输入由种子 {plan.seed} 生成",
                    "输出 gpu_result-<编号>.json",
                ]
            ),
            f"“{USES['inference'][0]}”行",
            joined([why, f"测试包由 {_code(made)} 生成", _own(own)]),
        )
    )


def training(plan: Plan, baseline: Baseline) -> dict[str, str]:
    """What the user runs for the training baseline, where it applies; also in the leaflet of the kit."""
    command = plan.baseline.gpu.get("training_command")
    if baseline.source == "log":
        return _row(_nothing(f"训练指标已见日志 {baseline.path}，无需重跑"))
    if plan.datasets.training is None:
        return _row(_nothing("计划中本项目不训练"))
    if command is None:
        return _row(_nothing("计划未给出 baseline.gpu.training_command"))
    return _row(
        (
            "GPU（用户执行）",
            _code(command),
            _code(f"CUDA_VISIBLE_DEVICES={shlex.quote(plan.baseline.gpu_visible)}"),
            f"“{USES['training'][0]}”行",
            "保留完整训练日志后重新执行 npueval run",
        )
    )


def _cpu(dossier: Dossier) -> tuple[str, ...]:
    plan = dossier.plan
    if not plan.baseline.cpu:
        return _nothing("项目未要求 CPU 对照")
    command = f"npueval measure {shlex.quote(plan.path.name)} --device cpu"
    done = f"已测，见 {dossier.file_of(dossier.cpu_run)}" if dossier.cpu_run else dossier.no_cpu
    return "CPU", _code(command), joined([_batches(plan), _weights(plan)]), f"“{USES['inference'][0]}”行", done


def environment(plan: Plan) -> str:
    """What the GPU host must have."""
    given = plan.baseline.gpu.get("environment") or plan.baseline.gpu.get("framework")
    return given or "GPU 主机需有 Python ≥ 3.10、与其 CUDA 匹配的 torch 和 numpy；测试包不安装任何软件"


def golden(plan: Plan) -> str:
    """How the outputs over there are known to be right."""
    return f"测试包按种子 {plan.seed} 生成与 NPU 侧相同的输入，并附带 Golden 输入与输出的哈希，回传时逐项核对"


def _batches(plan: Plan) -> str:
    return f"batch {'、'.join(map(str, plan.batches))}（目标 {plan.target_batch}）"


def _weights(plan: Plan) -> str | None:
    return f"权重 {plan.project.checkpoint}" if plan.project.checkpoint else None


def _own(command: str | None) -> str | None:
    return f"工程自带入口 {_code(command)}（只作功能核对，不作延迟依据）" if command else None


def _code(text: str) -> str:
    return f"`{text}`"
