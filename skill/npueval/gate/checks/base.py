"""What every check takes and gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npueval.environment import Environment
from npueval.gate import compatibility
from npueval.gate.diagnosis import Action, Evidence, Outcome, Stage
from npueval.gate.needs import Needs
from npueval.language import Text
from npueval.records import Gate

__all__ = ["TABLE", "Action", "Aside", "Check", "Facts", "Item", "Results", "Stage", "Text", "pip_install"]

TABLE = f"{compatibility.SOURCE}, {compatibility.AS_OF}"
"""The published table of pairs, as it is cited."""


@dataclass(frozen=True)
class Aside:
    """A second reading of the same machine, of a side on which the tests do not run."""

    environment: Environment
    where: Text

    @property
    def sees_devices(self) -> bool:
        """Whether nothing hid the NPUs there: npu-smi lists them and their nodes exist."""
        return bool(self.environment.npu.chips) and bool(self.environment.ascend.cards)


@dataclass(frozen=True)
class Facts:
    """The machine and the project's demands, side by side."""

    environment: Environment
    needs: Needs
    aside: Aside | None = None

    @property
    def ran(self) -> bool:
        """A small operator gave the right result on the NPU: stronger than any other evidence."""
        return self.environment.probe.worked("operator")

    @property
    def blind(self) -> bool:
        """This process may see only a part of the machine, and sees no NPU: absence here proves nothing."""
        seen = self.ran or bool(self.environment.npu.chips) or bool(self.environment.ascend.cards)
        return bool(self.environment.sandbox) and not seen

    @property
    def drivers(self) -> tuple[str, ...]:
        """The driver's versions as read here and aside: one, unless the two readings differ."""
        return tuple(dict.fromkeys(seen.driver for seen in self._sides() if seen.driver))

    @property
    def families(self) -> frozenset[str]:
        """The product families of the NPUs, by the first reading that tells."""
        return next((seen.families for seen in self._sides() if seen.families), frozenset())

    def _sides(self) -> Iterator[Environment]:
        yield self.environment
        if self.aside:
            yield self.aside.environment


Results = Iterator[Evidence | Action]
Check = Callable[[Facts], Results]


@dataclass(frozen=True)
class Item:
    """What a check is about; makes its evidence. ``needed``: without it no test can run."""

    key: str
    zh: str
    en: str
    needed: bool = False

    def passed(self, zh: str, en: str) -> Evidence:
        return self._evidence(Outcome.PASS, zh, en, Gate.AUTO)

    def noted(self, zh: str, en: str) -> Evidence:
        return self._evidence(Outcome.NOTE, zh, en, Gate.AUTO)

    def failed(self, zh: str, en: str, verdict: Gate = Gate.AUTO) -> Evidence:
        return self._evidence(Outcome.FAIL, zh, en, verdict)

    def unknown(self, zh: str, en: str, verdict: Gate = Gate.AUTO) -> Evidence:
        return self._evidence(Outcome.UNKNOWN, zh, en, verdict)

    def _evidence(self, outcome: Outcome, zh: str, en: str, verdict: Gate) -> Evidence:
        return Evidence(self.key, Text(self.zh, self.en), outcome, Text(zh, en), verdict, self.needed)


def pip_install(zh: str, en: str, what: str) -> Action:
    """Install ``what`` with pip; a part in ``<…>`` is for the reader to fill in."""
    quoted = " ".join(f"'{part}'" if "<" in part else part for part in re.findall(r"<[^>]+>|\S+", what))
    return Action(
        Stage.FRAMEWORK,
        Text(zh, en),
        Text("`import torch, torch_npu` 成功", "`import torch, torch_npu` works"),
        f"python -m pip install {quoted}",
    )
