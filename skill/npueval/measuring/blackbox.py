"""Time a foreign command from outside: its wall time, its exit status, and the figures that it prints itself.

The scope is ``command``: start-up, loading and whatever else it does are inside, so it never compares with a figure
that was taken in the process.
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from npueval import __version__, statistics
from npueval.environment.redaction import redact
from npueval.errors import MeasurementError, NpuevalError
from npueval.logs.assessing import NoBaseline, assess
from npueval.logs.extracting import extract
from npueval.logs.logged import LoggedRun
from npueval.records import Figure
from npueval.runs import Run
from npueval.runs.cases import Case, Failure
from npueval.runs.conditions import DeviceFacts, Protocol, WorkloadFacts

SEGMENT = "command"
_SCOPE = "wall time of the whole command, start-up and loading included"


@dataclass(frozen=True)
class Times:
    """How often to run the command, and for how long at most each time."""

    warmup: int = 1
    runs: int = 5
    timeout_s: float = 3600.0


@dataclass
class _Seen:
    """What the runs so far gave: wall times in ns, in order, and what failed."""

    warmup: list[int] = field(default_factory=list)
    timed: list[int] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def measure(
    command: Sequence[str],
    *,
    folder: Path,
    cwd: Path | None = None,
    times: Times | None = None,
    environment: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Run:
    """Run ``command`` (no shell) so many times; the output of each run goes to ``folder``.

    :class:`NpuevalError` where there is no such program, :class:`MeasurementError` where no timed run succeeded.
    """
    times = times or Times()
    if not command or shutil.which(command[0], path=os.environ.get("PATH")) is None:
        raise NpuevalError(f"no such program: {command[0] if command else '(none)'}", code="NO_PROGRAM")
    created = datetime.now(timezone.utc)
    name = f"{created:%Y%m%dT%H%M%SZ}-command-{secrets.token_hex(2)}"
    folder.mkdir(parents=True, exist_ok=True)
    seen, logs = _Seen(), []
    for number in range(times.warmup + times.runs):
        logs.append(folder / f"{name}-{number}.log")
        progress(f"run {number + 1}/{times.warmup + times.runs}: {shlex.join(command)}")
        _once(command, cwd, times, number, logs[-1], seen)
    if not seen.timed:
        raise MeasurementError(f"no run succeeded: {seen.failures[-1].error}", hint=f"its output is in {logs[-1]}")
    return Run(
        id=name,
        created=f"{created:%Y-%m-%dT%H:%M:%SZ}",
        tool=__version__,
        device=DeviceFacts("command", "command", None, "as the command chooses", {"host": platform.machine()}),
        precision="as the command chooses",
        unit="runs/s",
        seed=0,
        protocol=Protocol(times.warmup, times.runs, (SEGMENT,), _SCOPE, statistics.METHOD, "perf_counter_ns"),
        workload=WorkloadFacts(redact(shlex.join(command)), _fingerprint(command, cwd)),
        scope="command",
        complete=len(seen.timed) == times.runs,
        cases=(_case(seen, times),),
        environment=environment or {},
        command={"logs": [path.name for path in logs], **_printed(logs)},
        doubts=tuple(_doubts(seen)),
    )


def _once(command: Sequence[str], cwd: Path | None, times: Times, number: int, log: Path, seen: _Seen) -> None:
    with log.open("wb") as output:
        before = time.perf_counter_ns()
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(times.timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            seen.failures.append(Failure(number, f"not finished after {times.timeout_s:g} s; ended"))
            return
        taken = time.perf_counter_ns() - before
    if status:
        seen.failures.append(Failure(number, f"exit status {status}"))
    elif number < times.warmup:
        seen.warmup.append(taken)
    else:
        seen.timed.append(taken)


def _case(seen: _Seen, times: Times) -> Case:
    return Case(
        batch=1,
        precision="as the command chooses",
        samples={SEGMENT: np.array(seen.timed, np.int64)},
        warmup={SEGMENT: np.array(seen.warmup, np.int64)},
        window_ns=sum(seen.timed),
        items=len(seen.timed),
        failures=tuple(seen.failures),
        complete=len(seen.timed) == times.runs,
        error=seen.failures[-1].error if seen.failures else None,
    )


def _doubts(seen: _Seen) -> Iterator[str]:
    yield "wall time of a whole command: it never compares with figures taken in the process"
    yield from (f"run {failure.iteration}: {failure.error}" for failure in seen.failures)


def _printed(logs: Sequence[Path]) -> dict[str, Any]:
    """The figures that the last run printed, in normal form with their place; or why none could be read."""
    found = extract(logs[-1], logs[-1].name)
    reasons = [found.rejected] if found.rejected else []
    figures = [_figure(run.format, figure) for run in found.runs for figure in _figures(run, reasons)]
    return {"figures": figures, "no_figures": reasons}


def _figures(run: LoggedRun, reasons: list[str]) -> tuple[Figure, ...]:
    try:
        return assess(run).figures
    except NoBaseline as error:
        reasons.append(str(error))
        return ()


def _figure(format_name: str, figure: Figure) -> dict[str, Any]:
    source = figure.source
    return {
        "format": format_name,
        "metric": figure.metric,
        "value": figure.value,
        "unit": figure.unit,
        "original": figure.original,
        "path": source and source.path,
        "line": source and source.line,
    }


def _fingerprint(command: Sequence[str], cwd: Path | None) -> str:
    """The hash of the command line and of every file that it names."""
    digest = hashlib.sha256(shlex.join(command).encode())
    for word in command:
        path = (cwd or Path.cwd()) / word
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
