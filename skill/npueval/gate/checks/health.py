"""Are the chips that a program would use healthy? What could not be read is unknown, never good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npueval.environment.npu_smi import Chip, Health, Outcome, Reading
from npueval.gate.checks.base import Action, Aside, Check, Facts, Item, Results, Stage, Text
from npueval.gate.checks.device import RECHECK, REFUSED
from npueval.records import Gate

_HEALTH = Item("health", "NPU 健康状态", "NPU health", needed=True)
_UNSEEN = Item("health", "NPU 健康状态", "NPU health")
_ASIDE = Item("health_aside", "NPU 健康状态（另一侧）", "NPU health (the other reading)", needed=True)
_SMI = Item("npu_smi", "npu-smi 输出", "output of npu-smi")
_HIDDEN = frozenset([Outcome.NOT_VISIBLE, Outcome.LIBRARY_MISSING, Outcome.NOT_PERMITTED])
"""How npu-smi fails where a container keeps from it what an operator does not need."""


def health(facts: Facts) -> Results:
    """The state of the chips in use; where npu-smi told nothing, that an operator ran does not make them healthy."""
    reading, aside = facts.environment.npu, facts.aside
    if reading.outcome is Outcome.READ:
        yield from _told(facts, reading)
    elif facts.ran and aside and aside.environment.npu.outcome is Outcome.READ:
        yield from _told_aside(aside)
    elif facts.ran:
        yield from _untold(facts, reading.outcome)


def _told(facts: Facts, reading: Reading) -> Results:
    used, unlisted = _used(reading.chips, facts.environment.visible_devices)
    bad = _bad(used)
    unsure = [_state(chip) for chip in used if chip.health is Health.UNKNOWN]
    unknown = "; ".join((*reading.problems, *unlisted, *_beyond(facts), *unsure))
    if bad:
        states = ", ".join(map(_state, bad))
        rest = f"; {unknown}" if unknown else ""
        yield _HEALTH.failed(f"芯片告警：{states}{rest}", f"chips report: {states}{rest}", Gate.MANUAL_STOP)
        yield _choose(reading.chips)
    elif unknown:
        yield _HEALTH.unknown(f"健康状态无法确认：{unknown}", f"health cannot be told: {unknown}", Gate.UNKNOWN)
        yield RECHECK
    elif any(chip.health is Health.WARNING for chip in used):
        states = ", ".join(map(_state, used))
        yield _HEALTH.noted(f"存在一般告警：{states}", f"warnings: {states}")
    else:
        yield _HEALTH.passed(f"{len(used)} 个芯片均为 OK", f"{len(used)} chip(s), all OK")


def _untold(facts: Facts, outcome: Outcome) -> Results:
    if outcome is Outcome.NOT_FOUND or (outcome in _HIDDEN and facts.environment.sandbox):
        yield _UNSEEN.unknown(
            f"未知：本会话读不到 npu-smi（{outcome.value}）；算子可运行，健康状态未经确认，"
            "可在沙箱/容器外读取后用 --merge 合并",
            f"unknown: npu-smi cannot be read in this session ({outcome.value}); the operator runs, the health is not"
            " confirmed: read it outside and join both with --merge",
        )
        return
    why = REFUSED[outcome]
    yield _HEALTH.unknown(
        f"健康状态无法确认：{why.zh}；算子能运行不等于芯片健康",
        f"health cannot be told: {why.en}; an operator that runs does not make the chips healthy",
        Gate.UNKNOWN,
    )
    yield RECHECK


def _told_aside(aside: Aside) -> Results:
    """The states that only the other side could read; which of them are in use here is not known."""
    reading = aside.environment.npu
    unsure = (_state(chip) for chip in reading.chips if chip.health is Health.UNKNOWN)
    unknown = "; ".join((*reading.problems, *unsure))
    if unknown:
        yield _HEALTH.unknown(
            f"健康状态无法确认（{aside.where.zh}读取）：{unknown}",
            f"health cannot be told, as read {aside.where.en}: {unknown}",
            Gate.UNKNOWN,
        )
    elif not _bad(reading.chips):
        states = ", ".join(map(_state, reading.chips))
        yield _HEALTH.passed(f"{aside.where.zh}读到：{states}", f"read {aside.where.en}: {states}")


def bad_aside(facts: Facts) -> Results:
    """What the other side read as bad of the chips in use here; both sides are the same machine."""
    aside = facts.aside
    bad = [chip for chip in _bad(aside.environment.npu.chips) if _may_be_in_use(chip, facts)] if aside else []
    if aside and bad:
        states = ", ".join(map(_state, bad))
        yield _ASIDE.failed(f"{aside.where.zh}读到芯片告警：{states}", f"{aside.where.en}: {states}", Gate.MANUAL_STOP)
        yield _choose(aside.environment.npu.chips)


def _may_be_in_use(theirs: Chip, facts: Facts) -> bool:
    """Whether a chip of the other side's list is one that is used here; not known is yes."""
    environment = facts.environment
    if any(_same(theirs, chip) for chip in environment.npu.chips):
        used, _ = _used(environment.npu.chips, environment.visible_devices)
        return any(_same(theirs, chip) for chip in used)
    others = facts.aside.environment.npu.chips if facts.aside else ()
    return not any(_same(other, chip) for other in others for chip in environment.npu.chips)


