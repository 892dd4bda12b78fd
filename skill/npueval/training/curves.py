"""A training curve: the values of one metric by step, with what was not finite kept apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from npueval.errors import FormatError
from npueval.logs.logged import LoggedRun, Series
from npueval.records import Direction

TOTALS = ("loss", "train/loss", "total_loss", "lm_loss", "train_loss")


@dataclass(frozen=True)
class Curve:
    """The finite ``values`` of a metric and the step of each, counted over the whole training.

    ``numbered`` is false where the source names no steps: they are then the numbers of the values. ``not_finite`` says
    where the first NaN or Inf stands (``step 90``, ``train.log:97``), ``None`` where there is none. ``source`` is the
    path of a log, or names the run. ``left_out`` counts the earlier attempts of a log that were restarted from nothing.
    """

    metric: str
    values: tuple[float, ...]
    steps: tuple[float, ...]
    direction: Direction = "lower"
    numbered: bool = True
    not_finite: str | None = None
    source: str = ""
    left_out: int = 0

    @property
    def span(self) -> float:
        """How many steps the curve covers."""
        return self.steps[-1] - self.steps[0] + 1 if self.steps else 0.0


def of_values(metric: str, values: Sequence[float], *, direction: Direction = "lower", source: str = "") -> Curve:
    """A curve of consecutive steps from 1, NaN and Inf among them."""
    kept = [(value, float(step)) for step, value in enumerate(values, 1) if math.isfinite(value)]
    lost = next((f"step {step}" for step, value in enumerate(values, 1) if not math.isfinite(value)), None)
    return Curve(
        metric,
        tuple(value for value, _ in kept),
        tuple(step for _, step in kept),
        direction,
        not_finite=lost,
        source=source,
    )


def of_log(series: Sequence[Series], source: str = "") -> Curve:
    """The curve that the series of one metric in the successive runs of a log make together.

    A run that begins where an earlier one had been before is a resume: it continues the curve from there. A run that
    begins at the very beginning is a new attempt: what came before it is left out, and a remark says so.
    """
    kept: list[_Point] = []
    left_out, lost = 0, None
    for piece in series:
        points = [_Point(*values) for values in zip(piece.epochs, piece.steps, piece.values, strict=True)]
        if points and kept:
            remaining = [point for point in kept if point.position < points[0].position]
            left_out += not remaining
            lost = lost if remaining else None
            kept = remaining
        kept += points
        lost = lost or (str(piece.first_not_finite) if piece.first_not_finite else None)
    steps = _global_steps(kept)
    column = series[0].column
    return Curve(
        column.metric,
        tuple(point.value for point in kept),
        tuple(steps or (float(number) for number in range(1, len(kept) + 1))),
        column.direction,
        numbered=steps is not None,
        not_finite=lost,
        source=source,
        left_out=left_out,
    )


def of_runs(runs: Sequence[LoggedRun], metric: str | None = None, source: str = "") -> Curve:
    """The curve of a metric (by default the training loss) over the runs of a log; :class:`FormatError` where none."""
    keys = list(dict.fromkeys(key for run in runs for key in run.series))
    losses = [name for phase, name in keys if phase == "train" and "loss" in name.lower()]
    # A total is printed behind its parts, and an estimate at times only.
    total = next((name for name in TOTALS if name in losses), None)
    wanted = metric or total or next(iter(losses), None)
    # A metric may be logged for training and for evaluation; the training's own comes first.
    chosen = next((key for key in sorted(keys, key=lambda key: key[0] != "train") if key[1] == wanted), None)
    if chosen is None:
        what = f"no series called {metric!r}" if metric else "no training loss in it"
        names = ", ".join(dict.fromkeys(name for _, name in keys))
        raise FormatError(what, path=source, hint=f"it holds {names}; choose one with --metric")
    return of_log([run.series[chosen] for run in runs if chosen in run.series], source)


class _Point(NamedTuple):
    epoch: float
    step: float
    value: float

    @property
    def position(self) -> tuple[float, float]:
        return self.epoch, self.step


def _global_steps(points: Sequence[_Point]) -> list[float] | None:
    """Where known, the step of each point over the whole training: steps that begin anew in an epoch are added up."""
    if not all(0 <= point.step < math.inf for point in points):
        return None
    total, found = 0.0, []
    for previous, point in pairwise([_Point(-1.0, 0.0, 0.0), *points]):
        total += previous.step if point.step <= previous.step and point.epoch > previous.epoch else 0.0
        found.append(total + point.step)
    return found
