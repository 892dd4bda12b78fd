"""What the project's own files demand, held against the machine."""

from __future__ import annotations

from npueval.environment.npu_names import family
from npueval.gate.checks.base import Action, Check, Facts, Item, Results, Stage, Text
from npueval.gate.needs import Need
from npueval.gate.versions import read, satisfies
from npueval.language import joined, same
from npueval.records import Gate

_PYTHON = Item("needs_python", "工程要求的 Python", "Python that the project asks for")
_FRAMEWORK = Item("needs_framework", "工程要求的框架版本", "framework that the project asks for")
_CANN = Item("needs_cann", "工程要求的 CANN", "CANN that the project asks for")
_DRIVER = Item("needs_driver", "工程要求的驱动", "driver that the project asks for")
_CHIP = Item("needs_chip", "工程要求的芯片", "chip that the project asks for")
_CONTAINER = Item("needs_container", "工程要求的容器镜像", "container that the project asks for")
_CUDA = Item("cuda_only", "仅 CUDA/GPU 的依赖", "CUDA-only ties")
_CONFLICT = Item("conflict", "文档声明冲突", "conflicting demands")
_UNREAD = Item("needs_unread", "无法读取的工程文件", "files of the project that cannot be read")


def python(facts: Facts) -> Results:
    """Another Python is a matter of a virtual environment, not of the gate."""
    yield from _packages(facts, "python", facts.environment.python.version, _PYTHON, Stage.PYTHON)


def framework(facts: Facts) -> Results:
    """The framework's pinned version against the installed one."""
    for name in ("torch", "torchvision", "torch-npu"):
        installed = facts.environment.packages.get(name.replace("-", "_"))
        if installed:
            yield from _packages(facts, name, installed, _FRAMEWORK, Stage.FRAMEWORK)


def _packages(facts: Facts, name: str, installed: str, item: Item, stage: Stage) -> Results:
    version = read(installed)
    for need in facts.needs.about(name):
        met = satisfies(version, need.constraint) if version else None
        says = f"{name} {need.constraint}（{need.source}）"
        if met is False:
            yield item.failed(f"要求 {says}，本机为 {installed}", f"{need.source} asks for {need}, here is {installed}")
            if not facts.needs.disputed(need):
                yield _prepare(need, stage)
        elif met:
            yield item.passed(f"要求 {says}，本机 {installed}", f"{need.source} asks for {need}, here is {installed}")


def _prepare(need: Need, stage: Stage) -> Action:
    return Action(
        stage,
        Text(
            f"在独立虚拟环境中准备 {need.name} {need.constraint}", f"prepare {need} in a virtual environment of its own"
        ),
        Text("doctor 不再提示该项", "doctor no longer says so"),
    )


def cann(facts: Facts) -> Results:
    """Another CANN means a download and an installation by hand."""
    version = read(facts.environment.cann)
    for need in facts.needs.about("cann") if version else ():
        met = satisfies(version, need.constraint) if version else None
        if met is False:
            yield _CANN.failed(
                f"文档要求 CANN {need.constraint}（{need.source}），本机为 {version}：须重新下载安装",
                f"{need.source} asks for CANN {need.constraint}, here is {version}: it must be installed anew",
                Gate.MANUAL_STOP,
            )
            if not facts.needs.disputed(need):
                yield _install(Stage.CANN, f"CANN {need.constraint}")
        elif met:
            yield _CANN.passed(
                f"文档要求 CANN {need.constraint}（{need.source}），一致", f"{need.source}: {need}, as here"
            )
    if not facts.needs.about("cann"):
        yield from _undeclared(facts)


def _undeclared(facts: Facts) -> Results:
    if facts.ran:
        yield _CANN.noted(
            "文档未声明 CANN 版本；本机 CANN 已能运行算子，按无需更换处理",
            "the project names no CANN version; the one here runs operators and is kept",
        )
    elif facts.environment.cann:
        yield _CANN.unknown(
            "文档未声明 CANN 版本，本机 CANN 也尚未验证可用",
            "the project names no CANN version, and the one here is not proven to work",
            Gate.UNKNOWN,
        )
        yield Action(
            Stage.QUESTION,
            Text(
                "请确认：项目是否接受本机的 CANN 版本、无需更换", "please confirm that the project may keep this CANN"
            ),
            Text("已书面确认，或最小算子运行成功", "confirmed in writing, or the small operator runs"),
        )


