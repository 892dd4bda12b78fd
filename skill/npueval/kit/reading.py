"""Read a file that somebody brings: bounded, never unpickled, and JSON only where it says one thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npueval.errors import FormatError

LARGEST = 128 << 20
"""Bytes; a kit's result of a million iterations is smaller."""
DEEPEST = 64
PICKLES = (".pt", ".pth", ".pkl", ".npy", ".npz", ".ckpt")
_ARRAYS = (b"PK\x03\x04", b"\x93NUMPY", *(bytes([0x80, protocol]) for protocol in range(2, 6)))
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
    _refuse_by_content(raw, file)
    return raw


def _refuse_by_content(raw: bytes, file: Path) -> None:
    if raw.startswith(b"#!") and b"PK\x03\x04" in raw[:200]:
        raise FormatError("is the kit itself, not its result", path=file, hint=_BRING)
    if raw.startswith(_ARRAYS):
        raise FormatError("arrays and checkpoints are never unpickled", path=file, hint=_BRING)


def parsed(raw: bytes, file: Path) -> Any:
    """What the JSON says; ``None`` where it is none. :class:`FormatError` where it is ours and damaged or ambiguous."""
    try:
        data = json.loads(raw, object_pairs_hook=_unambiguous, parse_constant=_no_number)
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
