"""NVIDIA DLLogger: ``DLLL {json}`` lines with ``step`` (``[epoch, iteration]`` or ``"PARAMETER"``) and ``data``.

Trap: the summary comes under an empty step; ``train.ips`` counts all GPUs, the first iterations included.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from npueval.logs.base import LineFormat, position
from npueval.logs.logbook import Logbook
from npueval.logs.logged import Column

_FACTS = {"batch_size": "batch", "train_batch_size": "batch", "epochs": "epochs", "lr": "learning_rate", "amp": "amp"}


class DLLogger(LineFormat):
    name = "DLLogger"
    needles = ("DLLL {",)
    samples = (
        'DLLL {"timestamp": "1", "elapsedtime": "2.1", "type": "LOG", "step": [0, 20], "data": {"train.loss": 6.9}}',
        'DLLL {"type": "LOG", "step": [], "data": {"train.ips": 2310.5, "val.top1": 77.2}}',
    )
    columns: ClassVar = {
        "train.ips": Column("throughput", "images/s", per="total"),
        "train.loss": Column("loss"),
        "val.ips": Column("throughput", "images/s", per="total", phase="eval"),
        "throughput": Column("throughput", "samples/s", per="total"),
        "train_throughput": Column("throughput", "samples/s", per="total"),
    }

    def read(self, text: str, book: Logbook) -> bool:
        try:
            record: Any = json.loads(text[text.index("DLLL {") + 5 :])
        except (ValueError, RecursionError):
            return False
        data, step = record.get("data"), record.get("step")
        if not isinstance(data, dict):
            return False
        if step == "PARAMETER":
            for key, value in data.items():
                if key in _FACTS:
                    book.fact(_FACTS[key], str(value))
            return True
        places = [position(each) for each in step] if isinstance(step, list) else [position(step)]
        epoch, iteration = (places[0], places[1]) if len(places) > 1 else (-1.0, places[0] if places else -1.0)
        book.record(data.items(), epoch=epoch, step=iteration)
        return True
