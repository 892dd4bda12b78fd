"""TensorBoard event files, written by hand: no TensorFlow, no protobuf."""

import struct


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def record(content: bytes) -> bytes:
    """Length, its checksum, content, its checksum (which readers of logs do not need)."""
    return struct.pack("<Q", len(content)) + b"\0" * 4 + content + b"\0" * 4


def head() -> bytes:
    return record(b"\x09" + struct.pack("<d", 1.7e9) + field(3, b"brain.Event:2"))


def scalar(tag: str, value: float, step: int) -> bytes:
    """As PyTorch's writer does it: ``simple_value``."""
    return _event(step, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def tensor(tag: str, value: float, step: int, *, packed: bool = False) -> bytes:
    """As TensorFlow 2 does it: a tensor of one float, in ``tensor_content`` or ``float_val``; with plugin metadata."""
    stored = field(5 if packed else 4, struct.pack("<f", value))
    metadata = field(9, field(1, field(1, b"scalars")))
    return _event(step, field(1, tag.encode()) + metadata + field(8, b"\x08\x01" + field(2, b"") + stored))


def histogram(tag: str, step: int) -> bytes:
    return _event(step, field(1, tag.encode()) + field(5, b"\x09" + struct.pack("<d", 1.0)))


def _event(step: int, value: bytes) -> bytes:
    return record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step) + field(5, field(1, value)))
