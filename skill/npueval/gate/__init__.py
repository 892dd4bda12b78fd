"""May tests run on this machine's NPU? AUTO, MANUAL_STOP or UNKNOWN, by the machine facts and the project's demands.

AUTO: what is missing can be had with pip or a virtual environment. MANUAL_STOP: a person has to download, install or
replace something. UNKNOWN: something that decides is not known; treated like MANUAL_STOP until it is. Nothing is
installed or changed, ever.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from npueval.environment import Environment, record
from npueval.errors import FormatError
from npueval.gate import needs, snapshot
from npueval.gate.checks import CHECKS, Facts
from npueval.gate.diagnosis import Action, Diagnosis, Evidence, Outcome, Stage, from_json
from npueval.language import Text
from npueval.records import Edit, Gate

_AGAIN = Action(
    Stage.AGAIN,
    Text("完成以上各项后重新运行 doctor 刷新 environment.md", "then run doctor again, which refreshes environment.md"),
    Text("判定为 AUTO", "the verdict is AUTO"),
    "npueval doctor",
)


def examine(project_root: Path, *, environment: Environment | None = None) -> Diagnosis:
    """Hold this machine (or the given reading of one) against the project's demands."""
    return _judge(Facts(environment or record(project_root), needs.find(project_root)))


def _judge(facts: Facts) -> Diagnosis:
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


def merge(inside: Diagnosis, outside: Diagnosis) -> Diagnosis:
    """Join the reading inside a sandbox with the one outside it.

    What fails inside only is a limit of the sandbox, not an absence; what fails on both sides is real. The side on
    which tests can run is adopted, else the outside, which sees more.
    """
    if inside.runnable:
        return replace(inside, adopted="inside", other=outside.environment)
    limits = tuple(_limit(entry, outside) for entry in inside.evidence if _only_inside(entry, outside))
    real = _judge(
        Facts(replace(outside.environment, sandbox=()), inside.needs if inside.needs.files else outside.needs)
    )
    return replace(real, evidence=(*limits, *real.evidence), adopted="outside", other=inside.environment)


def _only_inside(entry: Evidence, outside: Diagnosis) -> bool:
    beyond = outside.found(entry.key)
    return entry.holds_up and beyond is not None and not beyond.holds_up


def _limit(entry: Evidence, outside: Diagnosis) -> Evidence:
    beyond = outside.found(entry.key)
    seen = beyond.finding if beyond else Text("", "")
    finding = Text(
        f"沙箱限制，不等同宿主缺失：沙箱内——{entry.finding.zh}；沙箱外——{seen.zh}",
        f"a limit of the sandbox, not an absence on the host: inside, {entry.finding.en}; outside, {seen.en}",
    )
    return replace(
        entry, key=f"{entry.key}_inside", outcome=Outcome.NOTE, finding=finding, verdict=Gate.AUTO, needed=False
    )


def load(path: Path) -> Diagnosis:
    """Read what ``doctor --json --output FILE`` wrote. Raises :class:`FormatError` naming the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return from_json(data.get("data", data))
    except OSError as error:
        raise FormatError(f"cannot read it: {error.strerror}", path=path) from None
    except (ValueError, AttributeError, RecursionError):
        raise FormatError("not a reading of `npueval doctor --json`", path=path) from None
    except FormatError as error:
        raise FormatError(error.message, path=path) from None


def edits(diagnosis: Diagnosis, *, data_dir: str | None = None) -> tuple[Edit, ...]:
    """What environment.md is to say after this diagnosis, in Chinese; ``data_dir`` comes from the plan."""
    return snapshot.edits(diagnosis, data_dir=data_dir)
