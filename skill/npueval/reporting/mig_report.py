"""Mig_report: the environment of the run, what was verified, where the logs lie."""

from __future__ import annotations

from npueval.environment import Environment
from npueval.records import Edit
from npueval.reporting.cells import joined, missing, values
from npueval.reporting.dossier import Column, Dossier

COLUMNS: tuple[Column, ...] = ("npu", "cpu", "gpu")
UNRECORDED = "测量记录未写环境"
_FACTS = (
    "npu-smi 关键信息（驱动/设备）",
    "CANN / 框架 Ascend 插件版本",
    "PyTorch+torch_npu 或 MindSpore 等版本",
    "OS / 容器镜像（如有）",
)


def edits(dossier: Dossier) -> list[Edit]:
    """§3 environment, §6 check boxes, §8 log paths."""
    return [
        *values("Mig_report#3", _environment(dossier)),
        *_checks(dossier),
        Edit("Mig_report#8/运行日志路径", _logs(dossier)),
    ]


def _environment(dossier: Dossier) -> dict[str, str]:
    environment = dossier.environment
    if environment is None:
        return dict.fromkeys(_FACTS, missing(UNRECORDED))
    texts = (
        _npu(dossier, environment),
        cann_and_plugin(environment),
        _frameworks(environment),
        joined(
            [
                f"{environment.system.os}（{environment.system.kernel}，{environment.system.architecture}）",
                _container(environment),
            ]
        ),
    )
    return dict(zip(_FACTS, texts, strict=True))


def _npu(dossier: Dossier, environment: Environment) -> str:
    if not environment.devices or not environment.npu.chips:
        return missing(dossier.no_npu)
    driver = f"驱动 {environment.driver}" if environment.driver else "驱动版本未能读取"
    return joined([driver, f"{len(environment.devices)} 个设备：{environment.devices[0]}"])


def cann_and_plugin(environment: Environment | None) -> str:
    """The CANN and torch_npu versions of a machine, each ``N/A`` with its reason where it has none."""
    if environment is None:
        return missing(UNRECORDED)
    cann, plugin = environment.cann, environment.packages.get("torch_npu")
    return joined(
        [
            f"CANN {cann}" if cann else f"CANN {missing('本机未找到 CANN 安装')}",
            f"torch_npu {plugin}" if plugin else f"torch_npu {missing('未安装')}",
        ]
    )


def _frameworks(environment: Environment) -> str:
    named = ("torch", "torch_npu", "mindspore", "paddlepaddle")
    found = [f"{name} {environment.packages[name]}" for name in named if environment.packages.get(name)]
    return joined([*found, f"Python {environment.python.version}"])


def _container(environment: Environment) -> str | None:
    return f"容器或沙箱迹象：{'、'.join(environment.sandbox)}" if environment.sandbox else None


def _checks(dossier: Dossier) -> list[Edit]:
    run = dossier.npu_run
    ran = run is not None and run.valid and not run.simulated and bool(run.cases)
    comparison = dossier.comparison
    boxes = {
        "NPU 加载与单次前向通过": ran,
        "全量精度达标": comparison.accuracy.passed,
        "性能（延迟/吞吐）达标": comparison.performance.passed,
    }
    return [Edit(f"Mig_report#6/{label}", ticked, run.id if run else "") for label, ticked in boxes.items()]


def _logs(dossier: Dossier) -> str:
    parts = [
        f"{column.upper()} 测量（{run.precision}）{dossier.file_of(run)}"
        for column in COLUMNS
        for run in dossier.runs_of(column)
        if dossier.file_of(run)
    ]
    if dossier.npu_run is None:
        parts.append(f"NPU 测量 {missing(dossier.no_npu)}")
    parts += [found.text for found in map(dossier.verified.get, ("golden", "short_test", "formal_training")) if found]
    return joined([*parts, f"训练日志 {dossier.baseline.path}" if dossier.baseline.path else None])
