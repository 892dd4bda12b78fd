"""Measure a workload as its plan says; the answer is a Run."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npueval import __version__, isolation, statistics
from npueval.devices import KINDS, Device
from npueval.errors import MeasurementError
from npueval.language import Text
from npueval.measuring import output, profiling, sentences
from npueval.measuring.case_work import CaseSpec
from npueval.measuring.journal import COLD, HEAD, PROFILE, TAIL, Job, Journal
from npueval.measuring.ranks import placed
from npueval.measuring.supervisor import Progress, supervise
from npueval.measuring.worker import work
from npueval.runs import Run, from_data, profile_from_data, to_data
from npueval.runs.cases import Case
from npueval.runs.conditions import ColdStart, Profile, Protocol

# The kit measures a frozen plan on hosts that lack what it takes to read one.
if TYPE_CHECKING:
    from npueval.plan import Plan

__all__ = ["case_specs", "measure", "placed"]

JOURNALS = ".journal"
SAMPLING_S = 2.0


def measure(
    plan: Plan,
    *,
    device: str | Device | None = None,
    environment: Mapping[str, Any] | None = None,
    journal: Path | None = None,
    progress: Progress = lambda _line: None,
    sampling_s: float = SAMPLING_S,
    profiled: bool = False,
) -> Run:
    """Measure every case of the plan on ``device`` (by default the plan's) and return the Run, which is not yet saved.

    A Run is of one precision, the plan's first: each of several is measured by itself (``plan.each()``), so that no
    process ever holds two copies of the model.

    The work is done in a process of its own, which writes to a folder under ``journal`` (by default in the plan's
    ``runs``): called again after it was killed, the measurement goes on with the cases that are missing. A device
    object instead of a name is measured in this process. ``progress`` hears one line for each step. After the timing
    the work is repeated for ``sampling_s`` seconds while power, temperature and utilisation are read; ``profiled`` has
    a few iterations more run under the framework's profiler, whose trace is kept in ``runs/profiles/<run id>``.

    :class:`NotExecuted` where the device is not there (there is no fall-back), :class:`WorkloadError` where the
    workload cannot be used, :class:`MeasurementError` where not one case gave a sample.
    """
    name = device.name if isinstance(device, Device) else device or plan.device
    machine = str((environment or {}).get("digest", ""))
    job = replace(_job(plan, name, sampling_s, profiled), machine=machine)
    notes = Journal.open(journal or plan.runs / JOURNALS, job)
    with notes.held():
        resumed = any(notes.case(number) for number in range(len(job.cases)))
        notes.begin(job)
        if isinstance(device, Device):
            work(job, device, notes, lambda event, facts: progress(f"{event} {facts.get('name', '')}".strip()))
        else:
            supervise(job, notes, progress)
        run = _run(plan, job, notes, environment or {}, resumed)
        if not any(case.n for case in run.cases):
            notes.forget_cases()
            raise MeasurementError(f"not one sample was taken: {run.cases[0].error}", hint=f"see {notes.folder}")
        run = _with_trace(run, notes, plan.runs) if job.profiled else run
        notes.remove()
    return run


def _with_trace(run: Run, notes: Journal, folder: Path) -> Run:
    """The Run with its profile, whose trace moves beside the Runs; of several cards the first keeps its own."""
    told = notes.get(PROFILE)
    if told is None:
        early = Text("进程在 profiling 之前结束", "the process ended before the profiling pass")
        return replace(run, profile=Profile(reason=early))
    made = profile_from_data(told)
    if made.file is None or placed()[0] > 0:
        return replace(run, profile=replace(made, file=None))
    home = folder / profiling.FOLDER / run.id
    home.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(notes.profile_folder, home)
    return replace(run, profile=replace(made, file=f"{profiling.FOLDER}/{run.id}/{made.file}"))


def case_specs(plan: Plan) -> tuple[CaseSpec, ...]:
    """Every batch under every load of the plan: each concurrency, then each arrival rate served by the most workers."""
    loads: list[tuple[int, float | None]] = [(workers, None) for workers in plan.concurrency]
    loads += [(max(plan.concurrency), rate) for rate in plan.arrival_rates]
    return tuple(CaseSpec(batch, plan.precision, *load) for batch in plan.batches for load in loads)


def _job(plan: Plan, device: str, sampling_s: float, profiled: bool) -> Job:
    rank, ranks, on_host = placed()
    if ranks > 1 and device in KINDS and device != "cpu":
        device = f"{device}:{on_host}"
    return Job(
        workload=plan.workload,
        root=str(plan.root),
        device=device,
        precision=plan.precision,
        precision_mode=plan.precision_mode,
        cases=case_specs(plan),
        target_batch=plan.target_batch,
        seed=plan.seed,
        scope=plan.segments,
        warmup=plan.warmup,
        iterations=plan.iterations,
        timeout_s=plan.case_timeout_s,
        sampling_s=sampling_s,
        profiled=profiled,
        rank=rank,
        ranks=ranks,
    )


def _run(plan: Plan, job: Job, journal: Journal, environment: Mapping[str, Any], resumed: bool) -> Run:
    head, cold, tail = (journal.get(name) or {} for name in (HEAD, COLD, TAIL))
    if not head:
        raise MeasurementError("the worker ended before it had loaded the workload", hint=f"see {journal.folder}")
    cases = tuple(filter(None, (journal.case(number) for number in range(len(job.cases)))))
    created = datetime.now(timezone.utc)
    hits = cold.get("first_hits", {})
    # Through the file's own form, so that what is measured and what is read back cannot differ.
    return from_data(
        to_data(
            Run(
                id=f"{created:%Y%m%dT%H%M%SZ}-{head['device']['kind']}-{secrets.token_hex(2)}",
                created=f"{created:%Y-%m-%dT%H:%M:%SZ}",
                tool=__version__,
                device=head["device"],
                precision=job.precision,
                unit=plan.unit,
                seed=job.seed,
                protocol=_protocol(job, head),
                workload=head["workload"],
                simulated=head["simulated"],
                cards=head["cards"],
                complete=len(cases) == len(job.cases) and all(case.complete for case in cases),
                plan_sha256=plan.sha256,
                floor_ns=head["floor_ns"],
                not_measured=cold.get("not_measured", {}),
                cold_start=ColdStart(head["load_ns"], next(iter(hits.values()), None), hits),
                inputs=head["inputs"],
                output_check=tail.get("output_check"),
                cases=cases,
                resources=tail.get("resources"),
                environment=environment,
                invalid=(*tail.get("invalid", ()), *(why.led(case.name) for case in cases for why in case.invalid)),
                doubts=(
                    *tail.get("doubts", ()),
                    *output.doubts(journal.folder / isolation.OUTPUT),
                    *_resumed(resumed),
                    *_unfinished(cases),
                ),
            )
        )
    )


def _protocol(job: Job, head: Mapping[str, Any]) -> Protocol:
    each = "before the first and after every segment of every iteration; once at the end of the streamed window"
    return Protocol(
        warmup=job.warmup,
        iterations=job.iterations,
        scope=job.scope,
        synchronisation=each if head["asynchronous"] else "not needed: calls return finished",
        percentile=statistics.METHOD,
        clock=head["clock"],
        precision_mode=job.precision_mode,
    )


def _resumed(resumed: bool) -> tuple[Text, ...]:
    return (sentences.RESUMED,) if resumed else ()


def _unfinished(cases: tuple[Case, ...]) -> Iterator[Text]:
    for case in cases:
        if not case.complete:
            yield sentences.UNFINISHED.filled({"name": case.name, "n": case.n, "error": str(case.error)})
