"""environment.md, as a diagnosis fills it: machine facts, raw outputs of both sides, the demands, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from npueval.environment import Environment
from npueval.gate.diagnosis import Diagnosis, Outcome
from npueval.gate.needs import Need
from npueval.records import Edit, Gate

_SECTIONS = {
    "about": "元信息",
    "ascend": "Ascend / CANN（set_env 后）",
    "python": "Python",
    "device": "设备可见性（原始输出，可含沙箱内/外对照）",
    "plugin": "框架 Ascend 插件（原始输出）",
    "verdict": "依赖与 README/requirements 适配判定（4.0.2～4.0.3 填写）",
}
_SIDES = {"only": ("本会话",), "inside": ("沙箱内（采信）", "沙箱外"), "outside": ("沙箱外（采信）", "沙箱内")}
_NONE = "未设置"


def edits(diagnosis: Diagnosis, *, data_dir: str | None = None) -> tuple[Edit, ...]:
    """Every field and code block of environment.md that the diagnosis can fill."""
    sections = {
        "about": _about(diagnosis, data_dir),
        "ascend": _ascend(diagnosis.environment),
        "python": _python(diagnosis.environment),
        "device": [("code[1]", _both_sides(diagnosis, _device))],
        "plugin": [("code[1]", _both_sides(diagnosis, _plugin))],
        "verdict": _verdict(diagnosis),
    }
    return tuple(
        Edit(f"environment#{_SECTIONS[section]}/{key}", value, source="doctor")
        for section, pairs in sections.items()
        for key, value in pairs
    )


Pairs = Iterator[tuple[str, str]]


def _about(diagnosis: Diagnosis, data_dir: str | None) -> Pairs:
    environment, ascend = diagnosis.environment, diagnosis.environment.ascend
    counts = {outcome: sum(e.outcome is outcome for e in diagnosis.evidence) for outcome in Outcome}
    script = ascend.cann.set_env if ascend.cann else None
    files = [name for name in diagnosis.needs.files if "requirements" in name]
    yield "generated_at", environment.taken_at
    yield "check_summary", " ".join(f"{o.name}={counts[o]}" for o in (Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN))
    yield "set_env", f"{script or ascend.set_env}（已加载）" if ascend.set_env == "loaded" else f"未加载{_in(script)}"
    yield "requirements", ", ".join(files) or "无"
    yield "venv_dir", environment.python.prefix if environment.python.virtual else "未使用虚拟环境"
    if data_dir:
        yield "data_dir", data_dir


def _in(text: str | None) -> str:
    return f"（{text}）" if text else ""


def _ascend(environment: Environment) -> Pairs:
    cann = environment.ascend.cann
    home = environment.variables.get("ASCEND_TOOLKIT_HOME") or environment.variables.get("ASCEND_HOME_PATH")
    found = f"（安装于 {cann.home}，版本 {cann.version or '未知'}）" if cann else "（未发现 CANN）"
    yield "ASCEND_TOOLKIT_HOME", f"{home or _NONE}{found}"
    yield "ASCEND_INSTALL_PATH", environment.variables.get("ASCEND_INSTALL_PATH", _NONE)


def _python(environment: Environment) -> Pairs:
    python = environment.python
    yield "system_python", f"{python.base}（{python.version}）"
    yield "venv_python", f"{python.executable}（{python.version}）" if python.virtual else "未使用虚拟环境"


def _both_sides(diagnosis: Diagnosis, describe: Callable[[Environment], Iterator[str]]) -> str:
    first, *second = _SIDES[diagnosis.adopted]
    blocks = ["\n".join([f"[{first}]", *describe(diagnosis.environment)])]
    if diagnosis.other:
        blocks.append("\n".join([f"[{second[0]}] {diagnosis.other.taken_at}", *describe(diagnosis.other)]))
    return "\n\n".join(blocks)


def _device(environment: Environment) -> Iterator[str]:
    yield "$ npu-smi info"
    yield environment.npu.raw.strip("\n") or f"（{environment.npu.outcome.value}）"
    yield "$ ls /dev"
    yield " ".join(environment.ascend.device_nodes) or "（没有 davinci* 等设备节点）"
    if environment.sandbox:
        yield f"沙箱/容器迹象：{', '.join(environment.sandbox)}"


def _plugin(environment: Environment) -> Iterator[str]:
    yield "$ pip list（节选）"
    yield from (f"{name} {version}" for name, version in environment.packages.items())
    yield f"$ 子进程自检（{environment.probe.ended}）"
    for stage in environment.probe.stages:
        facts = ", ".join(f"{key}={value}" for key, value in stage.facts.items())
        yield f"{stage.name}: {'ok' if stage.ok else stage.error or '未结束'} {facts}".rstrip()
    yield from environment.probe.warnings


def _verdict(diagnosis: Diagnosis) -> Pairs:
    needs = diagnosis.needs
    yield "readme_python_hint", _quoted((*needs.of("python"), *needs.of("cuda")))
    yield "requirements_notable_pins", _quoted((*needs.of("framework"), *needs.of("package")))
    yield "文档是否声明 CANN/驱动版本", _quoted((*needs.of("cann"), *needs.of("driver")), otherwise="未声明")
    yield (
        "与 environment.md 机器事实对比摘要",
        "；".join(text.zh for text in diagnosis.reasons) or "一致，可直接执行测试",
    )
    yield "判定", _gate(diagnosis)


def _quoted(demands: Iterable[Need], otherwise: str = "N/A（文档未提及）") -> str:
    return "；".join(dict.fromkeys(f"{need}（{need.source}）" for need in demands)) or otherwise


def _gate(diagnosis: Diagnosis) -> str:
    if diagnosis.gate is Gate.AUTO and diagnosis.runnable:
        return str(diagnosis.gate.value)
    steps = "；".join(f"{number}. {action.text.zh}" for number, action in enumerate(diagnosis.actions, 1))
    return f"{diagnosis.gate.value}；待办（按顺序）：{steps}"
