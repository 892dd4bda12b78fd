"""What a reader must know before trusting a case: each doubt is one sentence with the figures that say so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from npueval import statistics
from npueval.language import Text, same
from npueval.measuring import sentences
from npueval.runs.cases import QUEUE, Case
from npueval.statistics.autocorrelation import effective_samples

FLOOR_FACTOR = 20
_EVENTS_APART, _EVENTS_APART_MS = 0.10, 0.05
_HOST_BOUND = 0.8
_FAR_OUT = 10
_RIGHT_AFTER = 5
_DRIFT = 0.05
_THROUGHPUT_APART = 0.20
_NAMED = 5
_FEWEST = 30


def of_case(case: Case, floor_ns: float) -> Iterator[Text]:
    """Every doubt that the samples of a case raise."""
    if case.failures:
        count, first = len(case.failures), case.failures[0].error
        yield sentences.FAILED.filled({"failed": count, "retried": case.retries, "error": first})
    if case.n == 0:
        return
    yield from _near_the_floor(case, floor_ns)
    if "infer" in case.samples:
        yield from _events_apart(case)
        yield from _host_bound(case)
    if case.n >= _FEWEST:
        yield from _far_out(case)
        yield from _drifting(case)
        yield from _dependent(case)
    if case.load == "open":
        yield from _overloaded(case)
    elif case.complete and case.batch:
        yield from _implausible(case, case.batch)


def _near_the_floor(case: Case, floor_ns: float) -> Iterator[Text]:
    if case.group > 1:
        floor = f"{floor_ns:.0f}"
        yield sentences.GROUPED.filled({"group": case.group, "factor": FLOOR_FACTOR, "floor": floor})
    share = floor_ns / max(1, len(case.samples))
    small = [
        name
        for name, series in case.samples.items()
        if name != QUEUE and np.median(series) < FLOOR_FACTOR * share and len(case.samples) > 1
    ]
    if small:
        names = ", ".join(small)
        yield sentences.COARSE.filled({"factor": FLOOR_FACTOR, "share": f"{share:.0f}", "names": names})


def _events_apart(case: Case) -> Iterator[Text]:
    if case.events is None or not len(case.events):
        return
    host, device = (float(np.median(series)) / case.group / 1e6 for series in (case.samples["infer"], case.events))
    if abs(host - device) > max(_EVENTS_APART * host, _EVENTS_APART_MS):
        yield sentences.EVENTS_APART.filled({"host": f"{host:.3f}", "device": f"{device:.3f}"})


def _host_bound(case: Case) -> Iterator[Text]:
    if case.enqueue is None or not len(case.enqueue):
        return
    whole = case.events if case.events is not None else case.samples["infer"]
    share = float(np.median(case.enqueue)) / max(1.0, float(np.median(whole)))
    if share > _HOST_BOUND:
        yield sentences.HOST_BOUND.filled({"share": f"{share:.0%}"})


def _far_out(case: Case) -> Iterator[Text]:
    series = case.milliseconds()
    median = float(np.median(series))
    far = np.flatnonzero(series > _FAR_OUT * median)
    early = far[far < _RIGHT_AFTER]
    if early.size:
        which = _listed(series, early)
        yield sentences.FAR_OUT_EARLY.filled({"which": which, "median": f"{median:.3f}"})
    late = far[far >= _RIGHT_AFTER]
    if late.size:
        yield sentences.FAR_OUT_LATE.filled({"which": _listed(series, late), "median": f"{median:.3f}"})
    outliers = case.summary().outliers
    if outliers > far.size:
        z = f"{statistics.OUTLIER_Z:.0f}"
        yield sentences.OUTLIERS.filled({"outliers": outliers, "n": case.n, "z": z})


def _listed(series: NDArray[np.float64], rows: NDArray[np.intp]) -> Text:
    named = same(", ".join(f"{row} ({series[row]:.1f} ms)" for row in rows[:_NAMED]))
    more = rows.size - _NAMED
    return sentences.AND_MORE.filled({"which": named, "more": more}) if more > 0 else named


def _drifting(case: Case) -> Iterator[Text]:
    series = case.milliseconds()
    third = series.size // 3
    change = statistics.drift(series)
    first, last = (np.quantile(part, (0.25, 0.75)) for part in (series[:third], series[-third:]))
    # An interval would not do: a series that drifts is autocorrelated, and so has none to speak of.
    apart = last[0] > first[1] or last[1] < first[0]
    if abs(change - 1) > _DRIFT and apart:
        yield sentences.DRIFT.filled({"change": f"{change - 1:+.1%}"})


def _dependent(case: Case) -> Iterator[Text]:
    worth = effective_samples(case.milliseconds())
    if worth < case.n / 2:
        yield sentences.DEPENDENT.filled({"n": case.n, "worth": f"{worth:.0f}"})


def _overloaded(case: Case) -> Iterator[Text]:
    waits = case.samples[QUEUE] / 1e6
    third = max(1, waits.size // 3)
    first, last = float(np.median(waits[:third])), float(np.median(waits[-third:]))
    if last > 2 * first and last > float(np.median(case.milliseconds("infer"))):
        yield sentences.OVERLOAD.filled({"first": f"{first:.2f}", "last": f"{last:.2f}"})


def _implausible(case: Case, batch: int) -> Iterator[Text]:
    found = case.throughput()
    implied = batch * case.concurrency * case.cards / (case.summary().mean / 1e3)
    if found and abs(found / implied - 1) > _THROUGHPUT_APART:
        yield sentences.OUTSIDE.filled({"found": f"{found:.4g}", "implied": f"{implied:.4g}"})
