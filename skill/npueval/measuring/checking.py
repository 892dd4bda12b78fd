"""Are the outputs right? Asked in the measuring process, after the timing: a fast wrong answer is worth nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from npueval.errors import WorkloadError
from npueval.language import Text, joined
from npueval.measuring import sentences
from npueval.measuring.case_work import Bench
from npueval.measuring.window import said
from npueval.pipeline import dataset
from npueval.runs import to_data
from npueval.runs.conditions import OutputCheck, OutputFacts
from npueval.workloads import output_facts

_KEPT_FACTS = 16


@dataclass(frozen=True)
class Checked:
    """The check, what makes the Run invalid, and why nobody could tell although somebody was to."""

    check: OutputCheck
    wrong: tuple[Text, ...] = ()
    doubts: tuple[Text, ...] = ()


def check_outputs(bench: Bench, measured: Any) -> Checked:
    """Look at the outputs of the workload's dataset (or of the ``measured`` inputs), and have its ``check`` look.

    ``passed`` stays ``None`` where nobody could tell. A check that raises costs the measurement nothing but a doubt.
    """
    workload, device = bench.workload, bench.device
    try:
        with device.lane(own_stream=False) as lane:
            outputs = [bench.pipeline.walk(raw, lane, device.clock).output for raw in dataset(workload, measured)]
        result = workload.call("check", outputs) if workload.hook("check") else None
        facts = tuple(fact for output in outputs for fact in output_facts(output))
        known = _plain(result) if isinstance(result, Mapping) else {}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a dataset may raise anything while it is walked; it is told
        what = error.message if isinstance(error, WorkloadError) else said(error, workload.path)
        return _unmade(sentences.NO_CHECK_MADE.filled({"what": what}))
    wrong = tuple(_wrong(facts, known))
    rubbish = tuple(_rubbish(result, known)) if workload.hook("check") else ()
    passed = False if wrong else None if rubbish else known.get("passed")
    told = wrong or rubbish or ((_undecided(result),) if passed is None else ())
    reason = joined(told, "；", "; ")
    return Checked(OutputCheck(passed, reason, facts[:_KEPT_FACTS], known), wrong, _unchecked(*rubbish))


def _unmade(reason: Text) -> Checked:
    return Checked(OutputCheck(None, reason), doubts=_unchecked(reason))


def _unchecked(*reasons: Text) -> tuple[Text, ...]:
    return tuple(sentences.UNCHECKED.filled({"reason": reason}) for reason in reasons)


def _rubbish(result: Any, known: Mapping[str, Any]) -> Iterator[Text]:
    """What the workload's check answered that is neither a figure nor a verdict."""
    if not isinstance(result, Mapping):
        form = "{'metric': …, 'value': …, 'passed': …}"
        yield sentences.NOT_A_MAPPING.filled({"result": f"{result!r:.80}", "form": form})
    elif not isinstance(known.get("passed"), bool | None):
        yield sentences.NOT_A_VERDICT.filled({"passed": f"{known['passed']!r:.80}"})
    elif known.get("passed") is None and "value" not in known:
        yield sentences.NOTHING_SAID


def _plain(result: Mapping[Any, Any]) -> dict[str, Any]:
    """The workload's answer in JSON's types; what JSON lacks is kept as it prints."""
    plain: dict[str, Any] = json.loads(json.dumps(to_data(result), default=str))
    return plain


def _wrong(facts: tuple[OutputFacts, ...], known: Mapping[str, Any]) -> Iterator[Text]:
    if lost := sum(fact.nan + fact.inf for fact in facts):
        yield sentences.CHECKED_NOT_FINITE.filled({"lost": lost})
    if "value" in known and not _finite(known["value"]):
        yield sentences.NO_NUMBER.filled({"metric": str(known.get("metric", "value"))})
    if known.get("passed") is False:
        yield sentences.CHECK_FAILED.filled({"reason": str(known.get("reason", known))})


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _undecided(result: Any) -> Text:
    return sentences.NO_CHECK if result is None else sentences.NO_VERDICT
