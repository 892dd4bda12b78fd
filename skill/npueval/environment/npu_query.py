"""Ask this machine's ``npu-smi``: read-only questions, each with a time-out."""

from __future__ import annotations

from dataclasses import replace

from npueval.environment.host import Host
from npueval.environment.npu_health import parse_health
from npueval.environment.npu_smi import Health, Outcome, Reading, parse

_OUTSIDE_PATH = ("/usr/local/sbin/npu-smi", "/usr/local/bin/npu-smi", "/usr/local/Ascend/driver/tools/npu-smi")


def query(host: Host, *, timeout_s: float = 20.0) -> Reading:
    """Ask the machine's npu-smi once (``npu-smi info``, read-only)."""
    program = host.which("npu-smi", *_OUTSIDE_PATH)
    if program is None:
        return Reading(Outcome.NOT_FOUND)
    ran = host.run([program, "info"], timeout_s=timeout_s)
    if ran.timed_out:
        return Reading(Outcome.TIMED_OUT, raw=ran.output)
    return _second_opinion(host, program, parse(ran.output, status=ran.status or 0), timeout_s)


def _second_opinion(host: Host, program: str, reading: Reading, timeout_s: float) -> Reading:
    """Ask for the health page of each card whose state the table left unknown."""
    unsure = dict.fromkeys(chip.npu for chip in reading.chips if chip.health is Health.UNKNOWN)
    asked = [host.run([program, "info", "-t", "health", "-i", str(npu)], timeout_s=timeout_s) for npu in unsure]
    pages = [entry for ran in asked if ran.status == 0 for entry in parse_health(ran.stdout)]
    said = {(entry.npu, entry.chip): entry.health for entry in pages if entry.chip is not None}
    chips = tuple(
        replace(chip, health=said.get(chip.key, Health.UNKNOWN)) if chip.npu in unsure else chip
        for chip in reading.chips
    )
    return replace(reading, chips=chips)
