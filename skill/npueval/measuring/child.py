"""The entry point of the measuring process: its stdout and stderr are a file, a pipe leads to its parent."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npueval.devices import first_line, open_device
from npueval.errors import MeasurementError, NpuevalError
from npueval.measuring.journal import ERROR, Journal
from npueval.measuring.worker import work


def main(folder: str, events: int, life: int) -> None:
    """Work through the job in ``folder``. ``events`` is written to; ``life`` ends when the parent does."""
    faulthandler.enable(sys.stderr)
    faulthandler.register(signal.SIGUSR1, sys.stderr)
    threading.Thread(target=_die_with_parent, args=(life,), daemon=True).start()
    journal = Journal(Path(folder))

    def report(event: str, facts: Mapping[str, Any]) -> None:
        os.write(events, (json.dumps({"event": event, **facts}) + "\n").encode())

    try:
        job = journal.job()
        report("open", {})
        work(job, open_device(job.device), journal, report)
        report("done", {})
    except NpuevalError as error:
        journal.put(ERROR, _data(error))
    except Exception as error:
        journal.put(ERROR, _data(MeasurementError(f"the measurement broke off: {first_line(error)}")))
        raise


def _die_with_parent(life: int) -> None:
    os.read(life, 1)
    os._exit(1)


def _data(error: NpuevalError) -> dict[str, Any]:
    problems = [vars(problem) for problem in error.problems]
    known = {name: getattr(error, name) for name in ("message", "code", "hint", "path", "line")}
    return {"type": type(error).__name__, **known, "problems": problems}
