"""torch and torch_npu: installed, importable, and able to run one small operator."""

from __future__ import annotations

import re

from npueval.environment import Environment
from npueval.environment.probe import WRONG_RESULT
from npueval.gate import compatibility
from npueval.gate.checks.base import TABLE, Action, Check, Facts, Item, Results, Stage, Text, pip_install
from npueval.gate.checks.device import RECHECK
from npueval.gate.versions import read
from npueval.records import Gate

_TORCH = Item("torch", "PyTorch", "PyTorch", needed=True)
_PLUGIN = Item("torch_npu", "torch_npu 导入", "torch_npu import", needed=True)
_OPERATOR = Item("operator", "NPU 最小算子", "one small operator on the NPU", needed=True)
_ASIDE = Item("operator_aside", "NPU 最小算子（另一侧）", "one small operator (the other reading)", needed=True)
_NUMPY = Item("numpy", "numpy 版本", "numpy version")
_RUNTIME = Item("runtime", "运行时提示", "runtime hints")


def torch(facts: Facts) -> Results:
    """Does the framework itself import?"""
    stage, probe = facts.environment.probe.stage("torch"), facts.environment.probe
    if stage is None:
        yield _TORCH.failed("未安装 torch", "torch is not installed")
        yield _install(facts)
    elif stage.ok:
        yield _TORCH.passed(f"torch {stage.facts.get('version')}", f"torch {stage.facts.get('version')}")
    elif stage.ok is None:
        yield _TORCH.unknown(
            f"import torch 未结束（{probe.ended}）", f"import torch did not end ({probe.ended})", Gate.UNKNOWN
        )
    else:
        yield _TORCH.failed(f"import torch 失败：{stage.error}", f"import torch fails: {stage.error}")
        yield _install(facts)


def plugin(facts: Facts) -> Results:
    """Does torch_npu import, and does it see a device? Not being importable says nothing about the hardware."""
    probe = facts.environment.probe
    stage = probe.stage("torch_npu")
    if "torch_npu" not in facts.environment.packages and stage is None:
        yield _PLUGIN.failed("未安装 torch_npu", "torch_npu is not installed")
        yield _install(facts)
    elif stage is None:
        yield _PLUGIN.unknown("torch 不可用，未尝试导入 torch_npu", "not tried: torch does not import")
    elif stage.ok is None:
        yield _PLUGIN.unknown(f"导入未结束（{probe.ended}）", f"the import did not end ({probe.ended})", Gate.UNKNOWN)
    elif not stage.ok:
        yield from _import_failed(facts, stage.error or "")
    elif not stage.facts.get("count"):
        yield _PLUGIN.failed(
            f"torch_npu {stage.facts.get('version')} 可导入，但看不到任何 NPU",
            f"torch_npu {stage.facts.get('version')} imports and sees no NPU",
            Gate.UNKNOWN if facts.environment.ascend.cards else Gate.AUTO,
        )
    else:
        version, count = stage.facts.get("version"), stage.facts.get("count")
        yield _PLUGIN.passed(f"torch_npu {version}，可见 {count} 个设备", f"torch_npu {version}, {count} device(s)")


def _import_failed(facts: Facts, error: str) -> Results:
    """A missing CANN library has three causes that look alike: not loaded, not installed, no Ascend at all."""
    missing = re.search(r"lib[\w.]+\.so[\w.]*", error)
    library = missing[0] if missing and "cannot open" in error else None
    if library is None:
        yield _PLUGIN.failed(f"import torch_npu 失败：{error}", f"import torch_npu fails: {error}")
        return
    cause = _cause(facts)
    yield _PLUGIN.failed(
        f"import torch_npu 失败：找不到 {library}。{cause.zh}。"
        "此时直接 import torch 也会报错（torch 会自动加载 torch_npu）",
        f"import torch_npu fails: {library} is not found. {cause.en}. A plain `import torch` raises as well here,"
        " because torch loads torch_npu by itself",
    )


def _cause(facts: Facts) -> Text:
    ascend = facts.environment.ascend
    if ascend.cann is not None:
        return Text("CANN 已安装但未加载 set_env", "CANN is installed and its set_env.sh is not loaded")
    if ascend.cards:
        return Text("本机有 NPU 设备节点，但没有安装 CANN", "there are NPU device nodes and no CANN")
    return Text(
        "未安装 CANN，本会话也看不到 NPU；导入失败本身不能说明有没有硬件",
        "neither CANN nor an NPU is visible in this session; the failing import says nothing about the hardware",
    )


