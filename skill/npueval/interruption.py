"""Being asked to end is an interruption like Ctrl-C: whatever was started is ended on the way out."""

from __future__ import annotations

import signal
from types import FrameType

_REQUESTS = ("SIGTERM", "SIGHUP")


def listen() -> None:
    """From now on a request to end raises ``KeyboardInterrupt``, unless it is ignored (as ``nohup`` has it)."""
    for name in _REQUESTS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
