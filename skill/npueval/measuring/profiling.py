"""The profiling pass: a few iterations under the framework's profiler, after the timing and apart from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from npueval.devices import Device, first_line
from npueval.devices.profiling import Profiler, Unprofiled
from npueval.errors import WorkloadError
from npueval.language import Text
from npueval.measuring.traces import ITERATION, read
from npueval.runs.conditions import Profile

ITERATIONS = 10
FOLDER = "profiles"


def profile(device: Device, work: Callable[[], object], batch: int, folder: Path) -> Profile:
    """Walk a few times under the device's profiler, whose trace stays below ``folder``.

    Whatever keeps the profiler from working is the reason why there is no profile, and costs the Run nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        profiler = device.profiler(folder)
        path = _traced(profiler, work)
        seen = read(path, profiler.works, ITERATIONS)
    except Unprofiled as error:
        return Profile(batch=batch, reason=error.reason)
    # Profilers fail in many ways: a missing library, no rights to the counters, a trace cut short. All are told.
    except (WorkloadError, RuntimeError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = Text("profiler 失败：{error}", "the profiler failed: {error}")
        told = error.message if isinstance(error, WorkloadError) else first_line(error)
        return Profile(batch=batch, reason=text.filled({"error": told}))
    name = path.relative_to(folder).as_posix()
    empty = Text("trace 中没有该设备的算子", "the trace holds no operator of the device")
    reason = None if seen.complete else empty
    return Profile(
        name, profiler.name, batch, ITERATIONS, seen.complete, seen.lost_first, seen.total_ns, seen.operators, reason
    )


def _traced(profiler: Profiler, work: Callable[[], object]) -> Path:
    profiler.start()
    try:
        for _ in range(ITERATIONS):
            with profiler.mark(ITERATION):
                work()
    finally:
        path = profiler.stop()
    if path is None:
        raise Unprofiled(Text("profiler 没有留下 trace", "the profiler left no trace"))
    return path
