"""One case from its first, cold iteration to its last sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from npueval.devices import Device, Lane
from npueval.language import same
from npueval.measuring import doubts, loops, sentences, waits, watching
from npueval.measuring.crew import Crew, crew
from npueval.measuring.ranks import ELSEWHERE, SOLO, Agreement, Ranks
from npueval.measuring.tape import Tape
from npueval.measuring.window import Outcome, drive, uncollected
from npueval.pipeline import Passage, Pipeline, Scoped
from npueval.runs.cases import QUEUE, Case, Failure, LoadMode
from npueval.workloads import Workload, input_facts, undelivered

# (columns, rows, group) -> where the samples shall lie while they are taken
TapeAt = Callable[[list[str], int, int], Path | None]

_LARGEST_GROUP = 10_000
_HEAD_START_NS = 5_000_000


@dataclass(frozen=True)
class CaseSpec:
    """Which case: a batch under a load. ``rate`` (requests/s) makes the load an open one, served by that many lanes."""

    batch: int
    precision: str
    concurrency: int = 1
    rate: float | None = None

    @property
    def load(self) -> LoadMode:
        """How requests come: one after the other, from N workers, or at their own times."""
        if self.rate is not None:
            return "open"
        return "sequence" if self.concurrency == 1 else "closed"

    def empty(self) -> Case:
        """The case before anything was measured."""
        return Case(self.batch, self.precision, self.load, self.concurrency, self.rate, complete=False)


@dataclass(frozen=True)
class Bench:
    """What all cases of a Run share."""

    device: Device
    workload: Workload
    pipeline: Pipeline
    scope: tuple[str, ...]
    warmup: int
    iterations: int
    seed: int
    ranks: Ranks = SOLO


@dataclass
class _Stage:
    """A case at work: its scoped steps, the value that enters the loop, and what was noticed on the way."""

    spec: CaseSpec
    bench: Bench
    scoped: Scoped
    value: Any
    floor_ns: float
    group: int = 1

    def loop(self, lane: Lane, tape: Tape, watch: loops.Watch = None) -> loops.Loop:
        return loops.make_loop(self.scoped, self.value, lane, self.bench.device.clock, tape, self.group, watch)

    def drive(self, loop: loops.Loop, source: loops.Planned | loops.Arrivals, tape: Tape) -> Outcome:
        return drive(loop, source, tape, self.bench.device.clock, self.bench.workload.path)


def measure_case(
    spec: CaseSpec, bench: Bench, raw: Any, cold: Passage, floor_ns: float, agree: Agreement, tape_at: TapeAt
) -> Case:
    """Measure one case after its first iteration, ``cold``. A workload that raises ends up as the case's ``error``.

    No window opens on any card before ``agree`` has found all of them ready.
    """
    device, scoped = bench.device, bench.pipeline.scoped(bench.scope)
    stage = _Stage(spec, bench, scoped, cold.values[scoped.before[-1].segment] if scoped.before else raw, floor_ns)
    before = input_facts(spec.batch, raw).sha256
    with crew(device, spec.concurrency) as workers:
        case = _warmed_up(spec.empty(), stage, workers)
        group = agree(None if case.error else stage.group)
        if group is None:
            return replace(case, error=case.error or ELSEWHERE)
        stage.group = group
        case = _timed(replace(case, group=group), stage, workers, cold, tape_at)
    if device.asynchronous and spec.load == "sequence" and bench.ranks.all(case.complete):
        case = _streamed(case, stage)
    noticed = [*case.doubts, *doubts.of_case(case, floor_ns)]
    if device.asynchronous and case.complete:
        noticed += waits.of_infer(device, scoped, stage.value)
    if input_facts(spec.batch, raw).sha256 != before:
        noticed.append(sentences.IN_PLACE)
    noticed += watching.not_delivered(cold.values["infer"], spec.batch)
    wrong = watching.wrong_output(bench.pipeline, raw, cold, device) if case.complete else ()
    return replace(case, doubts=tuple(noticed), invalid=(*case.invalid, *undelivered(cold.values), *wrong))


def _warmed_up(case: Case, stage: _Stage, workers: Crew) -> Case:
    def warm(_place: int, lane: Lane) -> tuple[Outcome, Tape]:
        tape = Tape(loops.column_names(stage.scoped, lane), stage.bench.warmup)
        return stage.drive(stage.loop(lane, tape), loops.Planned(range(stage.bench.warmup)), tape), tape

    results = workers.do(warm)
    tape = results[0][1]
    warmup = {name: series for name, series in tape.series().items() if loops.is_sample(name)}
    if stage.spec.load != "open" and warmup:
        stage.group = _group(np.sum(list(warmup.values()), axis=0), stage.floor_ns)
    failures = tuple(failure for outcome, _ in results for failure in outcome.failures)
    error = next((outcome.error for outcome, _ in results if outcome.error), None)
    noticed = (same(failures[0].error).led(sentences.WARM_UP),) if failures else ()
    return replace(case, warmup=warmup, doubts=noticed, error=error and f"in the warm-up: {error}")


def _group(warmup: Any, floor_ns: float) -> int:
    """How many iterations a sample must cover to stand clear of the floor."""
    if not len(warmup):
        return 1
    median = float(np.median(warmup[len(warmup) // 2 :]))
    short = doubts.FLOOR_FACTOR * floor_ns / max(1.0, median)
    return 1 if short <= 1 else min(_LARGEST_GROUP, math.ceil(short))


def _timed(case: Case, stage: _Stage, workers: Crew, cold: Passage, tape_at: TapeAt) -> Case:
    device, spec = stage.bench.device, stage.spec
    rows = math.ceil(stage.bench.iterations / workers.size) * workers.size
    with device.lane(own_stream=False) as lane:
        names = loops.column_names(stage.scoped, lane, queue=spec.load == "open")
    tape = Tape(names, rows, tape_at(names, rows, stage.group))
    odd: list[Any] = []
    watch = watching.shape_watch(cold.values[stage.scoped.body[-1].segment], odd)
    sources: list[loops.Planned | loops.Arrivals] = []

    def work(place: int, lane: Lane) -> Outcome:
        return stage.drive(stage.loop(lane, tape, watch), sources[place], tape)

    device.reset_memory()
    held, printed = device.held(), watching.printed()
    stage.bench.ranks.all(True)
    with uncollected():
        # Collecting takes long enough for requests to be late before the first of them is served.
        sources += _sources(stage, rows, workers.size, tape)
        outcomes = workers.do(work)
    stage.bench.ranks.all(True)
    found = _gathered(case, spec, tape, outcomes, rows)
    noticed = (
        *case.doubts,
        *watching.leak(held, device.held(), rows * stage.group, exact=device.asynchronous),
        *watching.prints(printed, watching.printed()),
    )
    wrong = (sentences.OTHER_SHAPE.filled({"count": len(odd), "shape": str(odd[0])}),) if odd else ()
    return replace(found, memory=device.memory(), doubts=noticed, invalid=wrong)


def _sources(stage: _Stage, rows: int, lanes: int, tape: Tape) -> list[loops.Planned | loops.Arrivals]:
    rate, clock = stage.spec.rate, stage.bench.device.clock
    if rate is None:
        return [loops.Planned(range(lane, rows, lanes)) for lane in range(lanes)]
    gaps = np.random.default_rng(stage.bench.seed).exponential(1e9 / rate, rows)
    schedule = (clock.now() + _HEAD_START_NS + np.cumsum(gaps)).astype(np.int64).tolist()
    shared = iter(range(rows))
    return [loops.Arrivals(shared, schedule, clock, tape.columns[QUEUE]) for _ in range(lanes)]


def _gathered(case: Case, spec: CaseSpec, tape: Tape, outcomes: list[Outcome], rows: int) -> Case:
    series = tape.series()
    samples = {name: column for name, column in series.items() if loops.is_sample(name)}
    finished = max((len(column) for column in samples.values()), default=0)
    error = next((outcome.error for outcome in outcomes if outcome.error), None)
    failures: list[Failure] = sorted((f for outcome in outcomes for f in outcome.failures), key=lambda f: f.iteration)
    return replace(
        case,
        samples=samples,
        events=series.get(loops.EVENTS),
        enqueue=series.get(loops.ENQUEUE),
        window_ns=max(o.ended for o in outcomes) - min(o.started for o in outcomes),
        items=finished * spec.batch * case.group,
        failures=tuple(failures),
        retries=sum(outcome.retries for outcome in outcomes),
        complete=finished == rows,
        error=error,
    )


def _streamed(case: Case, stage: _Stage) -> Case:
    """The same steps once more without a synchronise between them: what the device does when it is kept fed."""
    clock, iterations = stage.bench.device.clock, case.n * case.group
    loop = loops.streamed_loop(stage.scoped, stage.value)
    with stage.bench.device.lane(own_stream=False) as lane:
        finish = lane.synchronize or (lambda: None)
        stage.bench.ranks.all(True)
        finish()
        with uncollected():
            before = clock.now()
            loop(iterations)
            finish()
            after = clock.now()
    return replace(case, streamed_ns=after - before, streamed_items=iterations * stage.spec.batch)
