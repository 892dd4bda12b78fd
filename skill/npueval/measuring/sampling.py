"""Power, temperature, utilisation and memory over time, in a pass of their own: reading them disturbs what is timed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from npueval.devices import Device
from npueval.devices.base import NO_PSUTIL
from npueval.environment.host import Host
from npueval.environment.npu_query import query
from npueval.environment.npu_smi import Chip
from npueval.language import Text, same
from npueval.measuring import sentences
from npueval.runs.conditions import Resources

Probe = Callable[[], Mapping[str, float | None]]

_INTERVAL_S = 0.1
# One answer of npu-smi takes most of a second.
_NPU_INTERVAL_S = 1.0
_CHIP = ("power_w", "temperature_c", "aicore_percent", "memory_used_mb", "hbm_used_mb")
_MIB = 1 << 20


@dataclass
class _Taken:
    """Readings so far: every series has one entry a tick."""

    ticks: int = 0
    series: dict[str, list[float | None]] = field(default_factory=dict)

    def add(self, readings: Mapping[str, float | None]) -> None:
        for name in {*self.series, *readings}:
            entries = self.series.setdefault(name, [None] * self.ticks)
            entries.append(readings.get(name))
        self.ticks += 1


def sample(device: Device, work: Callable[[], object], seconds: float) -> Resources:
    """Repeat ``work`` for so many seconds while another thread reads the host and the device.

    What cannot be read is named in ``missing`` with the reason.
    """
    probes, missing = _probes(device)
    interval = _NPU_INTERVAL_S if device.kind == "npu" and not missing else _INTERVAL_S
    taken, over = _Taken(), threading.Event()
    reader = threading.Thread(target=_read, args=(probes, interval, taken, over), daemon=True)
    reader.start()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            work()
    finally:
        over.set()
        reader.join()
    silent = {name for name, entries in taken.series.items() if all(entry is None for entry in entries)}
    return Resources(
        interval_s=interval,
        series={name: tuple(entries) for name, entries in sorted(taken.series.items()) if name not in silent},
        missing={**missing, **dict.fromkeys(sorted(silent), sentences.SILENT)},
    )


def unread(reason: str) -> tuple[Resources, Text]:
    """What stands in the Run after a pass that broke off, and the doubt that says so: its figures are not touched."""
    why = sentences.UNSAMPLED.filled({"reason": reason})
    return Resources(_INTERVAL_S, missing={"host": why, "device": why}), sentences.NO_POWER.filled({"why": why})


def _read(probes: list[Probe], interval: float, taken: _Taken, over: threading.Event) -> None:
    while not over.wait(interval):
        readings: dict[str, float | None] = {}
        for probe in probes:
            readings.update(probe())
        taken.add(readings)


def _probes(device: Device) -> tuple[list[Probe], dict[str, Text]]:
    host, no_host = _host_probe()
    of_device, no_device = (None, sentences.SIMULATED) if device.simulated else _DEVICES[device.kind](device)
    missing = {name: reason for name, reason in (("host", no_host), ("device", no_device)) if reason is not None}
    return [probe for probe in (host, of_device) if probe], missing


def _host_probe() -> tuple[Probe | None, Text | None]:
    try:
        import psutil
    except ImportError:
        return None, NO_PSUTIL
    process = psutil.Process()
    process.cpu_percent()

    def read() -> Mapping[str, float | None]:
        return {"process_cpu_percent": process.cpu_percent(), "process_rss_mb": process.memory_info().rss / _MIB}

    return read, None


def _npu_probe(device: Device) -> tuple[Probe | None, Text | None]:
    host, index = Host(), _physical(device, "ASCEND_RT_VISIBLE_DEVICES")
    if index is None or _chip(host, index) is None:
        return None, sentences.NOT_SHOWN.filled({"device": device.name})

    def read() -> Mapping[str, float | None]:
        chip = _chip(host, index)
        return {f"device_{name}": getattr(chip, name, None) for name in _CHIP}

    return read, None


def _chip(host: Host, index: int) -> Chip | None:
    """The chip that torch numbers so: by npu-smi's own device number, else by its place in the table."""
    chips = query(host).chips
    named = next((chip for chip in chips if chip.device == index), None)
    return named or (chips[index] if index < len(chips) and chips[index].device is None else None)


def _physical(device: Device, variable: str) -> int | None:
    """The driver's number of a card that torch numbers among the visible ones; ``None`` where it cannot be told."""
    index, chosen = device.index or 0, os.environ.get(variable, "").strip()
    if not chosen:
        return index
    visible = [entry.strip() for entry in chosen.split(",")]
    return int(visible[index]) if index < len(visible) and visible[index].isdigit() else None


def _cuda_probe(device: Device) -> tuple[Probe | None, Text | None]:
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(_uuid(device))
    except ImportError:
        return None, sentences.NO_NVML
    except AttributeError:
        return None, sentences.NO_UUID
    except pynvml.NVMLError as error:
        return None, same(f"NVML: {error}")
    return lambda: _nvml(pynvml, handle), None


def _uuid(device: Device) -> str:
    """The driver's name of a card, which it may number otherwise than torch. ``AttributeError`` in an old torch."""
    import torch

    return f"GPU-{torch.cuda.get_device_properties(device.index).uuid}"


def _nvml(pynvml: Any, handle: Any) -> Mapping[str, float | None]:
    def told(function: str, *arguments: Any) -> Any:
        try:
            return getattr(pynvml, function)(handle, *arguments)
        except pynvml.NVMLError:
            return None

    power, rates = told("nvmlDeviceGetPowerUsage"), told("nvmlDeviceGetUtilizationRates")
    memory = told("nvmlDeviceGetMemoryInfo")
    return {
        "device_power_w": None if power is None else power / 1000,
        "device_temperature_c": told("nvmlDeviceGetTemperature", pynvml.NVML_TEMPERATURE_GPU),
        "device_utilisation_percent": rates and rates.gpu,
        "device_memory_used_mb": memory and memory.used / _MIB,
        "device_sm_clock_mhz": told("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_SM),
    }


def _cpu_probe(_device: Device) -> tuple[Probe | None, Text | None]:
    try:
        import psutil
    except ImportError:
        return None, NO_PSUTIL

    def read() -> Mapping[str, float | None]:
        frequency = psutil.cpu_freq()
        return {"host_cpu_percent": psutil.cpu_percent(), "host_clock_mhz": frequency.current if frequency else None}

    return read, None


_DEVICES: Mapping[str, Callable[[Device], tuple[Probe | None, Text | None]]] = {
    "npu": _npu_probe,
    "cuda": _cuda_probe,
    "cpu": _cpu_probe,
}
