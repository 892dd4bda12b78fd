"""The user's word for what a file does not say: never against the file, and always marked."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from npueval.errors import FormatError
from npueval.logs import hardware
from npueval.records import Fact

KEYS = ("device", "device_kind", "batch", "precision", "cards", "concurrency", "framework", "dataset", "split", "date")
_COUNTS = ("batch", "cards", "concurrency")
_ONE_OF = {"precision": ("fp32", "tf32", "fp16", "bf16", "int8"), "device_kind": ("gpu", "cpu", "npu")}
_MOST_DIGITS = 7
_LONGEST = 200


def stated(said: Mapping[str, str], file: Path) -> dict[str, Fact]:
    """The facts, a device's name giving its kind too; :class:`FormatError` for what is no fact."""
    for key, value in said.items():
        if reason := _unusable(key, value):
            raise FormatError(f"--fact {key}={value:.40}: {reason[0]}", path=file, hint=reason[1])
    kind = hardware.kind(said.get("device", ""))
    if kind and said.get("device_kind", kind) != kind:
        raise FormatError(f"--fact device_kind={said['device_kind']}: a {said['device']} is a {kind}", path=file)
    return {key: Fact(value) for key, value in {"device_kind": kind or "", **said}.items() if value}


def merged(said: Mapping[str, Fact], found: Mapping[str, Fact], file: Path) -> tuple[dict[str, Fact], tuple[str, ...]]:
    """The file's facts with the user's, and what is only the user's word; :class:`FormatError` where they disagree."""
    for key in said:
        if key in found and found[key].value.lower() != said[key].value.lower():
            told = f"--fact says {key}={said[key].value}, the file says {found[key].value}"
            raise FormatError(told, path=file, hint="leave out what the file says itself")
    word = [key for key in said if key not in found]
    return {**said, **found}, ((f"{'、'.join(word)} 由用户声明",) if word else ())


def _unusable(key: str, value: str) -> tuple[str, str] | None:
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1)
        return "no such fact", f"did you mean {near[0]}?" if near else f"known: {', '.join(KEYS)}"
    if key in _COUNTS and not (value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS and int(value)):
        return "a count from 1 up", "write it in digits"
    if key in _ONE_OF and value not in _ONE_OF[key]:
        return "no such value", f"one of {', '.join(_ONE_OF[key])}"
    if len(value) > _LONGEST or not value.isprintable():
        return "too long, or more than one line of text", "say it in one line"
    return None
