"""Do Python, torch, torch_npu and CANN go together, by the published table?"""

from __future__ import annotations

from npueval.gate import compatibility
from npueval.gate.checks.base import TABLE, Action, Check, Facts, Item, Results, Stage, Text, pip_install
from npueval.gate.versions import Version
from npueval.records import Gate

_INTERPRETER = Item("interpreter", "Python 与 torch_npu 配套", "Python and torch_npu")
_PAIR = Item("torch_pair", "torch 与 torch_npu 配套", "torch and torch_npu", needed=True)
_CANN_PAIR = Item("cann_pair", "torch_npu 与 CANN 配套", "torch_npu and CANN")


def interpreter(facts: Facts) -> Results:
    """torch_npu comes as a wheel for some Pythons only."""
    torch_version = facts.environment.packages.get("torch")
    version = facts.environment.python.version
    if torch_version and compatibility.python_suits(version, torch_version) is False:
        pythons = ", ".join(compatibility.PYTHONS[Version(torch_version).public])
        yield _INTERPRETER.failed(
            f"Python {version} 不在 torch {torch_version} 的 torch_npu 发布范围内（{pythons}；{TABLE}）",
            f"torch_npu for torch {torch_version} is published for Python {pythons}, here is {version} ({TABLE})",
        )
        yield Action(
            Stage.PYTHON,
            Text(f"用 Python {pythons} 之一新建虚拟环境", f"make a virtual environment of one of Python {pythons}"),
            Text("`python --version` 在范围内", "`python --version` is one of them"),
        )


def pairs(facts: Facts) -> Results:
    """torch against torch_npu, torch_npu against CANN, by the published table."""
    packages = facts.environment.packages
    torch_version, plugin_version = packages.get("torch"), packages.get("torch_npu")
    if not torch_version or not plugin_version:
        return
    if compatibility.torch_matches(torch_version, plugin_version):
        yield _PAIR.passed(f"torch {torch_version} / torch_npu {plugin_version}", f"{torch_version} / {plugin_version}")
    else:
        wanted = Version(plugin_version).public
        yield _PAIR.failed(
            f"torch {torch_version} 与 torch_npu {plugin_version} 不配套",
            f"torch {torch_version} does not go with torch_npu {plugin_version}",
        )
        yield pip_install(f"安装 torch=={wanted}，与 torch_npu 一致", f"install torch=={wanted}", f"torch=={wanted}")
    if facts.environment.cann:
        yield from _against_cann(facts, plugin_version, facts.environment.cann)


def _against_cann(facts: Facts, plugin_version: str, cann: str) -> Results:
    published = compatibility.cann_for(plugin_version)
    if published is None:
        yield _CANN_PAIR.unknown(
            f"torch_npu {plugin_version} 不在配套表中（{TABLE}）：配套关系未知",
            f"torch_npu {plugin_version} is not in the published table ({TABLE}): unknown",
        )
    elif compatibility.same_cann(published, cann):
        yield _CANN_PAIR.passed(
            f"torch_npu {plugin_version} ↔ CANN {published}", f"torch_npu {plugin_version} ↔ CANN {published}"
        )
    elif facts.ran:
        yield _CANN_PAIR.noted(
            f"torch_npu {plugin_version} 发布时配套 CANN {published}，本机为 {cann}；算子可运行，但不在发布配套内",
            f"torch_npu {plugin_version} was published for CANN {published}, here is {cann}; the operator runs, though",
        )
    else:
        yield from _wrong_cann(plugin_version, published, cann)


def _wrong_cann(plugin_version: str, published: str, cann: str) -> Results:
    suitable = compatibility.packages_for(cann)
    yield _CANN_PAIR.failed(
        f"torch_npu {plugin_version} 配套 CANN {published}，本机为 CANN {cann}",
        f"torch_npu {plugin_version} goes with CANN {published}, here is CANN {cann}",
        Gate.AUTO if suitable else Gate.MANUAL_STOP,
    )
    if suitable:
        what = f"torch=={suitable[0].torch} torch-npu=={suitable[0].torch_npu}"
        yield pip_install(f"改装与 CANN {cann} 配套的 {what}", f"install what goes with CANN {cann}: {what}", what)
    else:
        yield Action(
            Stage.CANN,
            Text(f"安装 CANN {published}（与 torch_npu {plugin_version} 配套）", f"install CANN {published}"),
            Text("doctor 显示配套", "doctor shows the pair as matching"),
        )


CHECKS: tuple[Check, ...] = (interpreter, pairs)
