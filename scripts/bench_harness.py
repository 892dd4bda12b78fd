#!/usr/bin/env python3
"""What measuring costs: prints each figure beside its bound; exits 1 when one is missed. One run, ratios, no tuning.

python scripts/bench_harness.py            all of it (about half a minute)
python scripts/bench_harness.py --json     the same as one JSON object
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from npueval import runs
from npueval.devices import open_device
from npueval.measuring import loops
from npueval.measuring.tape import Tape
from npueval.pipeline import Scoped, Step
from npueval.runs.cases import SEGMENTS, Case

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.make_runs import make_run

ITERATIONS = 50_000
ROUNDS = 7
clock = time.perf_counter_ns


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, its bound, and whether a larger value is the better one."""

    name: str
    value: float | None
    bound: float
    unit: str
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        if self.value is None:
            return f"  n/a  {self.name}: {self.note}"
        sign = ">=" if self.at_least else "<="
        mark = "ok  " if self.met else "MISS"
        return f"  {mark} {self.name}: {self.value:.4g} {self.unit} ({sign} {self.bound:g})  {self.note}".rstrip()


def nothing(value: Any) -> Any:
    return value


def by_hand_one(columns: list[list[int]], rows: range) -> None:
    (first,) = columns
    call, value = nothing, None
    for row in rows:
        before = clock()
        call(value)
        after = clock()
        first[row] = after - before


def by_hand_five(columns: list[list[int]], rows: range) -> None:
    a, b, c, d, e = columns
    call, value = nothing, None
    for row in rows:
        t0 = clock()
        made = call(value)
        t1 = clock()
        made = call(made)
        t2 = clock()
        made = call(made)
        t3 = clock()
        made = call(made)
        t4 = clock()
        made = call(made)
        t5 = clock()
        a[row] = t1 - t0
        b[row] = t2 - t1
        c[row] = t3 - t2
        d[row] = t4 - t3
        e[row] = t5 - t4


def our_loop(segments: tuple[str, ...], tape: Tape, call: Callable[[Any], Any] = nothing) -> loops.Loop:
    device = open_device("cpu")
    scoped = Scoped((), tuple(Step(segment, call) for segment in segments), segments, (), {})
    with device.lane(own_stream=False) as lane:
        return loops.make_loop(scoped, None, lane, device.clock, tape, 1, None)


def alternating(first: Callable[[], None], second: Callable[[], None]) -> tuple[float, float]:
    """ns an iteration of both, each the least of several rounds taken in turn (the rest is other people's work)."""
    taken: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    for _ in range(ROUNDS):
        for place, loop in enumerate((first, second)):
            before = clock()
            loop()
            taken[place].append((clock() - before) / ITERATIONS)
    gc.enable()
    return min(taken[0]), min(taken[1])


def harness_cost() -> Iterator[Figure]:
    for segments, by_hand in ((("infer",), by_hand_one), (SEGMENTS, by_hand_five)):
        loop, rows = our_loop(segments, Tape(segments, ITERATIONS)), range(ITERATIONS)
        columns = [[0] * ITERATIONS for _ in segments]
        ours, hand = alternating(partial(loop, rows), partial(by_hand, columns, rows))
        note = f"ours {ours:.0f} ns, by hand {hand:.0f} ns an iteration"
        yield Figure(f"harness / hand-written loop, {len(segments)} segment(s)", ours / hand, 2.0, "x", note=note)


def against_loadgen() -> Figure:
    name = "LoadGen SingleStream / ours, a query that does nothing"
    try:
        import mlperf_loadgen as loadgen
    except ImportError:
        return Figure(name, None, 5.0, "x", True, "mlcommons-loadgen is not installed")
    tape = Tape(("infer",), ITERATIONS)
    loop = our_loop(("infer",), tape)
    before = clock()
    loop(range(ITERATIONS))
    ours = (clock() - before) / ITERATIONS
    theirs = statistics.median(single_stream(loadgen) for _ in range(3))
    return Figure(name, theirs / ours, 5.0, "x", True, f"LoadGen {theirs:.0f} ns, ours {ours:.0f} ns a query")


def single_stream(loadgen: Any, queries: int = 20_000) -> float:
    """ns a query of LoadGen's SingleStream, from the first query issued to the last one finished."""
    frame: list[int] = []

    def issue(samples: list[Any]) -> None:
        frame.append(clock())
        loadgen.QuerySamplesComplete([loadgen.QuerySampleResponse(sample.id, 0, 0) for sample in samples])

    settings = loadgen.TestSettings()
    settings.scenario = loadgen.TestScenario.SingleStream
    settings.mode = loadgen.TestMode.PerformanceOnly
    settings.min_query_count = settings.max_query_count = queries
    settings.min_duration_ms = 0
    sut = loadgen.ConstructSUT(issue, lambda: None)
    qsl = loadgen.ConstructQSL(1, 1, lambda _samples: None, lambda _samples: None)
    with tempfile.TemporaryDirectory() as folder:
        output = loadgen.LogOutputSettings()
        output.outdir = folder
        log = loadgen.LogSettings()
        log.log_output = output
        loadgen.StartTestWithLogSettings(sut, qsl, settings, log)
    loadgen.DestroyQSL(qsl)
    loadgen.DestroySUT(sut)
    return (frame[-1] - frame[0]) / (len(frame) - 1)


def memory_while_measuring(samples: int = 1_000_000) -> Figure:
    """Python's and the tape's memory at its peak, while a million samples are taken and gathered."""
    tracemalloc.start()
    tape = Tape(("infer",), samples)
    our_loop(("infer",), tape)(range(samples))
    series = tape.series()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    mapped = samples * 8
    assert len(series["infer"]) == samples
    return Figure("memory of a million samples while measuring", (peak + mapped) / 1e6, 20.0, "MB")


def reading_ten_million() -> Figure:
    samples = np.random.default_rng(0).lognormal(14, 0.1, 10_000_000).astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = runs.save(make_run(cases=(Case(1, "fp32", samples={"infer": samples}),)), folder)
        size = path.stat().st_size / len(samples)
        before = clock()
        summary = runs.load(path).cases[0].summary()
        taken = (clock() - before) / 1e9
    assert summary.n == len(samples)
    return Figure("read and summarise 10 million samples", taken, 3.0, "s", note=f"{size:.2f} bytes a sample on disk")


def known_time() -> Figure:
    def busy(value: Any) -> Any:
        end = clock() + 1_000_000
        while clock() < end:
            pass
        return value

    tape = Tape(("infer",), 500)
    our_loop(("infer",), tape, busy)(range(500))
    median = float(np.median(tape.series()["infer"]))
    return Figure(
        "median of a 1 ms busy wait, off by", abs(median / 1e6 - 1) * 100, 1.0, "%", note=f"{median / 1e6:.4f} ms"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    figures = [*harness_cost(), against_loadgen(), memory_while_measuring(), reading_ten_million(), known_time()]
    if as_json:
        print(json.dumps([{**asdict(figure), "met": figure.met} for figure in figures], indent=1))
    else:
        print(*figures, sep="\n")
    return 1 if any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
