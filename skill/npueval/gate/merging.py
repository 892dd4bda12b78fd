"""Two readings of one machine, from inside a sandbox and from outside it, as one.

Tests run on one side: the inside where they can run there, else the outside, which sees more. What a sandbox hides (no
device node, no npu-smi, no import) is its limit and no absence on the host. What was read as bad on either side counts.
"""

from __future__ import annotations

from dataclasses import replace

from npueval.environment import Environment
from npueval.gate.checks import Aside, Facts
from npueval.gate.diagnosis import Diagnosis, Evidence, Outcome
from npueval.gate.judging import judge
from npueval.gate.needs import Needs
from npueval.language import Text
from npueval.records import Gate

_INSIDE = Text("沙箱内", "inside the sandbox")
_OUTSIDE = Text("沙箱外", "outside the sandbox")
_HIDDEN = frozenset(["device", "cann", "torch", "torch_npu", "operator"])
"""What a sandbox can keep from a process: device nodes, npu-smi, libraries, imports."""
_LIMIT = Text("沙箱限制，不等同宿主缺失", "a limit of the sandbox, not an absence on the host")
_ELSEWHERE = Text("仅沙箱内如此，测试在沙箱外运行", "inside the sandbox only, and tests run outside")


def join(inside: Environment, outside: Environment, needs: Needs) -> Diagnosis:
    """Judge the side on which tests can run, with the other beside it."""
    within = judge(Facts(inside, needs, Aside(outside, _OUTSIDE)))
    if within.runnable:
        return replace(within, adopted="inside", other=outside)
    beyond = judge(Facts(replace(outside, sandbox=()), needs, Aside(inside, _INSIDE)))
    limits = tuple(_limit(entry, beyond) for entry in within.evidence if _only_inside(entry, beyond))
    return replace(beyond, evidence=(*limits, *beyond.evidence), adopted="outside", other=inside)


def _only_inside(entry: Evidence, beyond: Diagnosis) -> bool:
    """Whether it holds tests up inside, does not outside, and has not been counted there already."""
    outside, counted = beyond.found(entry.key), beyond.found(f"{entry.key}_aside")
    held = counted is not None and counted.holds_up
    return entry.holds_up and outside is not None and not outside.holds_up and not held


def _limit(entry: Evidence, beyond: Diagnosis) -> Evidence:
    outside = beyond.found(entry.key)
    seen = outside.finding if outside else Text("", "")
    what = _LIMIT if entry.key in _HIDDEN else _ELSEWHERE
    finding = Text(
        f"{what.zh}：沙箱内——{entry.finding.zh}；沙箱外——{seen.zh}",
        f"{what.en}: inside, {entry.finding.en}; outside, {seen.en}",
    )
    return replace(
        entry, key=f"{entry.key}_inside", outcome=Outcome.NOTE, finding=finding, verdict=Gate.AUTO, needed=False
    )
