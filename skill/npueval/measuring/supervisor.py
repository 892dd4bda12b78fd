"""The parent's side: start a worker, hear of its progress, end it when a case takes too long, start the next one.

The measuring runs in its own process, so that a workload that hangs, crashes, exits or prints can do no harm, and a
framework that does not import is a message.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from npueval import errors
from npueval.errors import MeasurementError, NpuevalError, Problem
from npueval.measuring.journal import ERROR, OUTPUT, TAIL, Job, Journal

Progress = Callable[[str], None]
_START = """import sys; sys.path[:] = {path!r}
from npueval.measuring.child import main; main({folder!r}, {events}, {life})"""
_DOING = {"open": "opening the device", "load": "loading the workload", "check": "checking the outputs"}
_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')
_DUMP_SECONDS = 0.5
_TAIL_BYTES = 4_000


@dataclass
class _Watch:
    """What the parent knows of its worker."""

    event: str = "start"
    case: int | None = None
    timed_out: bool = False
    rest: bytes = field(default=b"", repr=False)


def supervise(job: Job, journal: Journal, timeout_s: float, progress: Progress) -> None:
    """Have workers do the job until its journal is complete.

    The error of a worker that could not begin is raised here as what it was. A case that ends its worker is written as
    incomplete, with the samples so far, and the next worker goes on with the next case.
    """
    for _ in range(len(job.cases) + 2):
        watch, status = _worker(job, journal, timeout_s, progress)
        if (error := journal.get(ERROR)) is not None:
            journal.remove()
            raise _error(error)
        if watch.event == "done":
            return
        reason = _reason(watch, status, job, journal, timeout_s)
        if watch.event == "case" and watch.case is not None:
            spec = job.cases[watch.case]
            progress(f"{spec.empty().name}: {reason}")
            journal.put_case(watch.case, journal.unfinished(watch.case, spec, reason))
        elif watch.event == "check":
            journal.put(TAIL, {"output_check": None, "invalid": [], "doubts": [f"the outputs are unchecked: {reason}"]})
            return
        else:
            raise MeasurementError(f"the workload did not load: {reason}", hint=f"its output is in {journal.folder}")


def _worker(job: Job, journal: Journal, timeout_s: float, progress: Progress) -> tuple[_Watch, int]:
    watch = _Watch()
    with (journal.folder / OUTPUT).open("ab") as output, _started(job, journal, output) as (process, events):
        selector = selectors.DefaultSelector()
        selector.register(events, selectors.EVENT_READ)
        deadline = time.monotonic() + timeout_s
        while selector.select(max(0.0, deadline - time.monotonic())):
            said = os.read(events, 65536)
            if not said:
                break
            _heard(watch, said, len(job.cases), progress)
            deadline = time.monotonic() + timeout_s
        else:
            watch.timed_out = True
            process.send_signal(signal.SIGUSR1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_DUMP_SECONDS)
            process.kill()
        return watch, process.wait()


@contextlib.contextmanager
def _started(job: Job, journal: Journal, output: IO[bytes]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    hear, tell = os.pipe()
    life, alive = os.pipe()
    code = _START.format(path=sys.path, folder=str(journal.folder), events=tell, life=life)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(tell, life),
            env=_environment(job),
            start_new_session=True,
        )
    finally:
        os.close(tell)
        os.close(life)
    try:
        yield process, hear
    finally:
        # Also on an interrupt: the whole group goes, so that a workload's own children do not outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(hear)
        os.close(alive)


def _environment(job: Job) -> dict[str, str]:
    """The child's environment. Where torch_npu is not wanted it must not be loaded: without CANN it breaks torch."""
    if job.device.partition(":")[0] == "npu":
        return dict(os.environ)
    return {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **os.environ}


def _heard(watch: _Watch, said: bytes, cases: int, progress: Progress) -> None:
    *lines, watch.rest = (watch.rest + said).split(b"\n")
    for line in lines:
        fact: dict[str, Any] = json.loads(line)
        watch.event, watch.case = fact["event"], fact.get("number")
        if watch.event == "case":
            progress(f"case {fact['number'] + 1}/{cases}: {fact['name']}")
        elif watch.event != "done":
            progress(_DOING[watch.event])


def _reason(watch: _Watch, status: int, job: Job, journal: Journal, timeout_s: float) -> str:
    said = (journal.folder / OUTPUT).read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace")
    where = _place(said, Path(job.root, job.workload.partition(":")[0]).resolve())
    if watch.timed_out:
        return f"hangs: not finished after {timeout_s:g} s{where}; ended"
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}{where}"
    return f"the process ended by itself with status {status}{where}"


def _place(said: str, workload: Path) -> str:
    """`` in infer (workload.py:31)``: the workload's innermost frame in the last stack that was dumped."""
    for frame in _FRAME.finditer(said[max(0, said.rfind("Current thread")) :]):
        if Path(frame["path"]) == workload:
            return f" in {frame['name']} ({workload.name}:{frame['line']})"
    return ""


def _error(data: dict[str, Any]) -> NpuevalError:
    made: type[NpuevalError] = getattr(errors, data.pop("type"))
    problems = [Problem(**problem) for problem in data.pop("problems")]
    return made(data.pop("message"), problems=problems, **data)
