"""The plan's targets in words: the same where they are announced and where they judge."""

from __future__ import annotations

from npueval.language import Text, same
from npueval.plan import AccuracyTarget, Targets
from npueval.records import Direction

LIMITED = frozenset({"latency_p50_ms", "latency_p95_ms", "throughput"})
"""The metrics for which a plan may set a figure."""
RELATIVE = frozenset({"latency_p50_ms", "throughput"})
"""The metrics that ``ratio_to_baseline`` is about: how many times as fast as the baseline."""


def limit(metric: str, targets: Targets) -> float | None:
    """The figure that the plan sets for a metric of performance."""
    figure: float | None = getattr(targets, metric) if metric in LIMITED else None
    return figure


def performance(metric: str, unit: str, direction: Direction, targets: Targets) -> tuple[Text, ...]:
    """Every bound that the plan sets for a metric; none where it sets none."""
    figure, sign = limit(metric, targets), "≤" if direction == "lower" else "≥"
    bounds = [same(f"{sign} {figure:g} {unit}")] if figure is not None else []
    if metric in RELATIVE and targets.ratio_to_baseline is not None:
        ratio = f"{targets.ratio_to_baseline:g}"
        bounds.append(Text(f"性能 ≥ 基线的 {ratio} 倍", f"at least {ratio} times as fast as the baseline"))
    return tuple(bounds)


def accuracy(target: AccuracyTarget) -> tuple[Text, ...]:
    """Every bound of the plan's accuracy, each to be checked with a figure and the baseline's."""
    sign, times, back = ("≥", "×", "−") if target.direction == "higher" else ("≤", "÷", "+")
    bounds = [same(f"{sign} {target.minimum:g}")] if target.minimum is not None else []
    for part, figure in ((times, target.min_ratio), (back, target.max_drop)):
        if figure is not None:
            bounds.append(Text(f"{sign} 基线 {part} {figure:g}", f"{sign} baseline {part} {figure:g}"))
    return tuple(bounds)
