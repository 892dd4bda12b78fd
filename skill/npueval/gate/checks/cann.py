"""Is CANN installed, and is it loaded into this process?"""

from __future__ import annotations

import shlex

from npueval.gate.checks.base import Action, Check, Facts, Item, Results, Stage, Text
from npueval.records import Gate

_CANN = Item("cann", "CANN 版本", "CANN version", needed=True)
_SET_ENV = Item("set_env", "CANN 环境变量（set_env）", "CANN variables (set_env)", needed=True)


def cann(facts: Facts) -> Results:
    """The installation and the file that states its version."""
    version, found = facts.environment.cann, facts.environment.ascend.cann
    if version:
        place = f"（{found.home}）" if found else ""
        yield _CANN.passed(f"CANN {version}{place}", f"CANN {version}" + (f" in {found.home}" if found else ""))
    elif found or facts.ran:
        yield _CANN.noted("CANN 可用，但读不到版本文件", "CANN works, and its version cannot be read")
    elif facts.blind:
        yield _CANN.unknown("本会话看不到 CANN；须在沙箱外确认", "no CANN is visible in this session", Gate.UNKNOWN)
    else:
        yield _CANN.failed("未安装 CANN", "CANN is not installed", Gate.MANUAL_STOP)
        yield _install_cann(facts)


def _install_cann(facts: Facts) -> Action:
    wanted = next((need.constraint for need in facts.needs.about("cann")), "")
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
    if facts.ran or ascend.set_env == "loaded":
        yield _SET_ENV.passed("已加载", "loaded")
    elif ascend.cann is None:
        return
    else:
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
        f"source {shlex.quote(script or '/usr/local/Ascend/ascend-toolkit/set_env.sh')}",
    )


CHECKS: tuple[Check, ...] = (cann, set_env)
