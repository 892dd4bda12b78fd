"""What the worker's output tells: operators that ran on the CPU although the NPU was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from npueval.language import Text
from npueval.measuring import sentences

_FALLBACK = re.compile(r"operator\s+['\"`]?([\w:.]+)['\"`]?\s+is not currently supported on the NPU")
_READ_BYTES = 8 << 20


def doubts(output: Path) -> Iterator[Text]:
    """A doubt that names every operator that fell back; an absent output tells nothing."""
    try:
        with output.open("rb") as file:
            said = file.read(_READ_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return
    names = sorted(set(_FALLBACK.findall(said)))
    if names:
        yield sentences.FELL_BACK.filled({"names": ", ".join(names)})
