"""TensorBoard event files, read as they lie on disk: length, checksum, protobuf, checksum; no TensorFlow, no protobuf.

Traps: a scalar is a float or a tensor of one element; each tag counts its own steps; a resume overlaps what was written
before; the last record of a killed run is cut. A value is cited by the number of its event.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

from npueval import metrics
from npueval.logs.base import Format
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column, LoggedRun, Series
from npueval.records import Citation

LARGEST_EVENT, LARGEST_READ = 1 << 30, 4 << 20
"""What claims to be larger is damage; what is larger than the second is a graph or a picture and passed over."""
MOST_TAGS, MOST_DOUBTS = 4096, 20

_LENGTH, _DOUBLE, _FLOAT = struct.Struct("<Q"), struct.Struct("<d"), struct.Struct("<f")
_HEAD, _TAIL = 12, 4
_LONGEST_TAG = 1000
_PIECE = 1 << 20
# Keys as they stand in the bytes: field number × 8 + wire type.
_WALL_TIME, _STEP, _SUMMARY = 0x09, 0x10, 0x2A
_VALUE, _TAG, _SIMPLE_VALUE, _TENSOR = 0x0A, 0x0A, 0x15, 0x42
_DTYPE, _CONTENT, _FLOATS, _DOUBLES = 0x08, 0x22, 0x2A, 0x32
_DTYPE_DOUBLE = 2


class TensorBoard(Format):
    """The scalars of an event file."""

    name = "TensorBoard"
    needles = ("brain.Event:",)
    samples = ("events.out.tfevents.1700000000.host", "events.out.tfevents.1700000000.host.1.0")

    @staticmethod
    def recognises(head: bytes) -> bool:
        """Whether a file begins with the record that opens every event file."""
        return b"brain.Event:" in head[:64]

    def read(self, file: BinaryIO, book: Logbook) -> list[str]:
        """Write every scalar into the book; returns what is doubtful about the file."""
        doubts: list[str] = []
        book.at(1, "", self)
        run = book.begin()
        known: dict[str, Series | None] = {}
        events, damaged = _Events(), 0
        for number, data in enumerate(_records(file, doubts), start=1):
            try:
                step, scalars = events.read(data)
            except (IndexError, struct.error, UnicodeDecodeError):
                damaged += 1
                if damaged == 1:
                    doubts.append(f"第 {number} 个事件损坏，跳过")
                continue
            for tag, value in scalars:
                if tag not in known and len(known) < MOST_TAGS:
                    known[tag] = self._series(run, tag)
                series = known.get(tag)
                if series is not None:
                    _take(series, value, step, number, doubts, book)
            run.last_line = number
        return doubts + ([f"共有 {damaged} 个事件损坏"] if damaged > 1 else [])

    def _series(self, run: LoggedRun, tag: str) -> Series | None:
        column = self.column(tag)
        if column is None:
            return None
        return run.series_of(column, "train")

    def guess(self, key: str) -> Column | None:
        column = super().guess(key)
        if column is None:
            return None
        held_out = any(metrics.is_held_out(part) for part in key.split("/"))
        return Column(column.metric, column.unit, phase="eval" if held_out else "train")


def _take(series: Series, value: float, step: int, number: int, doubts: list[str], book: Logbook) -> None:
    tag = series.column.metric
    # Each tag counts its own steps: only its own may fall back.
    if step < series.last_position[1] and len(doubts) < MOST_DOUBTS:
        doubts.append(f"{tag} 的步数从 {series.last_position[1]:g} 回到 {step}：续训与之前的记录重叠")
    if math.isfinite(value):
        series.add(value, (-1.0, float(step)), number, tag)
    else:
        series.refuse(Citation(book.path, number, f"{tag} = {value} (step {step})"))


def _records(file: BinaryIO, doubts: list[str]) -> Iterator[bytes]:
    """The data of every event, empty where it is passed over."""
    rest = b""
    while piece := file.read(_PIECE):
        data, position = rest + piece, 0
        while len(data) - position >= _HEAD:
            (size,) = _LENGTH.unpack_from(data, position)
            if size > LARGEST_EVENT:
                doubts.append(f"一个事件声称有 {size} 字节，其后不再读取")
                return
            end = position + _HEAD + size + _TAIL
            if end > len(data):
                break
            yield data[position + _HEAD : end - _TAIL]
            position = end
        rest = data[position:]
        if len(rest) >= _HEAD and (missing := end - len(data)) > LARGEST_READ:
            rest = b"" if file.seek(missing, os.SEEK_CUR) <= os.fstat(file.fileno()).st_size else rest
            yield b""
    if rest:
        doubts.append("最后一个事件不完整，不采用")


class _Events:
    """Reads events; one that differs from an earlier one only in its time, its step and the number at its end needs no
    parsing."""

    def __init__(self) -> None:
        self._tags: dict[bytes, str] = {}

    def read(self, data: bytes) -> tuple[int, list[tuple[str, float]]]:
        """The step of an event and its scalars."""
        if data[0:1] != b"\x09" or data[9:10] != b"\x10":
            return _event(data)
        step, position = _varint(data, 10)
        between = data[position:-4]
        tag = self._tags.get(between)
        if tag is not None:
            return step, [(tag, _FLOAT.unpack_from(data, len(data) - 4)[0])]
        found = _event(data)
        if len(found[1]) == 1 and len(self._tags) < MOST_TAGS and len(between) < _LONGEST_TAG:
            tag = found[1][0][0]
            if all(_event(data[:-4] + _FLOAT.pack(value)) == (step, [(tag, value)]) for value in (1.0, 2.0)):
                self._tags[between] = tag
        return found


def _event(data: bytes) -> tuple[int, list[tuple[str, float]]]:
    scalars: list[tuple[str, float]] = []
    step = position = 0
    end = len(data)
    while position < end:
        key = data[position]
        position += 1
        if key == _WALL_TIME:
            position += 8
        elif key == _STEP:
            step, position = _varint(data, position)
        elif key == _SUMMARY:
            size, position = _varint(data, position)
            _summary(data, position, position + size, scalars)
            position += size
        else:
            position = _skipped(data, position, key)
    return step, scalars


def _summary(data: bytes, position: int, end: int, scalars: list[tuple[str, float]]) -> None:
    while position < end:
        key = data[position]
        if key != _VALUE:
            position = _skipped(data, position + 1, key)
            continue
        size, position = _varint(data, position + 1)
        _value(data, position, position + size, scalars)
        position += size


def _value(data: bytes, position: int, end: int, scalars: list[tuple[str, float]]) -> None:
    tag, value = "", None
    while position < end:
        key = data[position]
        position += 1
        if key == _TAG:
            size, position = _varint(data, position)
            tag = data[position : position + size].decode()
            position += size
        elif key == _SIMPLE_VALUE:
            (value,) = _FLOAT.unpack_from(data, position)
            position += 4
        elif key == _TENSOR:
            size, position = _varint(data, position)
            value = _one_element(data, position, position + size)
            position += size
        else:
            position = _skipped(data, position, key)
    if value is not None:
        scalars.append((tag, value))


def _one_element(data: bytes, position: int, end: int) -> float | None:
    """The value of a tensor of one float or double, however it is stored; ``None`` for any other tensor."""
    dtype, stored = 0, b""
    while position < end:
        key = data[position]
        position += 1
        if key == _DTYPE:
            dtype, position = _varint(data, position)
        elif key in (_CONTENT, _FLOATS, _DOUBLES):
            size, position = _varint(data, position)
            stored = data[position : position + size]
            position += size
        else:
            position = _skipped(data, position, key)
    kind = _DOUBLE if dtype == _DTYPE_DOUBLE else _FLOAT
    return float(kind.unpack(stored)[0]) if len(stored) == kind.size else None


def _varint(data: bytes, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 128:
        return byte, position + 1
    result, shift = byte & 127, 7
    while byte > 127:
        position += 1
        byte = data[position]
        result |= (byte & 127) << shift
        shift += 7
    return result, position + 1


def _skipped(data: bytes, position: int, key: int) -> int:
    """Past a field that is of no interest; a key of two bytes or more has the rest of itself skipped first."""
    if key > 127:
        _, position = _varint(data, position)
    wire = key & 7
    if wire == 0:
        return _varint(data, position)[1]
    if wire == 2:
        size, position = _varint(data, position)
        return position + size
    if wire not in (1, 5):
        raise IndexError(wire)
    return position + (8 if wire == 1 else 4)
