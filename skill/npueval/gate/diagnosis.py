"""What the gate found: evidence, the verdict that follows, what a person has to do, in the order to do it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from npueval.environment import Environment
from npueval.errors import FormatError
from npueval.gate.needs import Needs
from npueval.language import Text
from npueval.plaindata import from_plain, to_plain
from npueval.records import Gate

FORMAT = "npueval/diagnosis/1"


class Outcome(str, Enum):
    """How one check ended. ``NOTE`` is worth knowing and holds nothing up."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOTE = "note"


@dataclass(frozen=True)
class Evidence:
    """One check. ``verdict`` is what it alone makes of the gate; ``needed``: tests cannot run unless it passes."""

    key: str
    item: Text
    outcome: Outcome
    finding: Text
    verdict: Gate = Gate.AUTO
    needed: bool = False

    @property
    def holds_up(self) -> bool:
        """Whether tests cannot run because of it."""
        return self.needed and self.outcome in (Outcome.FAIL, Outcome.UNKNOWN)


class Stage(int, Enum):
    """The order in which things are put right: each step may need the ones before it."""

    RECHECK = 0
    HARDWARE = 1
    CANN = 2
    SET_ENV = 3
    PYTHON = 4
    FRAMEWORK = 5
    PROJECT = 6
    QUESTION = 7
    AGAIN = 8


@dataclass(frozen=True)
class Action:
    """One thing for a person to do, how to tell that it is done, and a command where there is one."""

    stage: Stage
    text: Text
    proof: Text
    command: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """The gate's answer. ``outside`` is the second reading of a merge; ``environment`` is the one that was adopted."""

    gate: Gate
    evidence: tuple[Evidence, ...]
    actions: tuple[Action, ...]
    environment: Environment
    needs: Needs
    adopted: str = "only"
    other: Environment | None = None

    @property
    def runnable(self) -> bool:
        """Whether tests can run on this machine's NPU now: the gate is open and nothing that is needed is missing."""
        return self.gate is Gate.AUTO and not any(evidence.holds_up for evidence in self.evidence)

    @property
    def reasons(self) -> tuple[Text, ...]:
        """Why tests cannot run here, gate first; empty when they can."""
        decisive = [e.finding for e in self.evidence if e.verdict is self.gate is not Gate.AUTO]
        missing = [e.finding for e in self.evidence if e.needed and e.outcome is Outcome.FAIL]
        return tuple(dict.fromkeys((*decisive, *missing)))

    def found(self, key: str) -> Evidence | None:
        """The evidence of one check, or ``None`` where it did not apply."""
        return next((evidence for evidence in self.evidence if evidence.key == key), None)

    def as_json(self) -> dict[str, Any]:
        """The stored form; :func:`from_json` reads it back."""
        plain = to_plain(self)
        plain["environment"] = self.environment.as_json()
        plain["other"] = self.other.as_json() if self.other else None
        return {"format": FORMAT, "runnable": self.runnable, **plain}


def from_json(data: Mapping[str, Any]) -> Diagnosis:
    """Back from :meth:`Diagnosis.as_json`. Raises :class:`FormatError` for another or a newer format."""
    if data.get("format") != FORMAT:
        raise FormatError(f"this release reads {FORMAT}, not {data.get('format')!r}")
    return from_plain(Diagnosis, data)
