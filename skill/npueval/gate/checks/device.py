"""Is an NPU visible from here, and which driver drives it?"""

from __future__ import annotations

from npueval.environment.npu_smi import Chip, Outcome, Reading
from npueval.gate.checks.base import Action, Check, Facts, Item, Results, Stage, Text
from npueval.records import Gate

_DEVICE = Item("device", "NPU 设备可见性", "NPU visibility", needed=True)
_DRIVER = Item("driver", "NPU 驱动版本", "NPU driver version")

RECHECK = Action(
    Stage.RECHECK,
    Text(
        "在沙箱/容器之外（宿主机真实终端）用同一组命令复检，再用 --merge 合并两侧结果",
        "repeat the check outside the sandbox, in a real terminal of the host, then join both with --merge",
    ),
    Text("沙箱外 `npu-smi info` 的输出已记录", "the output of `npu-smi info` outside is on record"),
    "npueval doctor --json --output outside.json",
)
_INSTALL_DRIVER = Action(
    Stage.HARDWARE,
    Text(
        "确认本机装有昇腾 NPU；按硬件型号安装配套的驱动与固件（首次安装先驱动后固件，装完重启）",
        "make sure that the machine has an Ascend NPU; install the driver and firmware for its model"
        " (the driver first on a new machine, then reboot)",
    ),
    Text("`npu-smi info` 列出芯片且 Health 为 OK", "`npu-smi info` lists the chips with health OK"),
    "npu-smi info",
)

REFUSED = {
    Outcome.NOT_VISIBLE: Text(
        "npu-smi 无法初始化（dcmi 初始化失败）：本会话看不到 NPU；常见原因是设备已分配给其他容器、"
        "容器缺少设备节点或权限，或驱动/固件升级后未重启。这不等于宿主机没有 NPU",
        "npu-smi cannot initialise (dcmi failed): no NPU is visible in this session; often another container holds the"
        " device, this one lacks the device nodes or rights, or the machine was not rebooted after an upgrade."
        " This does not mean that the host has no NPU",
    ),
    Outcome.OCCUPIED: Text(
        "npu-smi 报告设备已被占用（-8020）：NPU 存在，但正由其他容器或进程独占",
        "npu-smi says that the device is in use (-8020): there is an NPU, held by another container or process",
    ),
    Outcome.LIBRARY_MISSING: Text(
        "缺少 DCMI/驱动动态库：容器缺少挂载（/usr/local/dcmi、/usr/local/Ascend/driver/lib64），不等于没有硬件",
        "the DCMI or driver library is missing: a mount is missing (/usr/local/dcmi, /usr/local/Ascend/driver/lib64),"
        " which is not absent hardware",
    ),
    Outcome.NOT_PERMITTED: Text(
        "npu-smi 被拒绝访问：当前用户无权访问设备", "npu-smi was refused: this user may not access the devices"
    ),
    Outcome.TIMED_OUT: Text("npu-smi 在时限内没有返回", "npu-smi did not answer in time"),
    Outcome.NO_DEVICE: Text("npu-smi 可以运行，但没有列出任何芯片", "npu-smi runs and lists no chip"),
    Outcome.UNREADABLE: Text(
        "npu-smi 的输出无法识别，按未知处理，不视为正常",
        "the output of npu-smi cannot be read: unknown, which is not the same as good",
    ),
}
_MOUNT = Action(
    Stage.RECHECK,
    Text(
        "容器内缺少挂载或权限时，重建容器：映射 /dev/davinci*、/dev/davinci_manager、/dev/devmm_svm、/dev/hisi_hdc，"
        "挂载 /usr/local/dcmi、/usr/local/Ascend/driver、npu-smi；确认设备未被其他容器占用",
        "recreate the container with /dev/davinci*, /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc, and with"
        " /usr/local/dcmi, /usr/local/Ascend/driver and npu-smi mounted; no other container may hold the device",
    ),
    Text("容器内 `npu-smi info` 列出芯片", "`npu-smi info` inside lists the chips"),
    "npu-smi info",
)


