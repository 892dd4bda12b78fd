"""Read one log: which formats it holds, which runs, and everything they say. A stream, whatever the size."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from npueval import logs
from npueval.logs import ours, streams
from npueval.logs.logbook import Logbook
from npueval.logs.logged import LoggedRun
from npueval.logs.quoting import visible
from npueval.logs.reading import Reader

Families = tuple[tuple[type[logs.Format], ...], ...]
LARGEST_DOCUMENT = 4 << 20

_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*(?:[\[{\"]|-?\d+(?:\.\d+)?\s*[,\]]))")
_JSON_LINES = re.compile(rb"\}\r?\n\{")
_USAGE = re.compile(r"^[ \t]*usage: ", re.MULTILINE)
_ARGUMENT_ERROR = re.compile(r"error: (?:argument|the following arguments|unrecognized arguments|ambiguous)")
_FILE_NAME = re.compile(r"[\w./\\-]+\.\w{1,5}")
_LEAST_FIELDS = 5
_LOOK = 64 << 10
_FIELD = re.compile(r"#|---$|[\w.-]{1,60}:(?: |$)")
_LOGGED: Families = (logs.MEMBERS, logs.LAST_RESORT)
_PRINTED: Families = ((logs.PRINTED, *(member for member in logs.MEMBERS if issubclass(member, logs.LineFormat))),)
_EXPORT = re.compile(r"onnx|torch\.jit|\bATC\b|export", re.IGNORECASE)


@dataclass(frozen=True)
class Extract:
    """What a log holds. ``runs`` is empty where it is ``rejected``, with the reason."""

    path: str
    runs: tuple[LoggedRun, ...]
    rejected: str = ""
    lines: int = 0
    encoding: str = ""
    compression: str = ""
    doubts: tuple[str, ...] = ()


def extract(path: Path, shown: str = "", *, printed: bool = False) -> Extract:
    """Read a log. ``shown`` is the path to cite. A file that is no log is rejected with the reason, never an error.

    ``printed``: it is what a command of the user's printed, of which every labelled figure counts.
    """
    shown = shown or visible(str(path))
    try:
        if logs.EVENTS.recognises(streams.first_bytes(path)):
            return _events(path, shown)
        with streams.open_log(path) as stream:
            line = None if printed else ours.first_line(stream)
            if line:
                return Extract(shown, (), rejected=f"是 npueval 自己的输出（第 {line} 行），只转述数字，不是证据")
            if _may_be_document(stream):
                book = _document(stream, shown)
                if book and (runs := book.close()):
                    return _found(stream, shown, runs, len(book.document))
        return _read(path, shown, _PRINTED if printed else _LOGGED)
    except streams.Unreadable as error:
        return Extract(shown, (), rejected=error.message)


def _events(path: Path, shown: str) -> Extract:
    book = Logbook(shown)
    with streams.open_bytes(path) as file:
        doubts = logs.EVENTS().read(file, book)
    runs = book.close()
    rejected = "" if runs else "事件文件里没有损失、误差或得分的标量"
    return Extract(shown, tuple(runs), rejected, doubts=tuple(dict.fromkeys(doubts[:20])))


def _read(path: Path, shown: str, families: Families) -> Extract:
    """By lines, with the first of the families (known formats, last resort) that finds a value."""
    for members in families:
        stream, reader = _read_by(members, path, shown, whole=families is _PRINTED)
        if reader.late:
            stream, reader = _read_by(members, path, shown, whole=families is _PRINTED, known=reader.late)
        runs = reader.book.close()
        if runs:
            break
    for what, damage in (("条 JSON 记录残缺，不采用", reader.torn), ("处记录读不通", reader.damaged)):
        if damage.count:
            stream.doubts.append(f"{damage.count} {what}（首个在第 {damage.first} 行）")
    rejected = "" if runs else _why_not(streams.text_of(stream.head[:_LOOK]), reader.lines)
    return _found(stream, shown, runs, reader.lines, rejected)


def _read_by(
    members: tuple[type[logs.Format], ...], path: Path, shown: str, *, whole: bool, known: Collection[bytes] = ()
) -> tuple[streams.Stream, Reader]:
    with streams.open_log(path) as stream:
        size = None if stream.compression else stream.size
        reader = Reader(shown, [member() for member in members], size, whole=whole, known=known)
        for block in stream.blocks():
            reader.read(block)
    return stream, reader


def _found(stream: streams.Stream, shown: str, runs: list[LoggedRun], lines: int, rejected: str = "") -> Extract:
    doubts = tuple(dict.fromkeys(stream.doubts))
    return Extract(shown, tuple(runs), rejected, lines, stream.encoding, stream.compression, doubts)


def _may_be_document(stream: streams.Stream) -> bool:
    """Whether a text begins like one JSON value: not too large, and no line of JSON after another."""
    small = stream.size <= LARGEST_DOCUMENT
    return small and _JSON.match(stream.head) is not None and _JSON_LINES.search(stream.head) is None


def _document(stream: streams.Stream, shown: str) -> Logbook | None:
    """What a file says that is one JSON document of a known format; nothing where it is anything else, or too large."""
    formats = [member() for member in logs.MEMBERS if issubclass(member, logs.DocumentFormat)]
    blocks: list[bytes] = []
    for block in stream.blocks():
        blocks.append(block)
        if sum(map(len, blocks)) > LARGEST_DOCUMENT:
            return None
    text = b"".join(blocks)
    if not any(needle.encode() in text for form in formats for needle in form.needles):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    book = Logbook(shown)
    book.document = streams.text_of(text).rstrip("\n").split("\n")
    for form in formats:
        book.at(1, book.document[0], form)
        if form.read(document, book):
            break
    return book


def _why_not(head: str, lines: int) -> str:
    """Why a text holds no metric, as far as its beginning tells."""
    written = [line.strip() for line in head.split("\n") if line.strip()]
    names = sum(bool(_FILE_NAME.fullmatch(line)) for line in written)
    if _USAGE.search(head) and _ARGUMENT_ERROR.search(head):
        return "是命令行用法错误（argparse），训练没有开始，没有任何指标"
    if names * 10 > len(written) * 9:
        return "是文件名清单，没有任何指标"
    export = _EXPORT.search(head)
    if export:
        return f"是模型导出或转换的记录（{export[0]}），没有任何指标"
    fields = sum(bool(_FIELD.match(line)) for line in written)
    if fields >= _LEAST_FIELDS and fields * 10 > len(written) * 6:
        return "像是配置文件，没有任何指标"
    return f"读了 {lines} 行，没有认得的指标记录"
