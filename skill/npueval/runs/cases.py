"""One case of a measurement: a batch under one load, every sample it gave, and what follows from them.

Samples are raw nanoseconds and are never changed; milliseconds, rates and statistics are derived on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from npueval import statistics
from npueval.language import Text, same

SEGMENTS = ("preprocess", "h2d", "infer", "d2h", "postprocess")
QUEUE = "queue"
END_TO_END = "end_to_end"

Nanoseconds = NDArray[np.int64]
LoadMode = Literal["sequence", "closed", "open"]


@dataclass(frozen=True)
class Reading:
    """A number, or ``None`` with the reason why there is none (an absent figure is never a zero)."""

    value: float | None
    reason: Text = field(default_factory=lambda: same(""))

    def __str__(self) -> str:
        return f"N/A ({self.reason.en})" if self.value is None else f"{self.value:g}"


@dataclass(frozen=True)
class Memory:
    """Four figures in bytes, of which none stands for another.

    ``allocated``: peak held by tensors; ``reserved``: peak held by the framework's allocator; ``device``: taken on the
    card by everybody at the window's end, as the driver says; ``host_rss``: resident memory of the process then.
    """

    allocated: Reading
    reserved: Reading
    device: Reading
    host_rss: Reading


@dataclass(frozen=True)
class Failure:
    """One attempt of one iteration that raised."""

    iteration: int
    error: str


@dataclass(frozen=True, eq=False)
class Case:
    """One batch size under one load. ``batch`` is ``None`` where a foreign command chose it and nobody said which.

    ``samples`` and ``warmup`` map each measured segment to its durations (int64 ns, one entry for each sample, failed
    iterations left out); under an open load ``queue`` is the wait from the scheduled time to the start. A sample covers
    ``group`` iterations. ``events`` (by the device's own clock) and ``enqueue`` (until the call returned) belong to
    ``infer`` and exist on asynchronous devices. ``window_ns`` frames all samples on the wall clock, ``items`` were
    finished in it; ``streamed_ns`` and ``streamed_items`` are the window without a synchronise inside. ``invalid`` says
    what is wrong with the outputs, ``error`` what ended the case before it was ``complete``. On several
    ``cards`` the samples are those of the slowest card in each iteration and the items those of all cards.
    """

    batch: int | None
    precision: str
    load: LoadMode = "sequence"
    concurrency: int = 1
    rate: float | None = None
    group: int = 1
    cards: int = 1
    samples: Mapping[str, Nanoseconds] = field(default_factory=dict)
    warmup: Mapping[str, Nanoseconds] = field(default_factory=dict)
    events: Nanoseconds | None = None
    enqueue: Nanoseconds | None = None
    window_ns: int | None = None
    items: int = 0
    streamed_ns: int | None = None
    streamed_items: int = 0
    failures: tuple[Failure, ...] = ()
    retries: int = 0
    memory: Memory | None = None
    complete: bool = True
    error: str | None = None
    invalid: tuple[Text, ...] = ()
    doubts: tuple[Text, ...] = ()

    @property
    def name(self) -> str:
        """What tells this case from the others of its Run, such as ``batch=32 concurrency=4``."""
        rate = "" if self.rate is None else f" rate={self.rate:g}/s"
        batch = "unknown" if self.batch is None else self.batch
        return f"batch={batch} concurrency={self.concurrency}{rate}"

    @property
    def n(self) -> int:
        """How many samples the case holds."""
        return max((len(series) for series in self.samples.values()), default=0)

    def nanoseconds(self, segment: str = END_TO_END) -> NDArray[Any]:
        """Durations of one iteration: int64, or float64 where a sample covers a group. Unmeasured: ``KeyError``.

        ``end_to_end`` is the sum of the measured segments, the wait of an open load included.
        """
        chosen = list(self.samples.values()) if segment == END_TO_END else [self.samples[segment]]
        if not chosen:
            raise KeyError(segment)
        series: NDArray[Any] = chosen[0] if len(chosen) == 1 else np.stack(chosen).sum(axis=0)
        return series if self.group == 1 else series / self.group

    def milliseconds(self, segment: str = END_TO_END) -> NDArray[np.float64]:
        """Durations of one iteration in ms. Unmeasured: ``KeyError``."""
        return self.nanoseconds(segment) / 1e6

    def summary(self, segment: str = END_TO_END) -> statistics.Summary:
        """Statistics in ms. Unmeasured: ``KeyError``; no sample at all: ``ValueError``."""
        if segment not in self._summaries:
            self._summaries[segment] = statistics.summarise(self.milliseconds(segment))
        return self._summaries[segment]

    @cached_property
    def _summaries(self) -> dict[str, statistics.Summary]:
        """The samples never change, and a report asks for the same statistics in every row and view."""
        return {}

    def throughput(self) -> float | None:
        """Items finished ÷ wall time of the timed window, in items/s of all cards; ``None`` where nothing finished."""
        return _rate(self.items, self.window_ns)

    def throughput_per_card(self) -> float | None:
        """:meth:`throughput` ÷ number of cards."""
        total = self.throughput()
        return None if total is None else total / self.cards

    def streamed_throughput(self) -> float | None:
        """Items/s of all cards with one synchronise, at the window's end; ``None`` where not measured."""
        return _rate(self.streamed_items, self.streamed_ns)


def _rate(items: int, window_ns: int | None) -> float | None:
    return items / (window_ns / 1e9) if items and window_ns else None