def _install(facts: Facts) -> Action:
    """torch and torch_npu as published for the CANN that is there; unknown stays unknown."""
    wanted = (need for need in facts.needs.about("torch") if not facts.needs.disputed(need))
    pinned = next((read(need.constraint.lstrip("=")) for need in wanted), None)
    cann = facts.environment.cann
    pairs = compatibility.packages_for(cann, pinned.public if pinned else None) if cann else ()
    pairs = pairs or (compatibility.packages_for(cann) if cann else ())
    if pairs:
        pair = pairs[0]
        what = f"torch=={pair.torch} torch-npu=={pair.torch_npu}"
        return pip_install(
            f"按配套表为 CANN {cann} 安装：{what}（{TABLE}）", f"install for CANN {cann}: {what} ({TABLE})", what
        )
    return pip_install(
        f"按官方配套表选择与 CANN 配套的 torch 与 torch_npu（{TABLE}；本机 CANN：{cann or '未知'}）",
        f"choose torch and torch_npu for CANN {cann or '(unknown here)'} from the published table ({TABLE})",
        "<torch==X> <torch-npu==X>",
    )


def operator(facts: Facts) -> Results:
    """An import proves little: the operator must give the right result."""
    probe = facts.environment.probe
    stage = probe.stage("operator")
    if facts.ran:
        yield _OPERATOR.passed("2×2 矩阵乘在 npu:0 上结果正确", "a 2×2 product on npu:0 is right")
    elif stage is None:
        yield _OPERATOR.unknown("没有可用的 torch_npu 设备，未运行", "not run: torch_npu offers no device")
    elif stage.ok is None:
        yield _OPERATOR.unknown(
            f"算子未结束（{probe.ended}）", f"the operator did not end ({probe.ended})", Gate.UNKNOWN
        )
    elif _numpy_is_to_blame(facts.environment, stage.error or ""):
        yield _OPERATOR.failed(
            f"算子失败：{stage.error}；与 numpy 2 不兼容的 CANN 表现如此",
            f"the operator fails: {stage.error}; a CANN that does not work with numpy 2 fails like this",
        )
        yield _older_numpy()
    else:
        yield _OPERATOR.failed(f"算子失败：{stage.error}", f"the operator fails: {stage.error}", Gate.UNKNOWN)


def operator_aside(facts: Facts) -> Results:
    """A side that hides no device, on which the operator fails or is wrong: the one that worked proves less."""
    aside = facts.aside
    stage = aside.environment.probe.stage("operator") if aside else None
    if not facts.ran or aside is None or stage is None or stage.ok:
        return
    error = stage.error or aside.environment.probe.ended
    known = _numpy_is_to_blame(aside.environment, error)
    if WRONG_RESULT in error or (aside.sees_devices and not known):
        yield _ASIDE.unknown(
            f"{aside.where.zh}算子失败，与此侧矛盾：{error}",
            f"{aside.where.en} the operator fails, which contradicts this side: {error}",
            Gate.UNKNOWN,
        )
        yield RECHECK


def _older_numpy() -> Action:
    return Action(
        Stage.FRAMEWORK,
        Text(
            "在项目的虚拟环境中改装 numpy<2 后重试", "install numpy<2 in the project's virtual environment, try again"
        ),
        Text("最小算子运行成功", "the small operator runs"),
        "python -m pip install 'numpy<2'",
    )


def numpy(facts: Facts) -> Results:
    """numpy 2 breaks the operator compiler of some CANN releases although everything imports."""
    if _numpy_is_two(facts.environment) and facts.environment.cann and not facts.ran:
        yield _NUMPY.noted(
            "numpy 2：部分 CANN 版本与之不兼容（可导入，但 set_device 失败）",
            "numpy 2: some CANN releases do not work with it (everything imports, set_device fails)",
        )


def _numpy_is_to_blame(environment: Environment, error: str) -> bool:
    return _numpy_is_two(environment) and re.search(r"SetPrecisionMode|500001", error) is not None


def _numpy_is_two(environment: Environment) -> bool:
    version = read(environment.packages.get("numpy"))
    return version is not None and version.release[0] >= 2


def runtime(facts: Facts) -> Results:
    """What changes the meaning of a measurement without breaking anything."""
    queue = facts.environment.variables.get("TASK_QUEUE_ENABLE")
    if queue is not None:
        yield _RUNTIME.noted(
            f"TASK_QUEUE_ENABLE={queue}（非交互进程；交互式解释器可能不同）",
            f"TASK_QUEUE_ENABLE={queue} in this process; an interactive interpreter may differ",
        )
    for line in facts.environment.probe.warnings:
        yield _RUNTIME.noted(line, line)


CHECKS: tuple[Check, ...] = (torch, plugin, operator, operator_aside, numpy, runtime)
