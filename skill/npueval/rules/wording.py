"""What a written value says: nothing, a reason, a verdict, a gate, a version, a figure. Words only, no document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

from npueval.documents.values import is_placeholder
from npueval.records import Gate

# ASCII: between "A" and a Chinese character there is a word boundary only then, and digits are digits.
_FLAGS = re.IGNORECASE | re.ASCII
_NOT_APPLICABLE = re.compile(r"N\s*(?:/\s*)?A\b", _FLAGS)
_EMPTY = re.compile(r"[\s\-–—/.。、…()<>:,;]*")
_PENDING = re.compile(r"待|未|无|暂|没有|缺|不可比|不适用|TBD\b|TODO\b", _FLAGS)
_DENIED = re.compile(r"暂?无(?!法)|没有|不涉及|none\b", _FLAGS)
_FAILED = re.compile(r"❌|✗|否|不通过|[未没]通过|不达标|[未没]达标|不合格|不满足|[未没]满足|失败|fail", _FLAGS)
_CONDITIONAL = re.compile(r"有条件|部分(?:通过|达标)")
_PASSED = re.compile(r"✅|✓|√|是(?!否)|已?(?:通过|达标|满足|合格|成功)(?!率|标|后|时)|pass(?:ed)?\b|ok\b", _FLAGS)
_GATE = re.compile(r"\b(?:AUTO|MANUAL_STOP|UNKNOWN)\b", re.ASCII)
_BASELINE = re.compile(r"(?P<log>日志|\blog)|(?P<gpu>GPU|CUDA)|(?P<cpu>CPU)", _FLAGS)
_VERSION = re.compile(r"(?<![\d.])\d+(?:\.(?:\d+(?:[a-z]{1,5}\d+)?|[a-z]{1,5}\d+))+", _FLAGS)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?", re.ASCII)
_FIGURE = re.compile(
    rf"(?<![\w.])(?<!\d,)({_NUMBER.pattern})\s*(ms|%|(?:samples?|images?|tokens?|items?|req)/s)", _FLAGS
)


class Verdict(Enum):
    """What an acceptance cell says once it says something."""

    PASSED = "passed"
    CONDITIONAL = "conditional"
    FAILED = "failed"


def plain(text: str) -> str:
    """``text`` after NFKC, without emphasis, code ticks and outer blanks."""
    # NFKC would make of "32，4.2" a number with a thousands separator.
    return unicodedata.normalize("NFKC", text.replace("，", ", ")).replace("**", "").replace("`", "").strip()


def is_blank(text: str) -> bool:
    """Nothing is written: empty, dashes only, or a placeholder like ``<路径>``."""
    return _EMPTY.fullmatch(plain(text)) is not None or is_placeholder(text)


def is_not_applicable(text: str) -> bool:
    """The value begins with ``N/A``."""
    return _NOT_APPLICABLE.match(plain(text)) is not None


def lacks_reason(text: str) -> bool:
    """``N/A`` and nothing that says why."""
    words = plain(text)
    found = _NOT_APPLICABLE.match(words)
    return found is not None and _EMPTY.fullmatch(words[found.end() :]) is not None


def is_open(text: str) -> bool:
    """No answer yet: blank, ``N/A``, or a word of waiting or absence (待补采, 未执行, 无, 不可比 …) first."""
    return is_blank(text) or is_not_applicable(text) or _PENDING.match(plain(text)) is not None


def denies(text: str) -> bool:
    """The value says that there is nothing: 无, 没有, ``N/A`` …"""
    return is_not_applicable(text) or _DENIED.match(plain(text)) is not None


def is_measured(text: str) -> bool:
    """A figure stands there."""
    return not is_open(text) and any(character.isdigit() for character in text)


def verdict(text: str) -> Verdict | None:
    """The verdict that a value begins with, or ``None`` while it is open."""
    words = plain(text)
    for pattern, meaning in (
        (_FAILED, Verdict.FAILED),
        (_CONDITIONAL, Verdict.CONDITIONAL),
        (_PASSED, Verdict.PASSED),
    ):
        if pattern.match(words):
            return meaning
    return None


def gate(text: str) -> Gate | None:
    """The first gate word of a value."""
    found = _GATE.search(plain(text))
    return Gate(found[0]) if found else None


def baseline_kind(text: str) -> str | None:
    """Where a baseline is said to come from: ``log``, ``gpu``, ``cpu``, ``none`` (N/A); ``None``: it does not say."""
    if is_not_applicable(text):
        return "none"
    found = _BASELINE.search(plain(text))
    return found.lastgroup if found else None


def versions(text: str) -> list[str]:
    """Everything shaped like a version (``8.0.rc3``, ``2.1.0.post10``), in lower case and without a local part."""
    return [found.lower() for found in _VERSION.findall(plain(text))]


def figures(text: str) -> list[tuple[str, str]]:
    """Numbers that carry a unit of latency, rate or share, as written: ``[("4.20", "ms"), ("1234", "images/s")]``."""
    return [(number.replace(",", ""), unit.lower()) for number, unit in _FIGURE.findall(plain(text))]


def numbers(text: str) -> list[str]:
    """Every number of a value, as written, without thousands separators."""
    return [number.replace(",", "") for number in _NUMBER.findall(plain(text))]


def rounds_to(figure: str, known: Iterable[str]) -> bool:
    """Whether one of the ``known`` numbers, rounded to the decimals of ``figure``, is ``figure``."""
    decimals = len(figure.partition(".")[2])
    half = 0.5 * 10.0**-decimals
    return any(abs(float(number) - float(figure)) <= half * (1 + 1e-9) for number in known)
