"""The README inside a kit: what the user of the GPU host must know, in Chinese, with commands to copy."""

from __future__ import annotations

import shlex

from npueval.commands.templates import RUN_KIT
from npueval.plan import Plan


def leaflet(plan: Plan, needs: list[str]) -> str:
    """The text for a plan whose workload needs these files."""
    gpu = plan.baseline.gpu
    use = plan.datasets.inference or plan.datasets.full
    training = gpu.get("training_command")
    lines = [
        f"# {plan.project.name}：GPU 基线测试包",
        "",
        "在 GPU 主机上执行；只需要 Python ≥ 3.10、与显卡匹配的 torch 和 numpy，不安装任何软件。",
        "",
        "```bash",
        f"export CUDA_VISIBLE_DEVICES={shlex.quote(plan.baseline.gpu_visible)}",
        " ".join(RUN_KIT),
        "```",
        "",
        f"- batch：{'、'.join(map(str, plan.batches))}（目标 {plan.target_batch}）；精度 {'、'.join(plan.precisions)}；"
        f"预热 {plan.warmup} 次，采样 {plan.iterations} 次，种子 {plan.seed}",
        f"- 权重与代码已在包内：{'、'.join(needs) or '工作负载文件本身'}",
        f"- 输入由种子生成，与昇腾侧逐字节相同；对应 Mig_Readme §3.1 的“{use.name if use else '推理'}”",
        "- 输出：当前目录下的 `gpu_result-<编号>.json`（含全部原始样本），带回后执行 "
        "`npueval baseline ingest gpu_result-<编号>.json`",
    ]
    if training and plan.training:
        lines += ["", "训练指标（保留完整日志带回）：", "", "```bash", training, "```"]
    return "\n".join([*lines, ""])
