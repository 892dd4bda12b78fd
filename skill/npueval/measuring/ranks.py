"""Several cards under ``torchrun``: every rank measures the same cases, and what they found becomes one case."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval.errors import MeasurementError
from npueval.language import Text
from npueval.measuring import sentences
from npueval.runs.cases import Case, Failure, Memory, Nanoseconds, Reading

_BACKENDS = {"npu": "hccl", "cuda": "nccl", "cpu": "gloo"}
_WANTED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Ranks:
    """The processes that measure together. ``share`` gives everybody's value to everybody, in the order of ranks."""

    rank: int = 0
    size: int = 1
    share: Callable[[Any], list[Any]] = lambda value: [value]

    def all(self, ok: bool) -> bool:
        """Whether it is true on every card; also the moment at which all of them go on."""
        return all(self.share(ok))


SOLO = Ranks()
ELSEWHERE = "another card failed before its window"


class Agreement:
    """One question that every rank answers exactly once, whatever happens to it on the way."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._asked = False

    def __call__(self, group: int | None) -> int | None:
        """The largest group that a card needs; ``None`` where a card has failed before its window."""
        self._asked = True
        groups = self._ranks.share(group)
        return None if None in groups else max(groups)

    def settle(self) -> None:
        """Answer for a rank that never came to it, so that the others do not wait."""
        if not self._asked:
            self(None)


def placed() -> tuple[int, int, int]:
    """(rank, number of ranks, rank on this host) as torchrun says; (0, 1, 0) without it."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return 0, 1, 0
    absent = [name for name in _WANTED if name not in os.environ]
    if absent:
        raise MeasurementError(f"WORLD_SIZE is set, but not {', '.join(absent)}", hint="start it with torchrun")
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])


def join(kind: str, timeout_s: float) -> Ranks:
    """Meet the other ranks: the device's own backend for the workload, gloo for what we have to say to each other."""
    rank, size, _ = placed()
    if size == 1:
        return SOLO
    import torch.distributed as dist

    wait = timedelta(seconds=timeout_s)
    dist.init_process_group(_BACKENDS[kind], timeout=wait)
    talk = dist.new_group(backend="gloo", timeout=wait)

    def share(value: Any) -> list[Any]:
        heard: list[Any] = [None] * size
        dist.all_gather_object(heard, value, group=talk)
        return heard

    return Ranks(rank, size, share)


def merged(cases: Sequence[Case]) -> Case:
    """One case of what every card measured.

    In each iteration the samples are those of the card that took longest; items are added up over the longest window.
    """
    if len(cases) == 1:
        return cases[0]
    first, n = cases[0], min(case.n for case in cases)
    slowest = _slowest(cases, n)
    return replace(
        first,
        cards=len(cases),
        samples=_chosen([case.samples for case in cases], slowest),
        events=_series([case.events for case in cases], slowest),
        enqueue=_series([case.enqueue for case in cases], slowest),
        window_ns=_longest(case.window_ns for case in cases),
        items=sum(case.items for case in cases),
        streamed_ns=_longest(case.streamed_ns for case in cases),
        streamed_items=sum(case.streamed_items for case in cases),
        failures=tuple(
            Failure(failure.iteration, f"card {card}: {failure.error}")
            for card, case in enumerate(cases)
            for failure in case.failures
        ),
        retries=sum(case.retries for case in cases),
        memory=_fullest([case.memory for case in cases]),
        complete=all(case.complete for case in cases),
        error=_error(cases),
        invalid=tuple(_by_card(case.invalid for case in cases)),
        doubts=(*_by_card(case.doubts for case in cases), *_unequal(cases)),
    )


def _error(cases: Sequence[Case]) -> str | None:
    """What ended the case: that of the card where it began."""
    known = [(case.error == ELSEWHERE, card, case.error) for card, case in enumerate(cases) if case.error]
    return "card {1}: {2}".format(*min(known)) if known else None


def _slowest(cases: Sequence[Case], n: int) -> NDArray[np.intp]:
    if n == 0:
        return np.empty(0, np.intp)
    slowest: NDArray[np.intp] = np.stack([case.nanoseconds()[:n] for case in cases]).argmax(axis=0)
    return slowest


def _chosen(columns: Sequence[Mapping[str, Nanoseconds]], slowest: NDArray[np.intp]) -> dict[str, Nanoseconds]:
    names = [name for name in columns[0] if all(name in other for other in columns)]
    return {name: _pick([column[name] for column in columns], slowest) for name in names}


def _series(series: Sequence[Nanoseconds | None], slowest: NDArray[np.intp]) -> Nanoseconds | None:
    known = [each for each in series if each is not None]
    return _pick(known, slowest) if len(known) == len(series) else None


def _pick(series: Sequence[Nanoseconds], slowest: NDArray[np.intp]) -> Nanoseconds:
    n = slowest.size
    picked: Nanoseconds = np.stack([each[:n] for each in series])[slowest, np.arange(n)]
    return picked


def _longest(windows: Iterator[int | None]) -> int | None:
    known = [window for window in windows if window is not None]
    return max(known, default=None)


def _fullest(memories: Sequence[Memory | None]) -> Memory | None:
    """Of each of the four figures that of the card with the most."""
    known = [memory for memory in memories if memory is not None]
    if not known:
        return None
    names = ("allocated", "reserved", "device", "host_rss")
    return Memory(**{name: _most([getattr(memory, name) for memory in known]) for name in names})


def _most(readings: Sequence[Reading]) -> Reading:
    return max(readings, key=lambda reading: -1.0 if reading.value is None else reading.value)


def _by_card(texts: Iterator[tuple[Text, ...]]) -> Iterator[Text]:
    for card, several in enumerate(texts):
        name = sentences.CARD.filled({"card": card})
        yield from (text.led(name) for text in several)


def _unequal(cases: Sequence[Case]) -> Iterator[Text]:
    counts = [case.n for case in cases]
    if len(set(counts)) > 1:
        told = ", ".join(map(str, counts))
        yield sentences.UNEQUAL_COUNTS.filled({"told": told, "fewest": min(counts)})
    rates = [case.throughput() or 0.0 for case in cases]
    if min(rates) and max(rates) > 1.1 * min(rates):
        yield sentences.UNEQUAL_RATES.filled({"told": ", ".join(f"{rate:.4g}" for rate in rates)})
