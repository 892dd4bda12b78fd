"""Which kind of processor a device's name belongs to. File names, branches and host architectures are no devices."""

from __future__ import annotations

import re
from typing import Literal

DeviceKind = Literal["gpu", "npu", "cpu"]

_NPU = re.compile(r"\bnpu\b|ascend|昇腾|\batlas\b|\b(?:910[A-C]?\d?|310P?\d?)\b|davinci", re.IGNORECASE)
_GPU = re.compile(
    r"nvidia|geforce|tesla|quadro|titan|radeon|\bcuda\b|\bgpu\b"
    r"|\b(?:RTX|GTX) ?A?\d{3,4}|\b(?:[AVHB]\d00|A[1-4]0|L4|L40S?|T4|P100|P40|K80|H[28]0|MI\d{3}X?)(?![\w-]*\.\w)\b",
    re.IGNORECASE,
)
_CPU = re.compile(r"\bcpu\b|xeon|epyc|ryzen|core\(?(?:tm)?\)? ?(?:i[3579]|ultra)|kunpeng|鲲鹏", re.IGNORECASE)
_ARCHITECTURE = re.compile(r"aarch64|arm64|x86_64|amd64|i[3-6]86", re.IGNORECASE)


def kind(name: str) -> DeviceKind | None:
    """``gpu``, ``npu`` or ``cpu``; ``None`` for a host architecture (``uname -m``) and for what names no device."""
    if _ARCHITECTURE.fullmatch(name.strip()):
        return None
    if _NPU.search(name):
        return "npu"
    if _GPU.search(name):
        return "gpu"
    return "cpu" if _CPU.search(name) else None


def is_architecture(name: str) -> bool:
    """Whether a name is a host architecture such as ``aarch64``."""
    return _ARCHITECTURE.fullmatch(name.strip()) is not None
