"""Latencies and rates as programs print them in a sentence: ``P99 latency: 12.5 ms``, ``吞吐量：80.5 张/秒``.

Traps: the largest or the smallest of many is no latency to compare; that of a token, of a copy or of the network is not
that of an inference; a time without a unit says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_UNITS = {"ns": "ns", "us": "us", "µs": "us", "ms": "ms", "s": "s", "sec": "s", "微秒": "us", "毫秒": "ms", "秒": "s"}
_ITEMS = {"张": "images", "帧": "frames", "条": "samples", "样本": "samples", "个样本": "samples"}
_STATISTICS = {
    **dict.fromkeys(("mean", "average", "avg", "平均"), "mean"),
    **dict.fromkeys(("median", "中位数"), "p50"),
    **dict.fromkeys(("min", "max", "best", "worst", "最大", "最小", "最长", "最短"), ""),
}
UNSTATED = "latency_ms"
"""A latency of which nobody says whether it is one of many, their mean or a percentile."""

_OTHERS = frozenset(
    ("token", "h2d", "d2h", "network", "queue", "enqueue", "data", "communication", "io", "disk", "load", "loading")
)
_OTHERS_CHINESE = ("首", "通信", "网络", "数据", "加载", "排队", "调度", "拷贝", "搬运")

_NUMBER = r"(?P<value>\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?)"
# A number that goes on, or that is the lower end of a range.
_NO_MORE = r"(?!\w|\.\d|[-–—]\d|\s?[~～±至]\s?\d)"
_TIME = "|".join(sorted(_UNITS, key=len, reverse=True))
_PER_SECOND = rf"[A-Za-z]{{1,16}}/s(?:ec)?|(?:{'|'.join(_ITEMS)})/秒"
_WHICH = rf"p\d\d|{'|'.join(_STATISTICS)}"

_LABEL = re.compile(r"latency|inference time|延迟|时延|推理耗时|推理时间", re.IGNORECASE)
_BEFORE = re.compile(r"[A-Za-z]\w*|[\u4e00-\u9fff]+")
_CLAUSE = re.compile(r"[-,;:|=()\[\]，；：（）]")
_AFTER = re.compile(
    rf"(?:[ _]?[(（]?(?P<which>{_WHICH})[)）]?)?(?: per \w{{1,20}})?(?:[ _]?[(（]?(?P<head>{_TIME})[)）]?)?"
    rf"\s?[:=：]\s?{_NUMBER}(?:\s?(?P<tail>{_TIME}))?{_NO_MORE}",
    re.IGNORECASE,
)
_PER_ITEM = re.compile(r"\s?(?:/|per |每)\s?(?:images?|imgs?|samples?|frames?|张|帧|样本|条)", re.IGNORECASE)
_RATE = re.compile(
    rf"(?:\bthroughput|\b(?P<frames>fps)|吞吐[量率]?)(?:\s?[(（](?P<head>{_PER_SECOND})[)）])?\s?[:=：]\s?"
    rf"{_NUMBER}(?:\s?(?P<tail>{_PER_SECOND}))?{_NO_MORE}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Timing:
    """A time or a rate: its metric, unit and number as printed, and what is doubtful about it.

    A latency of no stated statistic is :data:`UNSTATED`.
    """

    metric: str
    unit: str
    value: str
    doubt: str = ""


def timings(text: str) -> Iterator[Timing]:
    """Every latency of an inference and every throughput of a line."""
    for label in _LABEL.finditer(text):
        found = _AFTER.match(text, label.end())
        unit = found and (found["tail"] or found["head"])
        if found and unit:
            clause = _CLAUSE.split(text[max(0, label.start() - 32) : label.start()])[-1]
            doubt = "延迟按每个样本打印，不是每个 batch" if _PER_ITEM.match(text, found.end()) else ""
            for metric in _metrics(_BEFORE.findall(clause), found["which"] or ""):
                yield Timing(metric, _UNITS[unit.lower()], found["value"], doubt)
    for rate in _RATE.finditer(text):
        yield Timing("throughput", _rate_unit(rate), rate["value"])


def _metrics(before: list[str], after: str) -> Iterator[str]:
    """The latency that the words around a label name; nothing where it is another's, or of no use."""
    words = [word.lower() for word in (*before[-3:], after) if word]
    if _OTHERS.intersection(words) or any(other in word for other in _OTHERS_CHINESE for word in words):
        return
    named = [name for word in words for name in re.findall(_WHICH, word)]
    statistic = _STATISTICS.get(named[-1], named[-1]) if named else ""
    if statistic or not named:
        yield f"latency_{statistic}_ms" if named else UNSTATED


def _rate_unit(found: re.Match[str]) -> str:
    """``images/s`` as the line says it, frames where it says FPS; ``?/s`` where nobody says what is counted."""
    unit = found["tail"] or found["head"]
    if not unit:
        return "frames/s" if found["frames"] else "?/s"
    items = unit.lower().rpartition("/")[0]
    return f"{_ITEMS.get(items, items)}/s"
