"""Run a piece of work in a process of its own: a workload that hangs, crashes, exits or prints can do no harm there.

A framework that does not import is a message, not the end; and what the worker wrote to its folder is there whatever
became of it.
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
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from npueval import errors
from npueval.errors import MeasurementError, NpuevalError, Problem
from npueval.isolation.child import ERROR

OUTPUT = "output.log"
START = "start"
PREPARATIONS = (START, "open", "load", "floor")
_START = """import sys; sys.path[:] = {path!r}
from npueval.isolation.child import main; main({target!r}, {folder!r}, {events}, {life})"""
_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')
_PREPARING_S = 300.0
_PREPARING_FACTOR = 10
_DUMP_SECONDS = 0.5
_GOODBYE_S = 5.0
_TAIL_BYTES = 4_000


@dataclass(frozen=True)
class Ended:
    """How a worker ended: ``done``, or with an ``error`` of ours, or for a ``reason`` that it could not tell itself."""

    done: bool
    error: NpuevalError | None = None
    reason: str = ""


def run(
    target: str,
    folder: Path,
    *,
    blame: Path,
    timeout_s: float,
    with_npu: bool,
    heard: Callable[[dict[str, Any]], None] = lambda _event: None,
) -> Ended:
    """Call ``module:function`` with ``folder`` in a new process and tell how it ended.

    It is ended when it reports nothing for ``timeout_s``; in its preparations, for ten times as long, up to five
    minutes, or for ``timeout_s`` where that is more: a framework may take long to import on a busy host. ``heard``
    gets every event that it reports. ``blame`` is the user's file, whose line is named when the process hangs or
    crashes. Its output goes to ``folder/output.log``.
    """
    (folder / ERROR).unlink(missing_ok=True)
    with (folder / OUTPUT).open("ab") as output, _started(target, folder, output, with_npu) as (process, events):
        done, waited_s = _listen(process, events, timeout_s, heard)
        status = _left(process) if done else process.wait()
    if not folder.is_dir():
        return Ended(False, MeasurementError("the measurement's folder was removed while it ran", path=folder))
    if (folder / ERROR).exists():
        return Ended(False, _error(json.loads((folder / ERROR).read_text(encoding="utf-8"))))
    return Ended(True) if done else Ended(False, reason=_reason(status, waited_s, _place(last_said(folder), blame)))


def last_said(folder: Path) -> str:
    """The end of a worker's output."""
    with (folder / OUTPUT).open("rb") as output:
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
        return output.read().decode("utf-8", "replace")


def _left(process: subprocess.Popen[bytes]) -> int:
    """Let a worker that has done its work go; a thread of the workload's that never ends keeps nobody waiting."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(_GOODBYE_S)
    process.kill()
    return process.wait()


def _listen(
    process: subprocess.Popen[bytes], events: int, timeout_s: float, heard: Callable[[dict[str, Any]], None]
) -> tuple[bool, float | None]:
    """Hear the worker out; whether it said that it was done, or after how long a silence it had to be ended."""
    selector = selectors.DefaultSelector()
    selector.register(events, selectors.EVENT_READ)
    rest, last = b"", START
    deadline = time.monotonic() + _patience(last, timeout_s)
    while selector.select(max(0.0, deadline - time.monotonic())):
        said = os.read(events, 65536)
        if not said:
            return False, None
        *lines, rest = (rest + said).split(b"\n")
        for line in lines:
            event: dict[str, Any] = json.loads(line)
            last = event["event"]
            heard(event)
        if last == "done":
            return True, None
        deadline = time.monotonic() + _patience(last, timeout_s)
    # Where does it hang? Its faulthandler writes the stack, even when the interpreter itself does not respond.
    process.send_signal(signal.SIGUSR1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_DUMP_SECONDS)
    process.kill()
    return False, _patience(last, timeout_s)


def _patience(event: str, timeout_s: float) -> float:
    return max(timeout_s, min(_PREPARING_S, _PREPARING_FACTOR * timeout_s)) if event in PREPARATIONS else timeout_s


@contextlib.contextmanager
def _started(
    target: str, folder: Path, output: IO[bytes], with_npu: bool
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    hear, tell = os.pipe()
    life, alive = os.pipe()
    code = _START.format(path=sys.path, target=target, folder=str(folder), events=tell, life=life)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(tell, life),
            # Where torch_npu is not wanted it must not be loaded: without CANN it breaks the import of torch.
            env=dict(os.environ) if with_npu else {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **os.environ},
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


def _reason(status: int, waited_s: float | None, where: str) -> str:
    if waited_s is not None:
        return f"hangs: not finished after {waited_s:g} s{where}; ended"
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}{where}"
    return f"the process ended by itself with status {status}{where}"


def _place(said: str, blame: Path) -> str:
    """`` in infer (workload.py:31)``: the innermost frame of the user's file in the last stack that was dumped."""
    for frame in _FRAME.finditer(said[max(0, said.rfind("Current thread")) :]):
        if Path(frame["path"]) == blame:
            return f" in {frame['name']} ({blame.name}:{frame['line']})"
    return ""


def _error(data: dict[str, Any]) -> NpuevalError:
    made: type[NpuevalError] = getattr(errors, data.pop("type"))
    problems = [Problem(**problem) for problem in data.pop("problems")]
    return made(data.pop("message"), problems=problems, **data)
