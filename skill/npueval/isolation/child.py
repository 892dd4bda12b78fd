"""The entry point of a worker process: its stdout and stderr are a file, a pipe leads to its parent."""

from __future__ import annotations

import faulthandler
import fcntl
import json
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from npueval.errors import MeasurementError, NpuevalError

ERROR = "error.json"
_OUT_OF_THE_WAY = 64


def main(target: str, folder: str, events: int, life: int) -> None:
    """Call ``module:function`` with the folder and a way to report. ``life`` ends when the parent does."""
    faulthandler.enable(sys.stderr)
    faulthandler.register(signal.SIGUSR1, sys.stderr)
    threading.Thread(target=_die_with_parent, args=(life,), daemon=True).start()
    report = _Line(events)
    module, _, function = target.partition(":")
    try:
        getattr(import_module(module), function)(Path(folder), report)
        report("done", {})
    except NpuevalError as error:
        _keep(error, folder)
    except Exception as error:
        _keep(MeasurementError(f"the worker broke off: {type(error).__name__}: {error}"), folder)
        raise


class _Line:
    """The way to the parent. What the user's code did to the process since the last report comes out here.

    Descriptors of stdout and stderr that it closed lead to the output again, for the next file that is opened would
    get their number, and what is printed would land in it.
    """

    def __init__(self, events: int) -> None:
        self._events, self._process = events, os.getpid()
        self._pipe = _identity(events)
        self._output = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)

    def __call__(self, event: str, facts: dict[str, Any]) -> None:
        if os.getpid() != self._process:
            raise MeasurementError(
                "the workload forks, and the child comes back from its call: both would be measured",
                hint="end the child with os._exit in the workload",
            )
        if _identity(self._events) != self._pipe:
            raise MeasurementError(
                "the workload closes file descriptors that it did not open", hint="close only what it opened itself"
            )
        for closed in (number for number in (0, 1, 2) if _identity(number) is None):
            os.dup2(self._output, closed)
        os.write(self._events, (json.dumps({"event": event, **facts}) + "\n").encode())


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _die_with_parent(life: int) -> None:
    os.read(life, 1)
    # The whole group, which is the worker's own: the workload's children must not outlive it either.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _keep(error: NpuevalError, folder: str) -> None:
    problems = [vars(problem) for problem in error.problems]
    known = {name: getattr(error, name) for name in ("message", "code", "hint", "path", "line")}
    data = {"type": type(error).__name__, **known, "problems": problems}
    Path(folder, ERROR).write_text(json.dumps(data), encoding="utf-8", newline="\n")
