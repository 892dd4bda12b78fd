"""gzip, bzip2 and xz a piece at a time, through as many members as a file holds, in bounded memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

LARGEST_PIECE = 256 << 10
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What a cut or damaged archive raises while it is read."""

_DICTIONARY_LIMIT = 96 << 20


def recognised(head: bytes) -> tuple[str, Callable[[], Any]] | None:
    """By what a file is compressed, and what undoes it; ``None``: by nothing that is known here."""
    return next((how for magic, how in _COMPRESSED.items() if head.startswith(magic)), None)


def unpacked(pieces: Iterator[bytes], make: Callable[[], Any]) -> Iterator[bytes]:
    """At most :data:`LARGEST_PIECE` bytes at a time; ``EOFError`` where the last member is cut."""
    worker = None
    for piece in pieces:
        data = piece
        while data or (worker and not worker.needs_input):
            worker = worker or make()
            yield worker.decompress(data, LARGEST_PIECE)
            data = b""
            if worker.eof:
                data, worker = worker.unused_data.lstrip(b"\0"), None
    if worker:
        raise EOFError("压缩流没有结尾")


class _Gzip:
    """zlib with the manners of bz2 and lzma: it keeps what it has not used, and says when it wants more."""

    def __init__(self) -> None:
        self._worker = zlib.decompressobj(wbits=31)
        self._kept = b""
        self.needs_input = True

    def decompress(self, data: bytes, most: int) -> bytes:
        out = self._worker.decompress(self._kept + data, most)
        self._kept = self._worker.unconsumed_tail
        self.needs_input = not self._kept and len(out) < most
        return out

    @property
    def eof(self) -> bool:
        return self._worker.eof

    @property
    def unused_data(self) -> bytes:
        return self._worker.unused_data


_COMPRESSED: dict[bytes, tuple[str, Callable[[], Any]]] = {
    b"\x1f\x8b": ("gzip", _Gzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lambda: lzma.LZMADecompressor(memlimit=_DICTIONARY_LIMIT)),
}
