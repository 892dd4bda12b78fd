"""What a framework's profiler offers the measuring engine: a start, a stop, and the Chrome trace that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npueval.language import Text

TRACE = "trace.json.gz"


class Unprofiled(Exception):
    """Why there is no profile."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.en)
        self.reason = reason


@dataclass(frozen=True)
class Profiler:
    """What runs between ``start`` and ``stop`` is in the trace below its folder that ``stop`` returns (``None``: lost).

    ``mark`` names a stretch of the trace. ``works`` tells from a row of the trace and the name of its process whether
    it is an operator at work on the device.
    """

    name: str
    start: Callable[[], None]
    stop: Callable[[], Path | None]
    mark: Callable[[str], AbstractContextManager[Any]]
    works: Callable[[Mapping[str, Any], str], bool]


def of_torch(torch: Any, folder: Path, activities: Iterable[str], categories: Iterable[str]) -> Profiler:
    """The profiler of torch itself, for ``activities`` (CPU, CUDA); ``categories`` are those of the device's rows."""
    api, wanted = torch.profiler, frozenset(categories)
    made = api.profile(activities=[getattr(api.ProfilerActivity, name) for name in activities])

    def stop() -> Path:
        made.stop()
        made.export_chrome_trace(str(folder / TRACE))
        return folder / TRACE

    def works(row: Mapping[str, Any], _process: str) -> bool:
        return row.get("cat") in wanted

    return Profiler(f"torch.profiler {torch.__version__}", made.start, stop, api.record_function, works)
