"""The entry point of a worker process: its stdout and stderr are a file, a pipe leads to its parent."""

from __future__ import annotations

import faulthandler
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


def main(target: str, folder: str, events: int, life: int) -> None:
    """Call ``module:function`` with the folder and a way to report. ``life`` ends when the parent does."""
    faulthandler.enable(sys.stderr)
    faulthandler.register(signal.SIGUSR1, sys.stderr)
    threading.Thread(target=_die_with_parent, args=(life,), daemon=True).start()

    def report(event: str, facts: dict[str, Any]) -> None:
        os.write(events, (json.dumps({"event": event, **facts}) + "\n").encode())

    module, _, function = target.partition(":")
    try:
        getattr(import_module(module), function)(Path(folder), report)
        report("done", {})
    except NpuevalError as error:
        _keep(error, folder)
    except Exception as error:
        _keep(MeasurementError(f"the worker broke off: {type(error).__name__}: {error}"), folder)
        raise


def _die_with_parent(life: int) -> None:
    os.read(life, 1)
    # The whole group, which is the worker's own: the workload's children must not outlive it either.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _keep(error: NpuevalError, folder: str) -> None:
    problems = [vars(problem) for problem in error.problems]
    known = {name: getattr(error, name) for name in ("message", "code", "hint", "path", "line")}
    data = {"type": type(error).__name__, **known, "problems": problems}
    Path(folder, ERROR).write_text(json.dumps(data), encoding="utf-8", newline="\n")
