"""Every check on the machine facts and the demands, and the verdict that follows."""

from __future__ import annotations

from dataclasses import replace

from npueval.gate.checks import CHECKS, Facts
from npueval.gate.diagnosis import Action, Diagnosis, Evidence, Stage
from npueval.language import Text
from npueval.records import Gate

_AGAIN = Action(
    Stage.AGAIN,
    Text("完成以上各项后重新运行 doctor 刷新 environment.md", "then run doctor again, which refreshes environment.md"),
    Text("判定为 AUTO", "the verdict is AUTO"),
    "npueval doctor",
)


def judge(facts: Facts) -> Diagnosis:
    """Run all checks."""
    results = [result for check in CHECKS for result in check(facts)]
    evidence = tuple(result for result in results if isinstance(result, Evidence))
    actions = tuple(_ordered(results))
    found = Diagnosis(_verdict(evidence), evidence, actions, facts.environment, facts.needs)
    return found if found.runnable and not actions else replace(found, actions=(*actions, _AGAIN))


def _verdict(evidence: tuple[Evidence, ...]) -> Gate:
    verdicts = {entry.verdict for entry in evidence}
    return next(gate for gate in (Gate.MANUAL_STOP, Gate.UNKNOWN, Gate.AUTO) if gate in verdicts or gate is Gate.AUTO)


def _ordered(results: list[Evidence | Action]) -> list[Action]:
    """Without repetition, each step after those that it needs."""
    actions = dict.fromkeys(result for result in results if isinstance(result, Action))
    return sorted(actions, key=lambda action: action.stage)
