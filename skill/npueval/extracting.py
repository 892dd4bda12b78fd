"""Read one log: which formats it holds, which runs, and everything they say. A stream, whatever the size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from npueval import logs, streams
from npueval.logged import LoggedRun

ATTENTION_HEAD = 1 << 20
ATTENTION_WINDOW = 16 << 10
"""Formats are looked for in all of the first MiB and in the first 16 KiB of each later block; what has been found once
is read everywhere. Conditions (device, data set …) are read in the same places."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OTHER_RANK = re.compile(r"\s*(?:\[(?:default|rank ?)?[1-9]\d*\]:|\[?[Rr]ank[ _]?[1-9]\d*\]?:)")
_USAGE = re.compile(r"^\s*usage: ", re.MULTILINE)
_ARGUMENT_ERROR = re.compile(r"error: (?:argument|the following arguments|unrecognized arguments|ambiguous)")
_FILE_NAME = re.compile(r"[\w./\\-]+\.\w{1,5}")
_EXPORT = re.compile(r"onnx|torch\.jit|\bATC\b|export", re.IGNORECASE)
_NEVER = 1 << 62


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


def extract(path: Path, shown: str = "") -> Extract:
    """Read a log. ``shown`` is the path to cite. A file that is no log is rejected with the reason, never an error."""
    shown = shown or str(path)
    for members in (logs.MEMBERS, logs.LAST_RESORT):
        try:
            stream = streams.open_log(path)
        except streams.Unreadable as error:
            return Extract(shown, (), rejected=error.message)
        reader = _Reader(shown, [member() for member in members])
        for block in stream.blocks():
            reader.read(block)
        if runs := reader.journal.close():
            break
    rejected = "" if runs else _why_not(streams.text_of(stream.head[:65536]), reader.line)
    doubts = tuple(dict.fromkeys(stream.doubts))
    return Extract(shown, tuple(runs), rejected, reader.line, stream.encoding, stream.compression, doubts)


class _Reader:
    """Takes a file block by block; ``line`` is the number of the line that the next block begins in."""

    def __init__(self, path: str, formats: list[logs.Format]) -> None:
        self.journal = logs.Journal(path)
        self.line = 1
        self._offset = 0
        self._waiting = formats
        self._active: list[logs.Format] = []
        self._ambient = logs.AMBIENT()

    def read(self, block: bytes) -> None:
        """Take the next block."""
        attended = len(block) if self._offset < ATTENTION_HEAD else block.rfind(b"\n", 0, ATTENTION_WINDOW) + 1
        self._offset += len(block)
        window = block[:attended]
        found = [form for form in self._waiting if any(needle in window for needle in _bytes(form))]
        if found:
            self._waiting = [form for form in self._waiting if form not in found]
            self._active = [*self._active, *found]
        self._scan(window, [*self._active, self._ambient])
        self._scan(block[attended:], self._active)

    def _scan(self, part: bytes, formats: list[logs.Format]) -> None:
        finder = _Finder(part, list(dict.fromkeys(needle for form in formats for needle in _bytes(form))))
        position, number = 0, self.line
        while position < len(part):
            start = position if self.journal.follower else finder.next_line(position)
            if start < 0:
                break
            end = part.find(b"\n", start)
            end = len(part) if end < 0 else end
            number += part.count(b"\n", position, start)
            self._line(number, streams.text_of(part[start:end]), formats)
            position, number = end + 1, number + (end < len(part))
        self.line = number + part.count(b"\n", position)

    def _line(self, number: int, text: str, formats: list[logs.Format]) -> None:
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        # A progress bar rewrites its line: what stands between two returns is a line of its own.
        for segment in text.split("\r") if "\r" in text else (text,):
            if not self._followed(number, segment) and not _OTHER_RANK.match(segment):
                self._offer(number, segment, formats)

    def _followed(self, number: int, text: str) -> bool:
        journal = self.journal
        if journal.follower is None:
            return False
        journal.line, journal.text = number, text
        if journal.follower(text):
            return True
        journal.follower = None
        return False

    def _offer(self, number: int, text: str, formats: list[logs.Format]) -> None:
        for form in formats:
            self.journal.at(number, text, form)
            if form.read(text, self.journal):
                return


class _Finder:
    """The lines of a block that hold one of the needles."""

    def __init__(self, block: bytes, needles: list[bytes]) -> None:
        self._block, self._needles = block, needles
        self._at = [-1] * len(needles)

    def next_line(self, position: int) -> int:
        """Where the first such line from ``position`` (a line's start) on begins; −1: there is none."""
        for i, at in enumerate(self._at):
            if at < position:
                found = self._block.find(self._needles[i], position)
                self._at[i] = found if found >= 0 else _NEVER
        nearest = min(self._at, default=_NEVER)
        if nearest == _NEVER:
            return -1
        return self._block.rfind(b"\n", position, nearest) + 1 or position


def _bytes(form: logs.Format) -> tuple[bytes, ...]:
    return tuple(needle.encode() for needle in form.needles)


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
    return f"读了 {max(1, lines - 1)} 行，没有认得的指标记录"
