"""What the harness itself costs: the same loop around steps that do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npueval.devices import Device
from npueval.measuring import loops
from npueval.measuring.tape import Tape
from npueval.measuring.window import uncollected
from npueval.pipeline import Scoped, Step
from npueval.runs.cases import Case

_WARMUP, _ITERATIONS = 200, 1_000


def floor_ns(device: Device, segments: Sequence[str]) -> float:
    """The median end-to-end time of an empty iteration with these segments, in ns: the self-test before each Run."""
    scoped = Scoped((), tuple(Step(segment, _nothing) for segment in segments), tuple(segments), (), {})
    with device.lane(own_stream=False) as lane:
        columns = loops.column_names(scoped, lane)
        tapes = [Tape(columns, rows) for rows in (_WARMUP, _ITERATIONS)]
        with uncollected():
            for tape in tapes:
                loops.make_loop(scoped, None, lane, device.clock, tape, 1, None)(range(tape.rows))
    samples = {name: series for name, series in tapes[-1].series().items() if loops.is_sample(name)}
    median = Case(1, "none", samples=samples).summary().p50
    assert median is not None, "a thousand samples have a median"
    return median * 1e6


def _nothing(value: Any) -> Any:
    return value
