"""The README inside a kit: what the user of the GPU host must know, in Chinese, with the words of Mig_Readme §2.6."""

from __future__ import annotations

from collections.abc import Mapping

from npueval.commands import Export, Run, Template
from npueval.commands.templates import on_gpu, taken_in
from npueval.language import Text
from npueval.plan import Plan
from npueval.records import Baseline
from npueval.reporting import mig_readme

_RESULT = "<gpu_result>"


def leaflet(plan: Plan, baseline: Baseline, kit: str, needs: list[str]) -> str:
    """The text for a plan and its ``baseline``, of a kit called ``kit`` whose workload needs these files."""
    visible, run = on_gpu(plan.baseline.gpu_visible, kit)
    training = mig_readme.training(plan, baseline)
    command = plan.baseline.gpu.get("training_command", "")
    lines = [
        f"# {plan.project.name}：GPU 基线测试包",
        "",
        "由项目方在 GPU 主机上执行，与 Mig_Readme §2.6 一致。",
        "",
        f"- 环境：{mig_readme.environment(plan)}",
        f"- 与 Golden：{mig_readme.golden(plan)}",
        f"- 包内文件：{'、'.join(needs) or '只有工作负载文件本身'}",
        f"- 测量：预热 {plan.warmup} 次，采样 {plan.iterations} 次，全部原始样本写入结果",
        "",
        "## 推理 baseline",
        "",
        *_commands(visible, run),
        "",
        *_cells(mig_readme.inference(plan, baseline, kit)),
        "",
        "每种精度一个结果文件，在当前目录或 `--output` 指定的目录。带回后在计划文件所在目录执行，把 <…> 换成它：",
        "",
        *_commands(taken_in(plan.path.name, _RESULT)),
        "",
        "## 训练 baseline",
        "",
        *([*_code([*_lines(visible), command]), ""] if command and command in training["入口（脚本或命令）"] else []),
        *_cells(training),
    ]
    return "\n".join([*lines, ""])


def _cells(row: Mapping[str, str]) -> list[str]:
    """The cells of a row as a list; once, where one reason stands in all of them."""
    if len(set(row.values())) == 1:
        return [next(iter(row.values()))]
    return [f"- {name.partition('（')[0]}：{text}" for name, text in row.items()]


def _commands(*steps: Run | Export) -> list[str]:
    return _code(_lines(*steps))


def _lines(*steps: Run | Export) -> list[str]:
    return list(Template("leaflet", Text("", ""), steps, Text("", "")).lines())


def _code(lines: list[str]) -> list[str]:
    return ["```bash", *lines, "```"]
