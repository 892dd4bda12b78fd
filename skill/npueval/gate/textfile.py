"""A project's text file, in whatever encoding its author's editor wrote it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_LONGEST_FILE = 500_000
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def read(path: Path) -> str | None:
    """The text of a regular file of a sensible size; ``None`` where it may not be read, or is no text."""
    try:
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            return _decoded(path.read_bytes())
    except OSError:
        return None
    return None


def _decoded(raw: bytes) -> str | None:
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    zeros = b"\0" in raw
    names = (marked,) if marked else _of_two_bytes(raw) if zeros else ("utf-8", "gb18030")
    for name in names:
        with suppress(UnicodeDecodeError):
            return raw.decode(name)
    # What demands are written in is ASCII, and survives.
    return None if marked or zeros else raw.decode("utf-8", errors="replace")


def _of_two_bytes(raw: bytes) -> tuple[str, ...]:
    """UTF-16 without a mark: every other byte of its ASCII is zero."""
    even, odd = raw[::2].count(0), raw[1::2].count(0)
    if max(even, odd) * 4 < len(raw) or min(even, odd):
        return ()
    return ("utf-16-le",) if odd else ("utf-16-be",)
