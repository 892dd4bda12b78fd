"""Inference smoke: a few fixed inputs; are the outputs of one shape, finite, and do they depend on the input at all?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npueval.devices import Device
from npueval.errors import WorkloadError
from npueval.language import Text, joined, same
from npueval.pipeline import Pipeline
from npueval.runs.conditions import OutputFacts
from npueval.smoke.checks import Check
from npueval.workloads import input_facts, output_facts, undelivered

SEEDS = 3
_NO_NUMBERS = Text("输出不含数值（{kinds}），无法判断", "the outputs hold no numbers ({kinds}): cannot be judged")


@dataclass(frozen=True)
class _Tried:
    """One input and what became of it: hashes of both, and the output's facts."""

    batch: int
    given: str
    made: str
    facts: tuple[OutputFacts, ...]


def inference(pipeline: Pipeline, device: Device, batches: Sequence[int], seed: int) -> tuple[Check, ...]:
    """Run each batch with three seeds and look at the outputs."""
    tried: list[_Tried] = []
    try:
        with device.lane(own_stream=False) as lane:
            for batch in batches:
                for shift in range(SEEDS):
                    raw = pipeline.workload.inputs(batch, seed + shift)
                    passage = pipeline.walk(raw, lane, device.clock)
                    if wrong := tuple(undelivered(passage.values)):
                        return (Check("runs", False, joined(wrong, "；", "; ")),)
                    output = passage.output
                    tried.append(
                        _Tried(
                            batch,
                            input_facts(batch, raw).sha256,
                            input_facts(batch, output).sha256,
                            output_facts(output),
                        )
                    )
    except WorkloadError as error:
        return (Check("runs", False, same(str(error))),)
    n, of = len(tried), ", ".join(map(str, batches))
    ran = Text(f"{n} 组输入（batch {of}）跑通", f"{n} inputs (batches {of}) ran")
    return (Check("runs", True, ran), *_judged(tried))


def _judged(tried: Sequence[_Tried]) -> Iterator[Check]:
    yield _shapes(tried)
    facts = [fact for each in tried for fact in each.facts]
    nan, inf = sum(fact.nan for fact in facts), sum(fact.inf for fact in facts)
    if not (nan or inf or any(fact.min is not None for fact in facts)):
        kinds = ", ".join(sorted({fact.dtype for fact in facts}))
        yield Check("finite", None, _NO_NUMBERS.filled({"kinds": kinds}))
        yield _same_throughout(tried) or Check("range", None, _NO_NUMBERS.filled({"kinds": kinds}))
        return
    lost = Text("输出含 {nan} 个 NaN、{inf} 个 Inf", "the outputs hold {nan} NaN and {inf} Inf")
    yield Check("finite", not (nan or inf), lost.filled({"nan": nan, "inf": inf}))
    yield _same_throughout(tried) or _range(facts)


def _shapes(tried: Sequence[_Tried]) -> Check:
    told = []
    for batch, several in _by_batch(tried).items():
        forms = {tuple((fact.shape, fact.dtype) for fact in each.facts) for each in several}
        if len(forms) > 1:
            odd = Text(
                f"batch {batch} 的输出形状或类型随输入变化", f"shape or type changes with the input at batch {batch}"
            )
            return Check("shapes", False, odd)
        told.append(f"batch {batch}: {', '.join(f'{list(shape)} {dtype}' for shape, dtype in forms.pop())}")
    return Check("shapes", True, same("; ".join(told)))


def _same_throughout(tried: Sequence[_Tried]) -> Check | None:
    """The failed check, where different inputs give the same output."""
    batch, several = max(_by_batch(tried).items())
    given, made = len({each.given for each in several}), len({each.made for each in several})
    if not (given > 1 and made == 1):
        return None
    dead = Text("输入不同而输出完全相同（batch {batch}）", "different inputs give the same output (batch {batch})")
    return Check("range", False, dead.filled({"batch": batch}))


def _range(facts: Sequence[OutputFacts]) -> Check:
    low = min((fact.min for fact in facts if fact.min is not None), default=math.nan)
    high = max((fact.max for fact in facts if fact.max is not None), default=math.nan)
    return Check("range", True, same(f"[{low:.4g}, {high:.4g}]"))


def _by_batch(tried: Sequence[_Tried]) -> dict[int, list[_Tried]]:
    batches: dict[int, list[_Tried]] = {}
    for each in tried:
        batches.setdefault(each.batch, []).append(each)
    return batches
