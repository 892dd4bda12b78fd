"""Are the outputs right? Asked in the measuring process, after the timing: a fast wrong answer is worth nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from npueval.errors import WorkloadError
from npueval.measuring.case_work import Bench
from npueval.pipeline import dataset
from npueval.runs import to_data
from npueval.runs.conditions import OutputCheck, OutputFacts
from npueval.workloads import output_facts

_KEPT_FACTS = 16


def check_outputs(bench: Bench, measured: Any) -> tuple[OutputCheck, list[str]]:
    """Look at the outputs of the workload's dataset (or of the ``measured`` inputs), and have its ``check`` look.

    Returns the check and what makes the Run invalid. ``passed`` stays ``None`` where nobody could tell.
    """
    workload, device = bench.workload, bench.device
    try:
        with device.lane(own_stream=False) as lane:
            outputs = [bench.pipeline.walk(raw, lane, device.clock).output for raw in dataset(workload, measured)]
        result = workload.call("check", outputs) if workload.hook("check") else None
    except WorkloadError as error:
        return OutputCheck(None, f"the check could not be made: {error.message}"), []
    facts = tuple(fact for output in outputs for fact in output_facts(output))
    known = _plain(result) if isinstance(result, Mapping) else {}
    wrong = list(_wrong(facts, known))
    passed = False if wrong else known.get("passed")
    reason = "; ".join(wrong) if wrong else _undecided(result) if passed is None else ""
    return OutputCheck(passed, reason, facts[:_KEPT_FACTS], known), wrong


def _plain(result: Mapping[Any, Any]) -> dict[str, Any]:
    """The workload's answer in JSON's types; what JSON lacks is kept as it prints."""
    plain: dict[str, Any] = json.loads(json.dumps(to_data(result), default=str))
    return plain


def _wrong(facts: tuple[OutputFacts, ...], known: Mapping[str, Any]) -> Iterator[str]:
    if lost := sum(fact.nan + fact.inf for fact in facts):
        yield f"the checked outputs hold {lost} NaN or Inf"
    if "value" in known and not _finite(known["value"]):
        yield f"the workload's check gives no number for {known.get('metric', 'value')}"
    if known.get("passed") is False:
        yield f"the workload's check failed: {known.get('reason', known)}"


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _undecided(result: Any) -> str:
    if result is None:
        return "the workload has no check"
    return "check gives a figure and no verdict" if isinstance(result, Mapping) else f"check returned {result!r}"
