"""What a smoke test finds: one line for each thing that was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npueval.errors import FormatError
from npueval.language import Text
from npueval.plaindata import to_plain
from npueval.runs.conditions import DeviceFacts, WorkloadFacts

FORMAT = "npueval/smoke"
VERSION = 1


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``passed`` is ``None`` where it could not be seen; ``detail`` says why."""

    name: str
    passed: bool | None
    detail: Text


@dataclass(frozen=True)
class Smoke:
    """A few inputs through the workload, a few training steps: does it run at all?

    ``losses`` are those of the training steps, in order. A ``simulated`` result proves nothing about a real card.
    ``made_with`` names the files that were used, ``conditions`` what the plan said of it: where either has changed, it
    no longer counts.
    """

    created: str
    device: DeviceFacts
    simulated: bool
    workload: str
    precision: str
    inference: tuple[Check, ...]
    training: tuple[Check, ...]
    losses: tuple[float, ...] = ()
    made_with: WorkloadFacts | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def inference_passed(self) -> bool | None:
        """``None`` where nothing could be judged."""
        return _verdict(self.inference)

    @property
    def training_passed(self) -> bool | None:
        """``None`` where nothing could be judged, as for a workload that cannot train."""
        return _verdict(self.training)


def _verdict(checks: tuple[Check, ...]) -> bool | None:
    judged = [check.passed for check in checks if check.passed is not None]
    return all(judged) if judged else None


def to_data(smoke: Smoke) -> dict[str, Any]:
    """The JSON form."""
    checks = {
        kind: [{"name": c.name, "passed": c.passed, "detail": vars(c.detail)} for c in getattr(smoke, kind)]
        for kind in ("inference", "training")
    }
    plain = {"device": to_plain(smoke.device), "made_with": to_plain(smoke.made_with), **checks}
    return {"format": f"{FORMAT}/{VERSION}", **vars(smoke), **plain}


def from_data(data: Mapping[str, Any]) -> Smoke:
    """The result of its JSON form; :class:`FormatError` where it is none or newer."""
    name, _, version = str(data.get("format")).rpartition("/")
    if name != FORMAT or version != str(VERSION):
        raise FormatError(f"not a smoke result of format {VERSION}: {data.get('format')}")
    checks = {
        kind: tuple(Check(c["name"], c["passed"], Text(**c["detail"])) for c in data[kind])
        for kind in ("inference", "training")
    }
    known = {key: value for key, value in data.items() if key != "format"}
    made_with = WorkloadFacts(**held) if (held := data.get("made_with")) else None
    device, losses = DeviceFacts(**data["device"]), tuple(data["losses"])
    return Smoke(**{**known, **checks, "device": device, "losses": losses, "made_with": made_with})