def _same(one: Chip, other: Chip) -> bool:
    if one.bus_id and other.bus_id:
        return (one.bus_id.upper(), one.chip) == (other.bus_id.upper(), other.chip)
    return one.key == other.key


def _bad(chips: Iterable[Chip]) -> list[Chip]:
    return [chip for chip in chips if chip.health in (Health.ALARM, Health.CRITICAL)]


def _used(chips: tuple[Chip, ...], visible: str | None) -> tuple[list[Chip], list[str]]:
    """The chips that ``ASCEND_RT_VISIBLE_DEVICES`` leaves, and what of it npu-smi does not list.

    All of them where it is unset or no list of numbers, or counts otherwise than npu-smi does.
    """
    parts = [part.strip() for part in (visible or "").split(",")]
    if not all(part.isdecimal() for part in parts):
        return list(chips), []
    numbers = [int(part) for part in parts]
    known = {_number(chip, index): chip for index, chip in enumerate(chips)}
    unlisted = [number for number in numbers if number not in known]
    # Inside a container devices are counted from 0, and may be listed by the host's numbers.
    if unlisted and max(numbers) < len(chips):
        return list(chips), []
    used = [known[number] for number in numbers if number in known]
    return used, [f"npu-smi does not list device {number} of ASCEND_RT_VISIBLE_DEVICES" for number in unlisted]


def _beyond(facts: Facts) -> Iterator[str]:
    """Devices that are there and that the table does not hold: it may have been cut between two chips."""
    listed, environment = len(facts.environment.npu.chips), facts.environment
    counts = [("torch_npu", environment.probe.fact("torch_npu", "count") or 0)]
    if not environment.visible_devices:
        counts.append(("/dev/davinci*", len(environment.ascend.cards)))
    for place, count in counts:
        if count > listed:
            yield f"npu-smi lists {listed} chip(s) and {place} has {count}"


def _number(chip: Chip, index: int) -> int:
    return index if chip.device is None else chip.device


def _state(chip: Chip) -> str:
    return f"NPU {chip.npu} chip {chip.chip} {chip.health.value}"


def _choose(chips: tuple[Chip, ...]) -> Action:
    good = [str(_number(chip, index)) for index, chip in enumerate(chips) if chip.health is Health.OK]
    return Action(
        Stage.HARDWARE,
        Text(
            "排除告警芯片的故障；或只使用健康的芯片",
            "have the reported chips repaired, or use the healthy ones only",
        ),
        Text("所用芯片的 Health 均为 OK", "the health of every chip in use is OK"),
        f"export ASCEND_RT_VISIBLE_DEVICES={','.join(good)}" if good else "",
    )


def doubts(facts: Facts) -> Results:
    """Oddities of npu-smi's output that leave the states as they are."""
    for doubt in facts.environment.npu.doubts:
        yield _SMI.noted(doubt, doubt)


CHECKS: tuple[Check, ...] = (health, bad_aside, doubts)
