"""Verdicts: a figure against its target, in the words of the documents. What cannot be judged says why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npueval.plan import AccuracyTarget, Targets
from npueval.records import Cell, Gain, Judgement, Line, Score
from npueval.runs import Run

NO_TARGET = "—"
NOT_JUDGED = Judgement(None, "N/A（目标只约束目标 batch）")
_NO_LIMIT = Judgement(None, "N/A（计划未设目标）")
_SIMULATED = Judgement(None, "N/A（模拟设备的数据不作结论）")


def target(targets: Targets, metric: str) -> str:
    """The limits of a metric as the document's target cell says them."""
    limit = getattr(targets, metric)
    parts = [f"{'≥' if metric == 'throughput' else '≤'} {limit:g}"] if limit is not None else []
    if targets.ratio_to_baseline is not None:
        parts.append(f"不低于基线的 {targets.ratio_to_baseline:g} 倍")
    return "；".join(parts) or NO_TARGET


def line(targets: Targets, metric: str, npu: Cell, gain: Gain, run: Run | None) -> Judgement:
    """Whether one figure meets the plan's limits; without a baseline it may fail, but never pass."""
    if npu.value is None:
        return Judgement(None, f"N/A（{npu.reason}）")
    if run is not None and run.simulated:
        return _SIMULATED
    found = [*_absolute(getattr(targets, metric), npu, higher=metric == "throughput"), *_relative(targets, gain)]
    if not found:
        return _NO_LIMIT
    failed = [text for passed, text in found if passed is False]
    if failed:
        return Judgement(False, f"不达标（{'；'.join(failed)}）")
    undecided = [text for passed, text in found if passed is None]
    if undecided:
        return Judgement(None, f"待定（{'；'.join(undecided)}）")
    if gain.value is None:
        return Judgement(None, f"N/A（绝对目标已满足，但{gain.reason}）")
    return Judgement(True, f"达标（{'；'.join(text for _, text in found)}）")


Found = tuple["bool | None", str]


def _absolute(limit: float | None, cell: Cell, *, higher: bool) -> Iterator[Found]:
    """The whole interval must lie on one side of the limit."""
    if limit is None or cell.value is None:
        return
    low, high = (cell.value if bound is None else bound for bound in (cell.low, cell.high))
    good, bad = (low >= limit, high < limit) if higher else (high <= limit, low > limit)
    sign = "≥" if higher else "≤"
    if good:
        yield True, f"{cell.value:.4g} {sign} {limit:g}"
    elif bad:
        yield False, f"{cell.value:.4g} 未满足 {sign} {limit:g}"
    else:
        yield None, f"95% 区间 {low:.4g}–{high:.4g} 跨过目标 {limit:g}"


def _relative(targets: Targets, gain: Gain) -> Iterator[Found]:
    wanted = targets.ratio_to_baseline
    if wanted is None:
        return
    if gain.value is None:
        yield None, f"与基线之比：{gain.reason}"
        return
    low, high = (gain.value if bound is None else bound for bound in (gain.low, gain.high))
    if low >= wanted:
        yield True, f"为基线的 {gain.value:.3g} 倍，目标 {wanted:g} 倍"
    elif high < wanted:
        yield False, f"为基线的 {gain.value:.3g} 倍，低于目标 {wanted:g} 倍"
    else:
        yield None, f"倍数的 95% 区间 {low:.3g}–{high:.3g} 跨过目标 {wanted:g}"


def threshold(wanted: AccuracyTarget) -> str:
    """The accuracy limits as the document's threshold cell says them."""
    down = wanted.direction == "higher"
    parts = []
    if wanted.minimum is not None:
        parts.append(f"{'≥' if down else '≤'} {wanted.minimum:g}")
    if wanted.min_ratio is not None:
        parts.append(f"{'≥' if down else '≤'} 基线 × {wanted.min_ratio:g}")
    if wanted.max_drop is not None:
        parts.append(f"≥ 基线 − {wanted.max_drop:g}" if down else f"≤ 基线 + {wanted.max_drop:g}")
    return "；".join(parts) or "N/A（计划未设阈值）"


def score(wanted: AccuracyTarget, npu: Cell, baseline: Cell, run: Run | None) -> Judgement:
    """Whether an accuracy meets its limits; without a baseline it may fail, but never pass."""
    if npu.value is None:
        return Judgement(None, f"N/A（{npu.reason}）")
    if run is not None and run.simulated:
        return _SIMULATED
    missed = [text for met, text in _limits(wanted, npu.value, baseline.value) if not met]
    if missed:
        return Judgement(False, f"不达标（{'；'.join(missed)}）")
    if baseline.value is None:
        return Judgement(None, f"N/A（缺基线：{baseline.reason}）")
    return Judgement(True, "达标") if threshold(wanted)[:3] != "N/A" else _NO_LIMIT


def _limits(wanted: AccuracyTarget, value: float, baseline: float | None) -> Iterator[tuple[bool, str]]:
    higher = wanted.direction == "higher"
    bounds = [wanted.minimum]
    if baseline is not None:
        bounds.append(None if wanted.min_ratio is None else baseline * wanted.min_ratio)
        drop = wanted.max_drop
        bounds.append(None if drop is None else baseline - drop if higher else baseline + drop)
    for bound in bounds:
        if bound is not None:
            met = value >= bound if higher else value <= bound
            yield met, f"{value:.4g} 未满足 {'≥' if higher else '≤'} {bound:.4g}"


def performance(lines: Sequence[Line]) -> Judgement:
    """The verdict on all rows that have a limit."""
    judged = [entry for entry in lines if entry.target != NO_TARGET]
    if not judged:
        return Judgement(None, "N/A（计划未设性能目标）")
    return _together([entry.judgement for entry in judged])


def accuracy(scores: Sequence[Score], npu: Run | None, no_npu: str) -> Judgement:
    """The verdict on all accuracy rows."""
    if not scores:
        return Judgement(None, f"N/A（{'计划未设精度目标' if npu else no_npu}）")
    return _together([entry.judgement for entry in scores])


def _together(judgements: Sequence[Judgement]) -> Judgement:
    for passed, word in ((False, "不通过"), (None, "")):
        found = [judgement.text for judgement in judgements if judgement.passed is passed]
        if found:
            reasons = "；".join(dict.fromkeys(found))
            return Judgement(passed, f"{word}（{reasons}）" if word else reasons)
    return Judgement(True, "通过")


def overall(performance: Judgement, accuracy: Judgement) -> Judgement:
    """Both verdicts in one."""
    if False in (performance.passed, accuracy.passed):
        failed = [name for name, each in (("性能", performance), ("精度", accuracy)) if each.passed is False]
        return Judgement(False, f"不通过（{'、'.join(failed)}）")
    if performance.passed and accuracy.passed:
        return Judgement(True, "通过")
    missing = [name for name, each in (("性能", performance), ("精度", accuracy)) if each.passed is None]
    return Judgement(None, f"待定（{'、'.join(missing)}尚无结论）")
