"""Is CANN installed, and is it loaded into this process?"""

from __future__ import annotations

import shlex

from npueval.gate import compatibility
from npueval.gate.checks.base import Action, Check, Facts, Item, Results, Stage, Text
from npueval.records import Gate

_CANN = Item("cann", "CANN 版本", "CANN version", needed=True)
_SET_ENV_SCRIPT = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
_SET_ENV = Item("set_env", "CANN 环境变量（set_env）", "CANN variables (set_env)", needed=True)


def cann(facts: Facts) -> Results:
    """The installation and the file that states its version; both sources must tell of the same release."""
    said, loaded = facts.environment.probe.fact("torch_npu", "cann"), facts.environment.ascend.loaded
    version, found = facts.environment.cann, facts.environment.ascend.cann
    if loaded and compatibility.other_cann(said, loaded.version):
        yield _CANN.unknown(
            f"两处矛盾：torch_npu 报告 CANN {said}，已加载的 {loaded.home} 的版本文件写 {loaded.version}",
            f"two sources contradict: torch_npu reports CANN {said}, the version file of the loaded {loaded.home} says"
            f" {loaded.version}",
            Gate.UNKNOWN,
        )
        yield _load_one(loaded.set_env)
    elif version:
        of_file = found is not None and not compatibility.other_cann(version, found.version)
        home = found.home if found and of_file else ""
        yield _CANN.passed(
            f"CANN {version}" + (f"（{home}）" if home else ""), f"CANN {version}" + (f" in {home}" if home else "")
        )
    elif found or facts.ran:
        yield _CANN.noted("CANN 可用，但读不到版本文件", "CANN works, and its version cannot be read")
    elif facts.blind:
        yield _CANN.unknown("本会话看不到 CANN；须在沙箱外确认", "no CANN is visible in this session", Gate.UNKNOWN)
    else:
        yield _CANN.failed("未安装 CANN", "CANN is not installed", Gate.MANUAL_STOP)
        yield _install_cann(facts)


def _load_one(script: str | None) -> Action:
    return Action(
        Stage.SET_ENV,
        Text(
            "新开 shell，只加载一个 CANN 的 set_env.sh：LD_LIBRARY_PATH 与 ASCEND_TOOLKIT_HOME 须指向同一套安装",
            "open a new shell and load the set_env.sh of one CANN only: LD_LIBRARY_PATH and ASCEND_TOOLKIT_HOME must"
            " name the same installation",
        ),
        Text("doctor 只显示一个 CANN 版本", "doctor shows one version of CANN"),
        f"source {shlex.quote(script or _SET_ENV_SCRIPT)}",
    )


def _install_cann(facts: Facts) -> Action:
    wanted = next((need.constraint for need in facts.needs.about("cann") if not facts.needs.disputed(need)), "")
    which = f"CANN {wanted}".strip()
    return Action(
        Stage.CANN,
        Text(
            f"下载并离线安装 {which}（toolkit 与对应芯片的 kernels/ops），版本须与驱动、torch_npu 配套",
            f"download and install {which}: the toolkit and its kernels or ops, matching driver and torch_npu",
        ),
        Text(
            "`ascend_toolkit_install.info` 存在且版本正确",
            "`ascend_toolkit_install.info` exists and states the version",
        ),
        "cat /usr/local/Ascend/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info",
    )


def set_env(facts: Facts) -> Results:
    """Whether this process's variables point to the installation."""
    ascend = facts.environment.ascend
    if ascend.set_env == "loaded":
        yield _SET_ENV.passed("已加载", "loaded")
    elif facts.ran:
        state = _STATES[ascend.set_env]
        yield _SET_ENV.noted(
            f"{state.zh}；最小算子仍可运行，但其他算子编译、ATB、HCCL 等可能依赖这些变量",
            f"{state.en}; the small operator runs all the same, but the operator compiler, ATB or HCCL may need them",
        )
    elif ascend.cann is not None:
        state = _STATES[ascend.set_env]
        yield _SET_ENV.failed(state.zh, state.en)
        yield _source(ascend.cann.set_env)


_STATES = {
    "not loaded": Text("未加载：当前进程没有 CANN 环境变量", "not loaded: this process has none of CANN's variables"),
    "points nowhere": Text("环境变量指向的目录不存在", "the variables point to a folder that does not exist"),
    "incomplete": Text("不完整：LD_LIBRARY_PATH 不含 CANN 目录", "incomplete: LD_LIBRARY_PATH lacks CANN's folder"),
}


def _source(script: str | None) -> Action:
    return Action(
        Stage.SET_ENV,
        Text("在运行测试的同一个 shell 中加载 CANN 环境变量", "load CANN's variables in the shell that runs the tests"),
        Text("`echo $ASCEND_TOOLKIT_HOME` 有值", "`echo $ASCEND_TOOLKIT_HOME` prints a folder"),
        f"source {shlex.quote(script or _SET_ENV_SCRIPT)}",
    )


CHECKS: tuple[Check, ...] = (cann, set_env)
