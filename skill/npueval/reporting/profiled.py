"""The profile of the NPU's Run: where it lies, what it holds, and the operators that take most of the device's time."""

from __future__ import annotations

from pathlib import PurePath

from npueval.reporting.cells import joined, missing, number
from npueval.reporting.dossier import Dossier
from npueval.runs import Run
from npueval.runs.conditions import Operator, Profile

NAMED = 3


def path(dossier: Dossier) -> str:
    """The trace with what it holds (Compare §6), or why there is none."""
    run = dossier.npu_run
    if run is None:
        return missing(dossier.no_npu)
    made = run.profile
    if made is None:
        return missing("本次未采集 profiling")
    if made.reason or made.file is None:
        return missing(made.reason.zh if made.reason else "trace 未保存")
    about = [made.profiler, f"batch {made.batch}", held(made)]
    said = "模拟设备，不作结论" if run.simulated else f"设备时间前列：{_top(made)}"
    return f"{place(dossier, run)}（{'，'.join(about)}；{said}）"


def heaviest(dossier: Dossier) -> str | None:
    """The operators that take most time (Compare §5), with the file that says so."""
    run = dossier.npu_run
    made = run.profile if run else None
    if run is None or made is None or made.file is None or not made.total_ns:
        return None
    return f"profile 中设备时间前列：{_top(made)}（{held(made)}，{place(dossier, run)}）"


def place(dossier: Dossier, run: Run) -> str:
    """Where the trace of a Run lies, relative to the project."""
    made = run.profile
    folder = PurePath(dossier.file_of(run) or "").parent
    return (folder / ((made and made.file) or "")).as_posix()


def held(made: Profile) -> str:
    """How much of the pass the trace holds: profilers may lose the beginning."""
    if made.complete == made.iterations:
        return f"{made.iterations} 次迭代均完整"
    lost = f"开头缺 {made.lost_first} 次" if made.lost_first else None
    counted = f"只按完整的 {made.complete} 次计"
    return joined([f"{made.iterations} 次迭代中 {made.complete} 次完整", lost, counted], "，")


def _top(made: Profile) -> str:
    return "、".join(_operator(made, each) for each in made.top(NAMED)) or missing("各行时间均为 0")


def _operator(made: Profile, operator: Operator) -> str:
    share = operator.total_ns / made.total_ns
    each = number(operator.total_ns / operator.count / 1e6)
    return f"{operator.name} 占 {share:.0%}（{operator.count} 行，每行 {each} ms）"