def driver(facts: Facts) -> Results:
    """An older driver than demanded must be replaced by hand; a newer one is only noted."""
    versions = [version for version in map(read, facts.drivers) if version]
    for need in facts.needs.about("driver") if versions else ():
        wanted, version = read(need.constraint.lstrip("<>=~!")), min(versions)
        if wanted is None:
            continue
        if version < wanted:
            yield _DRIVER.failed(
                f"文档要求驱动 {need.constraint}（{need.source}），本机为 {version}",
                f"{need.source} asks for driver {need.constraint}, here is {version}",
                Gate.MANUAL_STOP,
            )
            if not facts.needs.disputed(need):
                yield _install(Stage.HARDWARE, f"driver {need.constraint}")
        else:
            yield _DRIVER.noted(
                f"文档要求驱动 {need.constraint}，本机 {version}", f"driver {need.constraint}, here {version}"
            )


def _install(stage: Stage, what: str) -> Action:
    return Action(
        stage,
        Text(f"下载并离线安装 {what}（含配套固件/kernels），重新加载 set_env", f"download and install {what}"),
        Text("doctor 显示的版本与文档一致", "doctor shows the demanded version"),
    )


def chip(facts: Facts) -> Results:
    """Any one of the named chips is enough."""
    wanted = facts.needs.of("chip")
    here = facts.families
    if not wanted or not here:
        return
    families = {family(need.name) for need in wanted}
    named = joined(map(_cited, wanted[:4]))
    if families & here:
        yield _CHIP.passed(f"文档提到 {named.zh}，与本机一致", f"the project names {named.en}, as here")
    else:
        devices = ", ".join(sorted(set(facts.environment.devices))) or ", ".join(sorted(here))
        yield _CHIP.failed(
            f"文档面向 {named.zh}，本机为 {devices}：须更换对应芯片的 CANN 套件或硬件",
            f"the project names {named.en}, here is {devices}: another kit for the chip, or other hardware, is needed",
            Gate.MANUAL_STOP,
        )


def _cited(need: Need) -> Text:
    return Text(f"{need}（{need.source}）", f"{need} ({need.source})")


def container(facts: Facts) -> Results:
    """A demand for one particular image has to be answered by a person."""
    only = [need for need in facts.needs.of("container") if need.name == "container only"]
    if only and not facts.ran:
        quoted = "; ".join(f"{need.source}: {need.source.text}" for need in only)
        yield _CONTAINER.unknown(
            f"文档可能要求仅使用官方容器/镜像：{quoted}", f"the project may demand one image: {quoted}", Gate.UNKNOWN
        )
        yield Action(
            Stage.QUESTION,
            Text(
                "请确认是否必须使用该镜像；若是，在该镜像内重新运行 doctor",
                "is the image a must? If so, run doctor inside it",
            ),
            Text("已确认", "confirmed"),
        )


def cuda(facts: Facts) -> Results:
    """Ties to CUDA are for the migration to replace; they do not close the gate."""
    ties = facts.needs.of("cuda")
    if ties:
        named = joined(dict.fromkeys(map(_cited, ties[:8])))
        rest = Text(f" 等共 {len(ties)} 处", f" and more, {len(ties)} in all") if len(ties) > 8 else same("")
        yield _CUDA.noted(named.zh + rest.zh, named.en + rest.en)


def conflict(facts: Facts) -> Results:
    """Demands that cannot both be met have to be settled before anything is installed for them."""
    for one, other in facts.needs.conflicts():
        first, second = _cited(one), _cited(other)
        both = Text(f"{first.zh} ≠ {second.zh}", f"{first.en} ≠ {second.en}")
        yield _CONFLICT.unknown(both.zh, both.en, _weight(one, facts))
        yield Action(
            Stage.QUESTION,
            Text(f"请确认以哪一处为准：{both.zh}", f"which of the two holds: {both.en}?"),
            Text("冲突的声明已统一", "the files agree"),
        )


def _weight(need: Need, facts: Facts) -> Gate:
    """Conflicts about CANN and the driver stop; those about packages do not once an operator runs."""
    return Gate.UNKNOWN if need.kind in ("cann", "driver") or not facts.ran else Gate.AUTO


def unread(facts: Facts) -> Results:
    """A demand may stand in what could not be read."""
    if facts.needs.unread:
        named = ", ".join(facts.needs.unread)
        yield _UNREAD.unknown(
            f"{named}：不是可读的文本（编码、大小或权限），其中的要求未知",
            f"{named}: no text that can be read (encoding, size or rights); what it demands is unknown",
            Gate.UNKNOWN,
        )
        yield Action(
            Stage.PROJECT,
            Text(f"把 {named} 存为可读的 UTF-8 文本", f"save {named} as UTF-8 text that may be read"),
            Text("doctor 不再提示该项", "doctor no longer says so"),
        )


CHECKS: tuple[Check, ...] = (python, framework, cann, driver, chip, container, cuda, conflict, unread)
