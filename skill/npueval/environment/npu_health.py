"""What ``npu-smi info -t health`` says: a page of keys and values, for a card or for one of its chips."""

from __future__ import annotations

import re
from dataclasses import dataclass

from npueval.environment.npu_smi import Health, whole


@dataclass(frozen=True)
class ChipHealth:
    """One entry of ``npu-smi info -t health``; ``chip`` is ``None`` for the board's controller (MCU)."""

    npu: int | None
    chip: int | None
    health: Health
    error_code: str | None = None


def parse_health(text: str) -> tuple[ChipHealth, ...]:
    """Read ``npu-smi info -t health -i ID [-c CHIP]``. No entry: nothing is known, which is not "all is well"."""
    npu: int | None = None
    chip: int | None = None
    found: list[ChipHealth] = []
    for label, value in re.findall(r"^[ \t]*([A-Za-z][A-Za-z ]*?)[ \t]*:[ \t]*(\S.*?)[ \t]*\r?$", text, re.M):
        if label == "NPU ID":
            npu = whole(value)
        elif label == "Chip ID":
            chip = whole(value)
        elif label in ("Health", "Health Status"):
            found.append(ChipHealth(npu, chip, Health.of(value)))
            chip = None
        elif label == "Error Code" and found and value not in ("NA", "-"):
            found[-1] = ChipHealth(found[-1].npu, found[-1].chip, found[-1].health, value)
    return tuple(found)
