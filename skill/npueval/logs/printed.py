"""Whatever a program prints as a figure: a label, a number, a unit. For the output of a command that was just run.

Label and unit stay as they were printed: nothing is brought into normal form, for nothing is compared. In
``Latency: min = 1.2 ms, max = 3 ms`` the head of the line leads every label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from npueval import metrics
from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column
from npueval.records import Grade

_TIME = r"ns|us|µs|ms|msec|s|sec|secs|seconds|毫秒|秒"
_RATE = r"[A-Za-z]{1,16}/(?:s|sec|second)(?:/[A-Za-z]{1,16})?|fps|qps|T?FLOPS|张/秒"
_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w\()(?P<value>[-+]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,40})(?:\.\d{1,40})?(?:e[-+]?\d{1,4})?)"
    rf"(?:\s?(?P<unit>%|(?:{_TIME}|{_RATE})(?![\w/])))?(?!\w|\.\d)",
    re.IGNORECASE,
)
_UNIT_IN_LABEL = re.compile(rf"[(\[](?P<unit>{_TIME}|{_RATE})[)\]]", re.IGNORECASE)
_UNIT_SUFFIX = re.compile(r"_(?P<unit>ns|us|ms)$")
_LAST_PART = re.compile(r"(?:.*(?:[,;|\t\]}]| - ))?(?P<part>.*)", re.DOTALL)
_EDGES = " \t\"'{}[]<>*#|-–·.,;~"
_SEPARATORS = ":=：" + _EDGES
_LONGEST_LABEL = 80


class Printed(LineFormat):
    name = "label: value unit"
    grade = Grade.D
    needles = (":", "=", "：", "ms", "/s", " s", "%", "fps", "FPS", "qps", "毫秒", "秒")
    samples = ("throughput: 120.25 images/s, latency p50 5.065 ms", 'Latency: min = 1.2 ms, max = 3 ms, "top1": 76.13')
    columns: ClassVar = {}

    def guess(self, key: str) -> Column | None:
        """A key is label and unit, which only together name a series."""
        label, _, unit = key.partition("\n")
        return Column(label, unit)

    def read(self, text: str, book: Logbook) -> bool:
        pairs = [(f"{label}\n{unit}", value.replace(",", "")) for label, value, unit in _figures(text)]
        if pairs:
            book.record(pairs, phase="infer")
        return bool(pairs)


def _figures(text: str) -> Iterator[tuple[str, str, str]]:
    """Label, value and unit of each figure of a line."""
    head, unit_of_all, end = "", "", 0
    for found in _NUMBER.finditer(text):
        before, end = text[end : found.start()], found.end()
        part = _LAST_PART.match(before)
        label = (part["part"] if part else before).strip()
        named = _UNIT_IN_LABEL.search(label)
        if named:
            label = label[: named.start()].rstrip() + label[named.end() :]
        told = found["unit"] or (named and named["unit"]) or ""
        label = label.strip(_EDGES).lstrip("(")
        is_given = label.endswith((":", "=", "："))
        label = label.rstrip(_SEPARATORS)
        label = label if "(" in label else label.rstrip(_SEPARATORS + ")")
        leading, colon, own = label.rpartition(": ")
        if colon and own:
            head, unit_of_all = leading, (named["unit"] if named else "")
        elif head and label:
            label = f"{head}: {label}"
        unit = told or unit_of_all or _suffix(label)
        if _is_figure(label, unit, is_given=is_given):
            yield label[-_LONGEST_LABEL:], found["value"], unit


def _suffix(label: str) -> str:
    found = _UNIT_SUFFIX.search(label)
    return found["unit"] if found else ""


def _is_figure(label: str, unit: str, *, is_given: bool) -> bool:
    """A percent may be a progress bar, and a bare number anything: then the label must be a metric's name."""
    if not any(character.isalpha() for character in label):
        return False
    if unit and unit != "%":
        return True
    return metrics.kind(label) is not None and (is_given or unit == "%")
