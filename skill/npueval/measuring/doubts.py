"""What a reader must know before trusting a case: each doubt is one sentence with the figures that say so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npueval import statistics
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


def of_case(case: Case, floor_ns: float) -> Iterator[str]:
    """Every doubt that the samples of a case raise."""
    if case.failures:
        yield f"{len(case.failures)} failed attempt(s), {case.retries} retried; first: {case.failures[0].error}"
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


def _near_the_floor(case: Case, floor_ns: float) -> Iterator[str]:
    if case.group > 1:
        floor = f"{FLOOR_FACTOR} x the floor of {floor_ns:.0f} ns"
        yield f"one sample covers {case.group} iterations, for one alone is under {floor}"
    share = floor_ns / max(1, len(case.samples))
    small = [
        name
        for name, series in case.samples.items()
        if name != QUEUE and np.median(series) < FLOOR_FACTOR * share and len(case.samples) > 1
    ]
    if small:
        yield f"within {FLOOR_FACTOR} x the clock's own cost ({share:.0f} ns), so coarse: {', '.join(small)}"


def _events_apart(case: Case) -> Iterator[str]:
    if case.events is None or not len(case.events):
        return
    host, device = (float(np.median(series)) / case.group / 1e6 for series in (case.samples["infer"], case.events))
    if abs(host - device) > max(_EVENTS_APART * host, _EVENTS_APART_MS):
        yield (
            f"infer takes {host:.3f} ms by the host's clock and {device:.3f} ms by the device's events: "
            "around small kernels events show the host's dispatch"
        )


def _host_bound(case: Case) -> Iterator[str]:
    if case.enqueue is None or not len(case.enqueue):
        return
    whole = case.events if case.events is not None else case.samples["infer"]
    share = float(np.median(case.enqueue)) / max(1.0, float(np.median(whole)))
    if share > _HOST_BOUND:
        yield f"host-bound: launching takes {share:.0%} of the device's time: dispatch is what limits it"


def _far_out(case: Case) -> Iterator[str]:
    series = case.milliseconds()
    median = float(np.median(series))
    far = np.flatnonzero(series > _FAR_OUT * median)
    early = far[far < _RIGHT_AFTER]
    if early.size:
        what = ", ".join(f"{row} ({series[row]:.1f} ms)" for row in early)
        yield f"far out of line right after a new shape (compilation?): iteration {what}; median {median:.3f} ms"
    late = far[far >= _RIGHT_AFTER]
    if late.size:
        what = ", ".join(f"{row} ({series[row]:.1f} ms)" for row in late[:_NAMED])
        more = f" and {late.size - _NAMED} more" if late.size > _NAMED else ""
        yield f"far out of line (a stall, or recompilation): iteration {what}{more}; median {median:.3f} ms"
    outliers = case.summary().outliers
    if outliers > far.size:
        yield f"{outliers} of {case.n} samples lie far out (modified z > {statistics.OUTLIER_Z:.0f}); none was removed"


def _drifting(case: Case) -> Iterator[str]:
    series = case.milliseconds()
    third = series.size // 3
    change = statistics.drift(series)
    first, last = (np.quantile(part, (0.25, 0.75)) for part in (series[:third], series[-third:]))
    # An interval would not do: a series that drifts is autocorrelated, and so has none to speak of.
    apart = last[0] > first[1] or last[1] < first[0]
    if abs(change - 1) > _DRIFT and apart:
        yield f"drift: the last third of the samples takes {change - 1:+.1%} against the first third"


def _dependent(case: Case) -> Iterator[str]:
    worth = effective_samples(case.milliseconds())
    if worth < case.n / 2:
        yield f"autocorrelated: {case.n} samples are worth {worth:.0f} independent ones; the intervals use that"


def _overloaded(case: Case) -> Iterator[str]:
    waits = case.samples[QUEUE] / 1e6
    third = max(1, waits.size // 3)
    first, last = float(np.median(waits[:third])), float(np.median(waits[-third:]))
    if last > 2 * first and last > float(np.median(case.milliseconds("infer"))):
        yield f"overload: requests come faster than they are served, the wait grows from {first:.2f} to {last:.2f} ms"


def _implausible(case: Case, batch: int) -> Iterator[str]:
    found = case.throughput()
    implied = batch * case.concurrency * case.cards / (case.summary().mean / 1e3)
    if found and abs(found / implied - 1) > _THROUGHPUT_APART:
        yield (
            f"{found:.4g} items/s were finished, but batch x concurrency / latency is {implied:.4g}: "
            "time passes outside the measured segments"
        )
