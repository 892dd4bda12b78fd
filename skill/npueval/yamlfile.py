"""A YAML file as plain data that still knows on which line each value stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from npueval.contracts import Pointer
from npueval.errors import NpuevalError

MOST_VALUES = 100_000


class YamlError(NpuevalError):
    """The file cannot be read as one YAML mapping."""

    code = "YAML_INVALID"


@dataclass(frozen=True)
class YamlFile:
    """``data`` holds dicts, lists, strings, numbers, booleans and ``None``; dates have become ISO strings."""

    data: dict[str, Any]
    tree: CommentedMap

    def line(self, pointer: Pointer) -> int:
        """The 1-based line of a value, or of the nearest enclosing one that stands in the file."""
        line, value = 1, self.tree
        for part in pointer:
            known = isinstance(value, CommentedMap) and part in value
            if not known and not isinstance(value, CommentedSeq):
                break
            line = value.lc.data[part][0] + 1
            value = value[part]
        return line


def read(path: Path) -> YamlFile:
    """Read a file; raises :class:`YamlError` with the line where it is not UTF-8, not YAML, or not a mapping."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise YamlError(f"cannot be read: {error.strerror}", path=path) from None
    tree = _parse(raw, path)
    if not isinstance(tree, CommentedMap):
        raise YamlError("not a mapping of keys to values", path=path, line=1)
    try:
        return YamlFile(_plain(tree, path, count()), tree)
    except RecursionError:
        raise YamlError("nested too deeply", path=path) from None


def _parse(raw: bytes, path: Path) -> Any:
    try:
        return YAML().load(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise YamlError(f"not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}", path=path) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        message = (error.problem or "cannot be parsed").split("\n")[0]
        raise YamlError(f"not YAML: {message}", path=path, line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise YamlError(f"not YAML: {str(error).splitlines()[0]}", path=path) from None


def _plain(value: Any, path: Path, seen: Iterator[int]) -> Any:
    # Aliases may make a small file unfold into an endless one.
    if next(seen) > MOST_VALUES:
        raise YamlError(f"holds more than {MOST_VALUES} values", path=path)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, path, seen) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, path, seen) for item in value]
    return value.isoformat() if isinstance(value, date) else value
