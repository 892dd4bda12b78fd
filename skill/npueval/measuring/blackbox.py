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
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import numpy as np

from npueval import __version__, statistics
from npueval.environment.redaction import redact
from npueval.errors import MeasurementError, NpuevalError
from npueval.language import Text
from npueval.measuring import printed, sentences
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
    """What the runs so far gave: wall times in ns, in order; where the timed ones' output is; what went wrong."""

    warmup: list[int] = field(default_factory=list)
    timed: list[int] = field(default_factory=list)
    logs: dict[int, Path] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    left_running: list[int] = field(default_factory=list)


def measure(
    command: Sequence[str],
    *,
    folder: Path,
    cwd: Path | None = None,
    times: Times | None = None,
    batch: int | None = None,
    environment: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Run:
    """Run ``command`` (no shell) so many times; the output of each run goes to ``folder``.

    ``batch`` is what the user says that the command works on; nothing else knows it.
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
        cases=(_case(seen, times, batch),),
        environment=environment or {},
        command={"logs": [path.name for path in logs], **printed.figures(seen.logs)},
        doubts=tuple(_doubts(seen)),
    )


def _once(command: Sequence[str], cwd: Path | None, times: Times, number: int, log: Path, seen: _Seen) -> None:
    with log.open("wb") as output:
        before = time.perf_counter_ns()
        process = _started(command, cwd, output)
        status, on_time = _waited(process, times.timeout_s)
        taken = time.perf_counter_ns() - before
    if _ended(process.pid):
        seen.left_running.append(number)
    if not on_time:
        seen.failures.append(Failure(number, f"not finished after {times.timeout_s:g} s; ended"))
    elif status:
        seen.failures.append(Failure(number, _exit(status)))
    elif number < times.warmup:
        seen.warmup.append(taken)
    else:
        seen.timed.append(taken)
        seen.logs[number] = log


def _started(command: Sequence[str], cwd: Path | None, output: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise NpuevalError(f"{command[0]} cannot be started: {error.strerror}", code="NO_PROGRAM") from None


def _waited(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[int, bool]:
    """Its exit status, and whether it came within the time. The end is not polled for: that would be in the figure."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _ended(process.pid)

    timer = threading.Timer(timeout_s, end)
    timer.daemon = True
    timer.start()
    try:
        return process.wait(), not late.is_set()
    except BaseException:
        _ended(process.pid)
        process.wait()
        raise
    finally:
        timer.cancel()


def _ended(group: int) -> bool:
    """End what is left of a command; whether anything was."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _exit(status: int) -> str:
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _case(seen: _Seen, times: Times, batch: int | None) -> Case:
    return Case(
        batch=batch,
        precision="as the command chooses",
        samples={SEGMENT: np.array(seen.timed, np.int64)},
        warmup={SEGMENT: np.array(seen.warmup, np.int64)},
        window_ns=sum(seen.timed),
        items=len(seen.timed),
        failures=tuple(seen.failures),
        complete=len(seen.timed) == times.runs,
        error=seen.failures[-1].error if seen.failures else None,
    )


def _doubts(seen: _Seen) -> Iterator[Text]:
    yield sentences.WHOLE_COMMAND
    for failure in seen.failures:
        yield sentences.RUN_FAILED.filled({"run": failure.iteration, "error": failure.error})
    if seen.left_running:
        yield sentences.LEFT_RUNNING.filled({"runs": ", ".join(map(str, seen.left_running))})


def _fingerprint(command: Sequence[str], cwd: Path | None) -> str:
    """The hash of the command line and of every file that it names."""
    digest = hashlib.sha256(shlex.join(command).encode())
    for word in command:
        path = (cwd or Path.cwd()) / word
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
