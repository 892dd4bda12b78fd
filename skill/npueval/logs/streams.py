"""Log files as blocks of whole UTF-8 lines: compressed or not, in any usual encoding, of any size, in bounded memory.

Only regular files are opened, nothing is ever unpickled, and every bound that cut something short is told. Reasons and
doubts are Chinese: they go into documents.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from npueval.errors import NpuevalError
from npueval.logs import unpacking

HEAD, PIECE = 256 << 10, 64 << 10
"""What is read first and at once, and then piece by piece: so small that the pieces take the same memory in turn."""
LONGEST_LINE = 1 << 20
KEPT_OF_LONG_LINE = 64 << 10
BOMB_RATIO, BOMB_FLOOR = 250, 256 << 20

_BINARY = {
    b"\x89PNG": "PNG 图片",
    b"\xff\xd8\xff": "JPEG 图片",
    b"PK\x03\x04": "zip 或 .pt/.npz，不反序列化",
    b"\x80\x02": "pickle，不反序列化",
    b"\x80\x03": "pickle，不反序列化",
    b"\x80\x04": "pickle，不反序列化",
    b"\x80\x05": "pickle，不反序列化",
    b"\x93NUMPY": "npy 数组，不反序列化",
    b"\x7fELF": "可执行文件",
    b"%PDF": "PDF",
    b"\x89HDF": "HDF5",
    b"Rar!\x1a\x07": "rar 压缩包，先解开",
    b"7z\xbc\xaf\x27\x1c": "7z 压缩包，先解开",
    b"\x28\xb5\x2f\xfd": "zstd 压缩，先解开",
    b"\x04\x22\x4d\x18": "lz4 压缩，先解开",
}
_TAR_AT, _TAR = 257, b"ustar"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\b\x1b\x07"))
_MOJIBAKE = re.compile("锟斤拷|鈹[佲€]|[鈻銆锛](?=[\u4e00-\u9fff])|Ã[\x80-\xbf]|â[\x80-\x9f€]")


class Unreadable(NpuevalError):
    """The file holds no text that could be read."""

    code = "LOG_UNREADABLE"


@dataclass
class Stream:
    """An opened log, to be read once inside a ``with``. ``doubts`` grows while it is read."""

    path: Path
    size: int
    encoding: str
    compression: str
    head: bytes
    _pieces: Iterator[bytes]
    _file: BinaryIO
    doubts: list[str] = field(default_factory=list)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 text in blocks that end with a line; ``\\r\\n`` is ``\\n``; a lone ``\\r`` stays inside its line."""
        pieces = self._until_it_breaks(chain([self.head], self._pieces))
        decoded = pieces if self.encoding == "utf-8" else _decoded(pieces, self.encoding)
        return self._whole_lines(decoded)

    def _until_it_breaks(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        limit = max(BOMB_FLOOR, self.size * BOMB_RATIO) if self.compression else self.size
        total = 0
        try:
            for piece in pieces:
                yield piece[: limit - total]
                total += len(piece)
                if total > limit:
                    break
        except unpacking.DAMAGED as error:
            self._doubt(f"{self.compression or '文件'} 数据不完整，只读到中断处（{error}）")
            return
        if total > limit and self.compression:
            self._doubt(f"解压后超过压缩大小的 {BOMB_RATIO} 倍，只读前 {limit >> 20} MiB")
        elif total > limit:
            self._doubt("读取期间文件仍在增长，只读到打开时的长度")
        elif total < limit and not self.compression:
            self._doubt(f"读取期间文件变短：打开时有 {limit} 字节，只读到 {total} 字节")

    def _doubt(self, text: str) -> None:
        if text not in self.doubts:
            self.doubts.append(text)

    def _whole_lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        rest, skipping = b"", False
        for piece in pieces:
            data = rest + piece if rest else piece
            # A "\r" at the very end may be half of "\r\n": it waits for the next piece.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(0, len(data) - 1))) + 1
            if skipping and cut:
                start = re.search(rb"[\r\n]", data).start()  # type: ignore[union-attr]
                data, cut, skipping = data[start:], cut - start, False
            if cut:
                yield _unix(data[:cut])
            rest = b"" if skipping else data[cut:]
            if len(rest) > LONGEST_LINE:
                self._doubt(f"有超过 {LONGEST_LINE >> 20} MiB 的行，只看了开头 {KEPT_OF_LONG_LINE >> 10} KiB")
                yield _unix(rest[:KEPT_OF_LONG_LINE])
                rest, skipping = b"", True
        if rest:
            yield _unix(rest)


def open_log(path: Path) -> Stream:
    """Open a regular file as text. :class:`Unreadable` says why it is not one."""
    file = open_bytes(path)
    try:
        return _opened(path, file)
    except Unreadable:
        file.close()
        raise


def _opened(path: Path, file: BinaryIO) -> Stream:
    size = os.fstat(file.fileno()).st_size
    pieces = _read(file)
    head = next(pieces, b"")
    name, make = unpacking.recognised(head) or ("", None)
    if make:
        pieces = unpacking.unpacked(chain([head], pieces), make)
        try:
            head = next((piece for piece in pieces if piece), b"")
        except unpacking.DAMAGED as error:
            raise Unreadable(f"{name} 数据损坏：{error}", path=path) from None
        if not head:
            raise Unreadable(f"{name} 解压后没有内容：是空文件，或数据损坏、被截断", path=path)
    reason = binary_reason(head)
    if reason:
        raise Unreadable(reason, path=path)
    stream = Stream(path, size, _encoding(head), name, head, pieces, file)
    if stream.encoding != "utf-8":
        stream.doubts.append(f"编码按 {stream.encoding} 读取")
    if not head[:65536].isascii() and _MOJIBAKE.search(head[:65536].decode(stream.encoding, "replace")):
        stream.doubts.append("文本里有乱码（编码在写入前就已损坏），其中的名称不可信")
    return stream


def binary_reason(head: bytes) -> str | None:
    """Why the first bytes of a file are no text; ``None`` where they are."""
    if not head:
        return "空文件"
    kind = next((name for magic, name in _BINARY.items() if head.startswith(magic)), None)
    if kind:
        return f"二进制文件：{kind}"
    if unpacking.recognised(head):
        return "压缩文件里还是压缩文件，只解一层"
    if head.startswith(_TAR, _TAR_AT):
        return "二进制文件：tar 归档，先解开"
    if _encoding(head).startswith("utf-16"):
        return None
    sample = head[:4096]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "二进制文件" if 0 in sample or controls * 10 > len(sample) else None


def text_of(line: bytes) -> str:
    """The text of one line of a block; a line that is no UTF-8 in a file that began as such is tried as GB18030."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("gb18030", "replace")


def beginning(path: Path) -> bytes:
    """The first piece of a text, decompressed; :class:`Unreadable` where it is none."""
    with open_log(path) as stream:
        return stream.head


def first_bytes(path: Path) -> bytes:
    """The beginning of a regular file as it lies on disk."""
    with open_bytes(path) as file:
        return file.read(64)


def open_bytes(path: Path) -> BinaryIO:
    """A regular file, unbuffered; :class:`Unreadable` where it is anything else."""
    try:
        handle = _opened_regular(path)
    except (OSError, ValueError) as error:
        # A name with a NUL in it is a ValueError.
        raise Unreadable(f"打不开：{getattr(error, 'strerror', None) or error}", path=path) from None
    if handle is None:
        raise Unreadable("不是普通文件（目录、FIFO、套接字或设备），不打开", path=path)
    return os.fdopen(handle, "rb", 0)


def is_regular(path: Path) -> bool:
    """Whether there is a regular file, as far as one may look."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _opened_regular(path: Path) -> int | None:
    # A device might act when it is opened and a FIFO would block; one that was put there meanwhile is not read from.
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None


def _read(file: BinaryIO) -> Iterator[bytes]:
    size = HEAD
    while piece := file.read(size):
        yield piece
        size = PIECE


def _encoding(head: bytes) -> str:
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if marked:
        return marked
    sample = head[:65536]
    if sample.isascii() and 0 not in sample:
        return "utf-8"
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 > len(sample) and min(even, odd) * 8 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return next((name for name in ("utf-8", "gb18030") if _decodes(sample, name)), "utf-8")


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data
