"""The workers of a load: one in the calling thread, or several that start together, each with its own lane."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from npueval.devices import Device, Lane

Result = TypeVar("Result")
Task = Callable[[int, Lane], Any]


class Crew:
    """``size`` workers; :meth:`do` has each of them do a task once, all starting at the same moment."""

    def __init__(self, size: int, do: Callable[[Task], list[Any]]) -> None:
        self.size = size
        self.do = do


@contextlib.contextmanager
def crew(device: Device, size: int) -> Iterator[Crew]:
    """Workers with lanes that stay the same from the warm-up to the last sample."""
    if size == 1:
        with device.lane(own_stream=False) as lane:
            yield Crew(1, lambda task: [task(0, lane)])
        return
    with ThreadPoolExecutor(size, thread_name_prefix="lane") as pool:
        here = threading.local()
        together = threading.Barrier(size)

        def in_lane(place: int, task: Task) -> Any:
            # The barrier also sees to it that every thread gets exactly one of the tasks.
            together.wait()
            try:
                if not hasattr(here, "lane"):
                    here.lane = contextlib.ExitStack()
                    here.way = here.lane.enter_context(device.lane(own_stream=True))
            except BaseException:
                together.abort()
                raise
            together.wait()
            return task(place, here.way)

        def do(task: Task) -> list[Any]:
            pending = [pool.submit(in_lane, place, task) for place in range(size)]
            return [future.result() for future in pending]

        try:
            yield Crew(size, do)
        finally:
            do(lambda _place, _lane: here.lane.close())
