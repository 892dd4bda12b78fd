"""The devices that can be measured on. Opening one imports its framework, so it happens in a worker process."""

from __future__ import annotations

from npueval.devices import cpu, cuda, npu
from npueval.devices.base import Clock, Device, Lane, Timer, first_line
from npueval.errors import UnknownDevice

MEMBERS = (npu, cuda, cpu)
KINDS = tuple(member.KIND for member in MEMBERS)

__all__ = ["KINDS", "MEMBERS", "Clock", "Device", "Lane", "Timer", "first_line", "open_device"]


def open_device(name: str) -> Device:
    """Open ``npu``, ``npu:1``, ``cuda:0``, ``cpu`` …

    :class:`NotExecuted` with the reason where it is not there, :class:`UnknownDevice` where nothing has such a name.
    """
    kind, _, number = name.partition(":")
    member = next((member for member in MEMBERS if kind == member.KIND), None)
    if member is None or (number and not number.isdecimal()):
        raise UnknownDevice(
            f"no such kind of device: {name}", hint=f"known: {', '.join(KINDS)}, with a card as in npu:1"
        )
    device: Device = member.open_device(int(number) if number else None)
    return device
