"""Frozen dataclasses to plain JSON values and back, by their type hints; and the format that a file says it has."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from npueval.errors import FormatError

T = TypeVar("T")
_VERSION = re.compile("[1-9][0-9]{0,5}")


def to_plain(value: Any) -> Any:
    """``value`` made of dicts, lists, strings, numbers, booleans and ``None`` only."""
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: to_plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def from_plain(kind: type[T], data: Any) -> T:
    """Back from :func:`to_plain`. Raises :class:`FormatError` naming the first field that does not fit."""
    try:
        made: T = _made(kind, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"not a {kind.__name__}: {error}") from None
    return made


def versioned(name: str, version: int, value: Any) -> dict[str, Any]:
    """The JSON form of a record that is kept as a file."""
    return {"format": f"{name}/{version}", **to_plain(value)}


def body_of(data: Any, name: str, version: int, what: str, path: Path | None = None) -> dict[str, Any]:
    """The data without its format, which must be ``name`` in a version up to ``version``; else :class:`FormatError`."""
    found, _, held = str(data.get("format") if isinstance(data, dict) else "").rpartition("/")
    if found != name or not _VERSION.fullmatch(held):
        raise FormatError(f"not a {what}", path=path, hint=f'it must say "format": "{name}/{version}"')
    if int(held) > version:
        message = f"this {what} has format {held}, this release reads up to {version}"
        raise FormatError(message, path=path, hint="update npueval to read it")
    return {key: value for key, value in data.items() if key != "format"}


def _made(kind: Any, data: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if data is None else _made(next(part for part in inner if part is not type(None)), data)
    if origin is Literal:
        return data
    if origin is tuple:
        kinds = inner[:1] * len(data) if inner[-1] is Ellipsis else inner
        return tuple(_made(part, item) for part, item in zip(kinds, data, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {key: _made(inner[1], item) for key, item in data.items()}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {e.name: _made(hints[e.name], data[e.name]) for e in fields(kind) if e.name in data}
        return cast("type[Any]", kind)(**known)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    return _checked(kind, data)


def _checked(kind: Any, data: Any) -> Any:
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if kind is not Any and not isinstance(data, kind):
        raise ValueError(f"{reprlib.repr(data)} is not {kind.__name__}")
    return data
