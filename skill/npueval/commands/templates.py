"""The command templates of the mandatory answer: NPU, several cards, GPU kit, golden, black box, failure log."""

from __future__ import annotations

from dataclasses import dataclass

from npueval.commands import Export, Run, Source, Template, file_argument
from npueval.language import Text

DEFAULT_SET_ENV = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
KIT = "gpu_kit.pyz"
PLAN = "npueval.yaml"
_AT_PLAN = Text("在计划文件所在目录执行", "run in the folder of the plan")


@dataclass(frozen=True)
class Values:
    """What the plan and the machine know; ``None`` where it is for the reader to fill in."""

    plan: str
    set_env: str = DEFAULT_SET_ENV
    visible: str = "0"
    gpu_visible: str = "0"
    cards: int | None = None
    rtol: float | None = None
    atol: float | None = None


def on_gpu(visible: str, kit: str = KIT) -> tuple[Export, Run]:
    """How the user of a GPU host runs the kit: in every document, answer and leaflet the same."""
    return Export("CUDA_VISIBLE_DEVICES", visible), Run(("python", file_argument(kit), "--device", "cuda:0"))


def taken_in(plan: str, result: str) -> Run:
    """How what the kit wrote is taken in, in the folder of the plan."""
    return _npueval("baseline", "ingest", result, *(() if plan == PLAN else ("--plan", file_argument(plan))))


def templates(values: Values) -> tuple[Template, ...]:
    """All templates, in the order in which they are used."""
    makers = (_check, _npu, _cards, _kit, _kit_run, _ingest, _golden, _black_box, _failure)
    return tuple(make(values) for make in makers)


def _loaded(values: Values, visible: str | None = None) -> tuple[Source | Export, ...]:
    return Source(values.set_env), Export("ASCEND_RT_VISIBLE_DEVICES", visible or values.visible)


def _npueval(*words: str, log: str | None = None) -> Run:
    return Run(("npueval", *words), log)


def _check(values: Values) -> Template:
    steps = (*_loaded(values), Run(("npu-smi", "info")), _npueval("doctor"))
    return Template("environment", Text("环境检测", "Check the machine"), steps, _AT_PLAN)


def _npu(values: Values) -> Template:
    plan = file_argument(values.plan)
    steps = (
        *_loaded(values),
        _npueval("smoke", plan, log="npu_smoke"),
        _npueval("measure", plan, log="npu_measure"),
    )
    return Template("npu", Text("NPU 冒烟与性能测量（单卡）", "Smoke test and measurement on one NPU"), steps, _AT_PLAN)


def _cards(values: Values) -> Template:
    count = str(values.cards) if values.cards else "<N>"
    visible = ",".join(map(str, range(values.cards))) if values.cards else "<0,1,…>"
    launch = ("torchrun", "--standalone", f"--nproc_per_node={count}", "-m", "npueval", "measure")
    steps = (*_loaded(values, visible), Run((*launch, file_argument(values.plan)), "npu_measure_cards"))
    note = Text(
        f"{_AT_PLAN.zh}；每卡一个进程（HCCL），把 <…> 换成实际卡数与卡号" if not values.cards else _AT_PLAN.zh,
        f"{_AT_PLAN.en}; one process a card (HCCL)" + ("" if values.cards else "; replace <…>"),
    )
    return Template("cards", Text("多卡测量", "Measurement on several cards"), steps, note)


def _kit(values: Values) -> Template:
    steps = (_npueval("baseline", "kit", file_argument(values.plan), "-o", KIT),)
    note = Text(f"在本机执行，得到可移植的测试包 {KIT}", f"run here; it makes the portable kit {KIT}")
    return Template("gpu_kit", Text("GPU 基线：生成测试包", "GPU baseline: make the kit"), steps, note)


def _kit_run(values: Values) -> Template:
    note = Text("在 GPU 机器上由用户执行，把得到的结果文件带回", "run by you on the GPU machine; bring the result back")
    title = Text("GPU 基线：在 GPU 机器上运行", "GPU baseline: run the kit on the GPU machine")
    return Template("gpu_run", title, on_gpu(values.gpu_visible), note)


def _ingest(values: Values) -> Template:
    note = Text("在本机执行，把 <…> 换成带回的文件", "run here; replace <…> by the file that you brought back")
    title = Text("GPU 基线：导入结果", "GPU baseline: take the result in")
    return Template("gpu_ingest", title, (taken_in(values.plan, "<gpu_result>"),), note)


def _golden(values: Values) -> Template:
    rtol = "<rtol>" if values.rtol is None else f"{values.rtol:g}"
    atol = "<atol>" if values.atol is None else f"{values.atol:g}"
    tolerances = ("--rtol", rtol, "--atol", atol)
    steps = (_npueval("golden", "<gpu_output.npz>", "<npu_output.npz>", *tolerances, log="golden"),)
    note = Text(
        "同一批固定输入，先基线输出、后 NPU 输出", "the same fixed inputs: the baseline's output, then the NPU's"
    )
    return Template("golden", Text("Golden 数值对比", "Golden comparison"), steps, note)


def _black_box(values: Values) -> Template:
    command = _npueval("measure", "--", "<command>", "<argument>", log="black_box")
    note = Text(
        "把 <…> 换成工程自己的推理/评测命令；测得的是整条命令的墙钟时间，不与进程内分段数据相比",
        "replace <…> by the project's own command; it measures the wall time of the whole command, which is never"
        " compared with in-process segments",
    )
    return Template("black_box", Text("黑盒命令计时", "Time a command from outside"), (*_loaded(values), command), note)


def _failure(values: Values) -> Template:
    steps = (*_loaded(values), _npueval("run", file_argument(values.plan), log="last_run"))
    note = Text(
        "失败时把该日志路径与关键报错写入 Mig_report §7.1、§8",
        "on failure, put the log's path and the error into Mig_report §7.1 and §8",
    )
    return Template("failure_log", Text("完整流程并保留日志", "The whole flow, with its log kept"), steps, note)
