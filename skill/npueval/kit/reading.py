"""Read a file that somebody brings: bounded, never unpickled, and JSON only where it says one thing."""

from __future__ import annotations

import json
import math
import re
import zlib
from pathlib import Path
from typing import Any

from npueval.errors import FormatError

LARGEST = 128 << 20
"""Bytes; a kit's result of a million iterations is smaller."""
DEEPEST = 64
MOST_DIGITS = 30
PICKLES = (".pt", ".pth", ".pkl", ".npy", ".npz", ".ckpt")
_ARRAYS = (b"PK\x03\x04", b"\x93NUMPY", *(bytes([0x80, protocol]) for protocol in range(2, 6)))
_GZIP = b"\x1f\x8b"
# What a terminal obeys, and halves of characters, which no file can be written with.
_ILLEGIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BRING = "bring the gpu_result-….json that the kit wrote"


def read(file: Path) -> bytes:
    """The bytes of a regular file of bearable size; :class:`FormatError` for anything else."""
    if file.suffix.lower() in PICKLES:
        raise FormatError("arrays and checkpoints are never unpickled", path=file, hint=_BRING)
    try:
        if not file.exists():
            raise FormatError("no such file", path=file)
        if not file.is_file():
            raise FormatError("is a folder" if file.is_dir() else "is no regular file", path=file, hint=_BRING)
        if file.stat().st_size > LARGEST:
            raise FormatError(f"larger than {LARGEST >> 20} MiB", path=file)
        raw = file.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=file) from None
    raw = _unzipped(raw, file) if raw.startswith(_GZIP) else raw
    _refuse_by_content(raw, file)
    return raw


def _unzipped(raw: bytes, file: Path) -> bytes:
    packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = packed.decompress(raw, LARGEST + 1)
    except zlib.error as error:
        raise FormatError(f"damaged gzip: {error}", path=file, hint="copy it again, whole") from None
    if len(plain) > LARGEST:
        raise FormatError(f"larger than {LARGEST >> 20} MiB when unpacked", path=file)
    if not packed.eof:
        raise FormatError("the gzip is cut off", path=file, hint="copy it again, whole")
    return plain


def _refuse_by_content(raw: bytes, file: Path) -> None:
    if raw.startswith(b"#!") and b"PK\x03\x04" in raw[:200]:
        raise FormatError("is the kit itself, not its result", path=file, hint=_BRING)
    if raw.startswith(_ARRAYS):
        raise FormatError("arrays and checkpoints are never unpickled", path=file, hint=_BRING)


def parsed(raw: bytes, file: Path) -> Any:
    """What the JSON says; ``None`` where it is none. :class:`FormatError` where it is ours and damaged or ambiguous."""
    try:
        data = json.loads(
            raw, object_pairs_hook=_unambiguous, parse_constant=_no_number, parse_float=_finite, parse_int=_countable
        )
        if _deeper(data, DEEPEST):
            raise RecursionError
    except RecursionError:
        raise FormatError(f"nested deeper than {DEEPEST} levels", path=file) from None
    except _Ambiguous as error:
        raise FormatError(str(error), path=file) from None
    except ValueError as error:
        if b'"npueval/' in raw[:400]:
            raise FormatError(f"cut off or damaged: {error}", path=file, hint="copy it again, whole") from None
        return None
    return data


class _Ambiguous(Exception):
    """The file is JSON to some readers and not to others, or not the same."""


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Ambiguous(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return found


def _no_number(constant: str) -> Any:
    raise _Ambiguous(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return value


def _countable(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise _Ambiguous(f"{text[:MOST_DIGITS]}… is no number that can be kept")
    return int(text)


def legible(data: Any) -> Any:
    """The same with every control character and half a character in its texts replaced, for terminals and files."""
    if isinstance(data, str):
        return _ILLEGIBLE.sub("\ufffd", data)
    if isinstance(data, dict):
        return {legible(key): legible(value) for key, value in data.items()}
    return [legible(value) for value in data] if isinstance(data, list) else data


def _deeper(data: Any, levels: int) -> bool:
    """Whether containers lie in one another more than ``levels`` deep."""
    layer = [data]
    for _ in range(levels):
        inner: list[Any] = []
        for each in layer:
            if isinstance(each, dict):
                inner.extend(value for value in each.values() if isinstance(value, dict | list))
            elif isinstance(each, list):
                inner.extend(value for value in each if isinstance(value, dict | list))
        if not inner:
            return False
        layer = inner
    return True