def device(facts: Facts) -> Results:
    """npu-smi, the device nodes, and the operator that ran."""
    reading, cards = facts.environment.npu, facts.environment.ascend.cards
    if reading.outcome is Outcome.READ and (cards or facts.ran):
        names = _names(reading.chips)
        yield _DEVICE.passed(
            f"npu-smi 列出 {len(reading.chips)} 个芯片：{names}",
            f"npu-smi lists {len(reading.chips)} chip(s): {names}",
        )
    elif facts.ran:
        yield _DEVICE.passed(
            f"算子已在 NPU 上运行（npu-smi：{reading.outcome.value}）",
            f"an operator ran on the NPU (npu-smi: {reading.outcome.value})",
        )
    elif reading.outcome is Outcome.NOT_FOUND and not cards:
        yield from _absent(facts)
    else:
        yield from _doubtful(reading, cards)


def _absent(facts: Facts) -> Results:
    zh, en = "没有 npu-smi，也没有 /dev/davinci* 设备节点", "there is neither npu-smi nor a /dev/davinci* node"
    if facts.blind:
        signs = "、".join(facts.environment.sandbox)
        yield _DEVICE.unknown(
            f"{zh}；但本会话处于沙箱/容器中（{signs}），不能据此断定宿主机没有 NPU",
            f"{en}; but this session runs in a sandbox or container ({signs}), so the host may still have one",
            Gate.UNKNOWN,
        )
        yield RECHECK
    else:
        yield _DEVICE.failed(f"{zh}：本机没有可用的昇腾 NPU", f"{en}: this machine has no usable NPU", Gate.MANUAL_STOP)
        yield _INSTALL_DRIVER


def _doubtful(reading: Reading, cards: tuple[str, ...]) -> Results:
    if reading.outcome is Outcome.READ:
        finding = Text(
            "npu-smi 列出了芯片，但没有 /dev/davinci* 设备节点：两者矛盾，不予采信",
            "npu-smi lists chips and there is no /dev/davinci* node: they contradict each other, neither is believed",
        )
    elif reading.outcome is Outcome.NOT_FOUND:
        finding = Text(
            f"存在设备节点（{'、'.join(cards)}），但本会话没有 npu-smi",
            f"there are device nodes ({', '.join(cards)}) and no npu-smi in this session",
        )
    else:
        finding = REFUSED[reading.outcome]
    yield _DEVICE.unknown(finding.zh, finding.en, Gate.UNKNOWN)
    yield RECHECK
    yield _MOUNT


def _names(chips: tuple[Chip, ...]) -> str:
    counted: dict[str, int] = {}
    for chip in chips:
        counted[chip.name] = counted.get(chip.name, 0) + 1
    return ", ".join(f"{name} × {count}" for name, count in counted.items())


def driver(facts: Facts) -> Results:
    """The driver's version; containers often do not show it."""
    versions = facts.drivers
    if len(versions) > 1:
        both = " / ".join(versions)
        yield _DRIVER.unknown(f"两份读数中的驱动版本不同：{both}", f"the two readings name different drivers: {both}")
    elif versions:
        yield _DRIVER.passed(f"驱动 {versions[0]}", f"driver {versions[0]}")
    elif not facts.blind and facts.environment.ascend.cards:
        yield _DRIVER.unknown(
            "驱动版本未知（未挂载 /usr/local/Ascend/driver/version.info）",
            "the driver's version is unknown (/usr/local/Ascend/driver/version.info is not mounted)",
        )


_COMPILE = Item("compile_mode", "编译模式", "compile mode")


def compile_mode(facts: Facts) -> Results:
    """310P compiles operators for each new shape by default: the first calls take minutes."""
    off = facts.environment.probe.fact("torch_npu", "jit_compile_off")
    if off is not None:
        state = "False" if off else "True"
        yield _COMPILE.noted(f"jit_compile={state}（随测量记录）", f"jit_compile={state}, kept with the measurement")
    elif "310P" in facts.families:
        yield _COMPILE.noted(
            "310P 的 jit_compile 默认为 True：每个新 shape 首次推理会在线编译，可达数分钟；测量时须记录编译模式",
            "on 310P jit_compile is True by default: each new shape compiles at its first call, for minutes perhaps;"
            " the compile mode belongs into the measurement",
        )


CHECKS: tuple[Check, ...] = (device, driver, compile_mode)
