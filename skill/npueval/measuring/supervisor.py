"""The parent's side: have workers do the job case by case, and go on with the next case when one ends its worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from npueval import isolation
from npueval.devices import open_device
from npueval.errors import MeasurementError
from npueval.language import Text
from npueval.measuring import sentences
from npueval.measuring.journal import PROFILE, TAIL, Job, Journal
from npueval.measuring.ranks import join
from npueval.measuring.sampling import unread
from npueval.measuring.worker import Report, work
from npueval.runs import to_data
from npueval.runs.conditions import Profile

Progress = Callable[[str], None]
_DOING = {
    "open": "opening the device",
    "load": "loading the workload",
    "floor": "measuring the harness floor",
    "check": "checking the outputs",
    "sample": "reading power, temperature and utilisation",
    "profile": "profiling",
}
_UNPREPARED = {"open": "the device did not open", "load": "the workload did not load", "floor": "no floor was measured"}


def supervise(job: Job, journal: Journal, progress: Progress) -> None:
    """Have workers do the job until its journal is complete.

    The error of a worker that could not begin is raised here as what it was. A case that ends its worker is written as
    incomplete, with the samples so far, and the next worker goes on with the next case.
    """
    blame = Path(job.root, job.workload.partition(":")[0]).resolve()
    with_npu = job.device.partition(":")[0] == "npu"
    for _ in range(len(job.cases) + 2):
        last: dict[str, Any] = {"event": "start"}

        def heard(event: dict[str, Any], last: dict[str, Any] = last) -> None:
            last.update(event)
            _tell(event, len(job.cases), progress)

        ended = isolation.run(
            f"{__name__}:in_worker",
            journal.folder,
            blame=blame,
            timeout_s=job.timeout_s,
            with_npu=with_npu,
            heard=heard,
        )
        if ended.error:
            journal.remove()
            raise ended.error
        if ended.done or _given_up(last, ended.reason, job, journal, progress):
            return


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does."""
    journal = Journal(folder)
    job = journal.job()
    report("open", {})
    device = open_device(job.device)
    work(job, device, journal, report, join(device.kind, job.timeout_s))


def _given_up(last: dict[str, Any], reason: str, job: Job, journal: Journal, progress: Progress) -> bool:
    """Write down what ended the worker. Whether nothing is left to do; a workload that does not load is raised."""
    if last["event"] == "sample":
        tail = journal.get(TAIL) or {}
        resources, doubt = unread(reason)
        journal.put(TAIL, to_data({**tail, "resources": resources, "doubts": [*tail.get("doubts", ()), doubt]}))
    if last["event"] in ("sample", "profile"):
        if job.profiled:
            text = Text("profiling 时进程中断：{reason}", "the process broke off before the profile was made: {reason}")
            journal.put(PROFILE, to_data(Profile(reason=text.filled({"reason": reason}))))
        return True
    if last["event"] == "check":
        unchecked = sentences.UNCHECKED.filled({"reason": reason})
        journal.put(TAIL, to_data({"output_check": None, "invalid": [], "doubts": [unchecked]}))
        return True
    if last["event"] != "case":
        failed = _UNPREPARED.get(last["event"], "the worker did not start")
        raise MeasurementError(f"{failed}: {reason}", hint=f"its output is in {journal.folder}")
    number: int = last["number"]
    # It may have been done after all when its worker was ended.
    if journal.case(number) is None:
        spec = job.cases[number]
        progress(f"{spec.empty().name}: {reason}")
        journal.put_case(number, journal.unfinished(number, spec, reason))
    return False


def _tell(event: dict[str, Any], cases: int, progress: Progress) -> None:
    if event["event"] == "case":
        progress(f"case {event['number'] + 1}/{cases}: {event['name']}")
    elif event["event"] in _DOING:
        progress(_DOING[event["event"]])
