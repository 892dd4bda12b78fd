"""UTF-8 or nothing: a document in another encoding is named for what it looks like, and never rewritten."""

from __future__ import annotations

import codecs
from os import PathLike

from npueval.errors import DocumentError

_WIDE_MARKS = {codecs.BOM_UTF16_LE: "UTF-16LE", codecs.BOM_UTF16_BE: "UTF-16BE"}


def decode(data: bytes, *, path: str | PathLike[str]) -> str:
    """The text of a UTF-8 file without its byte order mark.

    Raises :class:`DocumentError` with the byte offset, the line, and the encoding that the bytes look like.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(data, error.start, path) from None
    if "\0" in text:
        raise _not_utf8(data, data.index(0), path)
    return text.removeprefix("\ufeff")


def _not_utf8(data: bytes, offset: int, path: str | PathLike[str]) -> DocumentError:
    looks = _looks_like(data, offset)
    guess = f"; it looks like {looks}" if looks else ""
    hint = f"iconv -f {looks} -t UTF-8" if looks else "restore the file or save it as UTF-8"
    return DocumentError(
        f"not UTF-8: byte 0x{data[offset]:02x} at offset {offset}{guess}",
        code="DOCUMENT_ENCODING",
        path=path,
        line=data.count(b"\n", 0, offset) + 1,
        hint=hint,
    )


def _looks_like(data: bytes, offset: int) -> str | None:
    """A guess for the message only; ``None`` where nothing fits better than chance."""
    if data[:2] in _WIDE_MARKS:
        return _WIDE_MARKS[data[:2]]
    even, odd = data[0:4096:2].count(0), data[1:4096:2].count(0)
    if max(even, odd) > len(data[:4096]) // 8 and min(even, odd) * 4 < max(even, odd):
        return "UTF-16LE" if odd > even else "UTF-16BE"
    if data[offset] == 0:
        return None
    try:
        data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    return "GB18030"
