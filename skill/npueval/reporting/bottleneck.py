"""Compare §5: where the time goes, said only as far as the measured stages say it."""

from __future__ import annotations

import numpy as np

from npueval.records import Edit
from npueval.reporting import profiled
from npueval.reporting.cells import joined, missing, number
from npueval.reporting.dossier import Dossier
from npueval.runs.cases import QUEUE, Case
from npueval.statistics import least_samples, percentile

PLACES = {"preprocess": "预处理", "postprocess": "后处理", "h2d": "IO（H2D）", "d2h": "IO（D2H）", "infer": "推理内核"}
SHARE_THAT_COUNTS = 0.25
HOST_BOUND = 0.8


def edits(dossier: Dossier) -> list[Edit]:
    """The field that names one or two likely bottlenecks with the figures that say so."""
    run = dossier.npu_run
    return [Edit("Compare#5/当前瓶颈推测", _suspected(dossier), run.id if run else "")]


def _suspected(dossier: Dossier) -> str:
    run, plan = dossier.npu_run, dossier.plan
    if run is None:
        return missing(dossier.no_npu)
    if run.simulated:
        return missing("模拟设备的数据不作结论")
    case = run.case(plan.target_batch, plan.concurrency[0])
    if case is None or not case.n or not run.valid:
        return missing("目标 batch 没有有效样本")
    if case.n < least_samples(0.5):
        return missing(f"样本不足 (n={case.n})")
    parts = [f"{PLACES[name]} p50 {number(ms)} ms，占各阶段之和的 {share:.0%}" for name, ms, share in heaviest(case)]
    return joined([*parts, _dispatch(case), f"batch {case.batch}", profiled.heaviest(dossier)])


def heaviest(case: Case) -> list[tuple[str, float, float]]:
    """The one or two stages that take most of an iteration: name, median in ms, share of the sum of medians."""
    medians = {name: percentile(case.milliseconds(name), 0.5) for name in case.samples if name != QUEUE}
    total = sum(medians.values())
    ranked = sorted(((name, ms, ms / total) for name, ms in medians.items()), key=lambda stage: -stage[1])
    return ranked[:1] + [stage for stage in ranked[1:2] if stage[2] >= SHARE_THAT_COUNTS]


def _dispatch(case: Case) -> str | None:
    if case.enqueue is None or not len(case.enqueue):
        return None
    device = case.events if case.events is not None else case.samples["infer"]
    share = float(np.median(case.enqueue)) / float(np.median(device))
    return f"主机下发占设备时间的 {share:.0%}" + ("，受下发限制而非算子" if share > HOST_BOUND else "")
