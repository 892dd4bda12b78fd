"""What happens in the measuring process: load, measure each case that is not done yet, check the outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from npueval.devices import Device
from npueval.errors import WorkloadError
from npueval.language import Text
from npueval.measuring import seeds, sentences
from npueval.measuring.case_work import Bench, CaseSpec, measure_case
from npueval.measuring.checking import check_outputs
from npueval.measuring.floor import floor_ns
from npueval.measuring.journal import COLD, PROFILE, TAIL, Job, Journal
from npueval.measuring.profiling import profile
from npueval.measuring.ranks import SOLO, Agreement, Ranks, merged
from npueval.measuring.sampling import sample, unread
from npueval.measuring.window import is_out_of_memory, said, settled
from npueval.pipeline import Passage
from npueval.runs import to_data
from npueval.runs.cases import Case
from npueval.runs.conditions import Profile, Resources
from npueval.sessions import begin, seed_all
from npueval.workloads import Workload, input_facts, load

Report = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class _Work:
    """A job under way in this process."""

    job: Job
    journal: Journal
    bench: Bench
    raw: Mapping[int, Any]
    floor_ns: float


def work(job: Job, device: Device, journal: Journal, report: Report, ranks: Ranks = SOLO) -> None:
    """Do what is left of a job, together with the other ``ranks``; every result goes to the journal.

    :class:`WorkloadError` where the workload does not load or its inputs cannot be made. A case that fails is written
    with its error and the next one begins.
    """
    noticed = [*device.doubts()]
    report("load", {})
    before = device.clock.now()
    workload = load(job.workload, Path(job.root))
    with seeds.watched(noticed, job.seed):
        bench = _loaded(workload, job, device, ranks)
        load_ns = device.clock.now() - before
        raw = {batch: _inputs(bench, batch, noticed) for batch in dict.fromkeys(spec.batch for spec in job.cases)}
        # Before anything is written: a child that the workload has forked is found out here.
        report("floor", {})
        with settled():
            floor = floor_ns(device, [step.segment for step in bench.pipeline.steps if step.segment in job.scope])
            journal.start(_head(bench, raw, load_ns, floor))
            _measure_missing(_Work(job, journal, bench, raw, floor), report)
            report("check", {})
            checked = check_outputs(bench, raw.get(job.target_batch, next(iter(raw.values()))))
        noticed += checked.doubts
        tail = {"output_check": checked.check, "invalid": checked.wrong, "doubts": noticed}
        journal.put(TAIL, to_data(tail))
        if job.sampling_s:
            report("sample", {})
            resources, broken = _sampled(bench, raw, job)
            journal.put(TAIL, to_data({**tail, "resources": resources, "doubts": [*noticed, *broken]}))
        if job.profiled:
            report("profile", {})
            journal.put(PROFILE, to_data(_profiled(bench, raw, job, journal.profile_folder)))


def _loaded(workload: Workload, job: Job, device: Device, ranks: Ranks) -> Bench:
    pipeline = begin(workload, job.setup, device).pipeline
    # Refused now, not after the first case: a plan none of whose segments exists here.
    pipeline.scoped(job.scope)
    return Bench(device, workload, pipeline, job.scope, job.warmup, job.iterations, job.seed, ranks)


def _sampled(bench: Bench, raw: Mapping[int, Any], job: Job) -> tuple[Resources, list[Text]]:
    """Read the card while it runs the target batch; a workload that fails here has been measured all the same."""
    try:
        with _walking(bench, raw, job) as (walk, _):
            return sample(bench.device, walk, job.sampling_s), []
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and must not cost a finished measurement
        resources, doubt = unread(
            error.message if isinstance(error, WorkloadError) else said(error, bench.workload.path)
        )
        return resources, [doubt]


def _profiled(bench: Bench, raw: Mapping[int, Any], job: Job, folder: Path) -> Profile:
    with _walking(bench, raw, job) as (walk, batch):
        return profile(bench.device, walk, batch, folder)


@contextlib.contextmanager
def _walking(bench: Bench, raw: Mapping[int, Any], job: Job) -> Iterator[tuple[Callable[[], object], int]]:
    """One walk of the target batch, to be repeated, and that batch."""
    batch = job.target_batch if job.target_batch in raw else next(iter(raw))
    with bench.device.lane(own_stream=False) as lane:
        yield partial(bench.pipeline.walk, raw[batch], lane, bench.device.clock), batch


def _measure_missing(task: _Work, report: Report) -> None:
    ranks = task.bench.ranks
    for number, spec in enumerate(task.job.cases):
        # Also where only another card lacks it: all of them measure, or none.
        if not ranks.all(task.journal.case(number) is not None):
            report("case", {"number": number, "name": spec.empty().name})
            task.journal.put_case(number, merged(ranks.share(_case(task, number, spec))))


def _inputs(bench: Bench, batch: int, noticed: list[Text]) -> Any:
    raw, again = (bench.workload.inputs(batch, bench.seed) for _ in range(2))
    if input_facts(batch, raw).sha256 != input_facts(batch, again).sha256:
        noticed.append(sentences.UNSTEADY_INPUTS.filled({"batch": batch, "seed": bench.seed}))
    return raw


def _head(bench: Bench, raw: Mapping[int, Any], load_ns: int, floor: float) -> dict[str, Any]:
    device = bench.device
    return {
        "device": to_data(device.describe()),
        "cards": bench.ranks.size,
        "simulated": device.simulated,
        "asynchronous": device.asynchronous,
        "clock": device.clock.name,
        "workload": to_data(bench.workload.facts()),
        "inputs": to_data([input_facts(batch, value) for batch, value in raw.items()]),
        "load_ns": load_ns,
        "floor_ns": floor,
    }


def _case(task: _Work, number: int, spec: CaseSpec) -> Case:
    seed_all(task.job.seed, task.bench.device)
    agree = Agreement(task.bench.ranks)

    def tape_at(columns: list[str], rows: int, group: int) -> Path:
        return task.journal.tape_at(number, columns, rows, group)

    try:
        bench, cold = _first_hit(task, spec.batch)
        return measure_case(spec, bench, task.raw[spec.batch], cold, task.floor_ns, agree, tape_at)
    except WorkloadError as error:
        where = said(error.__cause__, task.bench.workload.path) if error.__cause__ else error.message
        return task.journal.unfinished(number, spec, f"outside the timed window: {where}")
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return task.journal.unfinished(number, spec, said(error, task.bench.workload.path))
    finally:
        agree.settle()
        task.bench.device.release()


def _first_hit(task: _Work, batch: int) -> tuple[Bench, Passage]:
    """The first iteration of a case, whose time is kept apart when no earlier case had this batch."""
    bench = task.bench
    with task.bench.device.lane(own_stream=False) as lane:
        cold = bench.pipeline.walk(task.raw[batch], lane, task.bench.device.clock)
    pipeline = bench.pipeline.without_idle_transfers(task.raw[batch], cold)
    hits = (task.journal.get(COLD) or {"first_hits": {}})["first_hits"]
    hits.setdefault(str(batch), sum(cold.durations.values()))
    not_measured = dict(pipeline.scoped(bench.scope).not_measured)
    task.journal.put(COLD, to_data({"first_hits": hits, "not_measured": not_measured}))
    return replace(bench, pipeline=pipeline), cold
