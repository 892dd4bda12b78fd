"""May two measurements be held against each other? Point by point: same, differs, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from npueval.records import Baseline, Grade, Point
from npueval.runs import Run

Conditions = Mapping[str, "str | None"]

POINTS = (
    "scope",
    "segments",
    "synchronisation",
    "batch",
    "precision",
    "shapes",
    "inputs",
    "dataset",
    "load",
    "percentile",
    "cards",
    "model",
)
FORBIDDING = ("scope", "segments", "batch", "precision", "model")
"""A difference in one of these makes a ratio meaningless."""

NAMES = {
    "scope": "测量方式",
    "segments": "测量范围",
    "synchronisation": "同步方式",
    "batch": "batch",
    "precision": "精度",
    "shapes": "输入形状",
    "inputs": "输入数据",
    "dataset": "数据集",
    "load": "负载方式",
    "percentile": "分位数算法",
    "cards": "卡数",
    "model": "模型参数量",
}


def of_run(run: Run, batch: int, concurrency: int = 1) -> Conditions:
    """The conditions of one case of a Run."""
    case = run.case(batch, concurrency)
    facts = next((facts for facts in run.inputs if facts.batch == batch), None)
    return {
        "scope": run.scope,
        "segments": "+".join(run.segments) or None,
        "synchronisation": "synchronised" if run.scope == "in-process" else None,
        "batch": str(batch),
        "precision": run.precision,
        "shapes": str([array.shape for array in facts.arrays]) if facts else None,
        "inputs": facts.sha256 if facts else None,
        "dataset": None,
        "load": f"{case.load}/{case.concurrency}" if case else None,
        "percentile": run.protocol.percentile,
        "cards": str(run.cards),
        "model": str(run.workload.parameters) if run.workload.parameters else None,
    }


def of_baseline(baseline: Baseline) -> Conditions:
    """The conditions that a log states; what it does not say is unknown."""
    return {
        "batch": baseline.fact("batch"),
        "precision": baseline.fact("precision"),
        "dataset": baseline.fact("dataset"),
        "cards": baseline.fact("cards"),
        "model": baseline.fact("parameters"),
    }


def points(ours: Conditions, theirs: Conditions) -> tuple[Point, ...]:
    """Every condition of both sides held against each other."""
    return tuple(_point(name, ours.get(name), theirs.get(name)) for name in POINTS)


def _point(name: str, ours: str | None, theirs: str | None) -> Point:
    if ours is None or theirs is None:
        return Point(name, "unknown", ours, theirs)
    return Point(name, "same" if ours == theirs else "differs", ours, theirs)


def refusal(found: Sequence[Point]) -> str:
    """Why no ratio may be made, in the document's words; empty where one may."""
    reasons = [
        f"{NAMES[p.name]}不同（{p.ours} 与 {p.theirs}）"
        for p in found
        if p.name in FORBIDDING and p.outcome == "differs"
    ]
    return f"不可比：{'、'.join(reasons)}" if reasons else ""


def grade_of_runs(found: Sequence[Point]) -> Grade:
    """Two Runs with raw samples: A where the inputs and the whole protocol are the same, else B."""
    decisive = [point for point in found if point.name != "dataset"]
    return Grade.A if all(point.outcome == "same" for point in decisive) else Grade.B
