"""What the steady figures leave out: start-up, memory, failed iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npueval.language import same
from npueval.reporting.cells import number
from npueval.reporting.page.blocks import fold, gap, paragraph, section, table
from npueval.reporting.page.markup import Child, Html
from npueval.reporting.page.view import Key, View, case_name
from npueval.runs.cases import Case, Reading
from npueval.runs.conditions import ColdStart, Resources
from npueval.statistics import percentile

MEMORY = {"allocated": "张量峰值", "reserved": "分配器峰值", "device": "整卡占用", "host_rss": "主机 RSS"}
_MIB = 1 << 20


def build(view: View) -> Html:
    """Cold start of each side; memory, failures and retries of each case."""
    if not view.measured:
        return section("costs", "冷启动、内存与失败", paragraph("没有测量记录。", class_="gap"))
    return section(
        "costs",
        "冷启动、内存与失败",
        paragraph("冷启动只发生一次，不计入任何稳态数字；显存的几个口径互不替代。"),
        table(
            "冷启动 (ms)",
            ("项目", *(name for name, _ in view.records)),
            _starts([run.cold_start for _, run in view.records]),
        ),
        _memory_table("目标用例的内存与失败", view, view.keys[:1]),
        fold("其余用例的内存与失败", _memory_table("内存与失败", view, view.keys[1:])) if view.keys[1:] else None,
        [_sampled(name, run.resources) for name, run in view.records if run.resources],
    )


def _starts(starts: list[ColdStart]) -> Iterator[list[Child]]:
    yield ["加载", *(_ms(cold.load_ns) for cold in starts)]
    yield ["首次推理（含编译）", *(_ms(cold.first_inference_ns) for cold in starts)]
    for batch in dict.fromkeys(batch for cold in starts for batch in cold.first_hits):
        yield [f"batch={batch} 首次命中", *(_ms(cold.first_hits.get(batch)) for cold in starts)]


def _memory_table(caption: str, view: View, keys: Sequence[Key]) -> Html:
    head = ("用例", "侧", *(f"{name} (MiB)" for name in MEMORY.values()), "失败", "重试")
    return table(caption, head, _cases(view, keys))


def _cases(view: View, keys: Sequence[Key]) -> Iterator[list[Child]]:
    for key in keys:
        for side in view.measured:
            run = side.at(key.precision)
            case = run.case(key.batch, key.concurrency, key.rate) if run else None
            if case is not None:
                yield [case_name(key), side.name, *_memory(case), _failures(case), case.retries]


def _memory(case: Case) -> Iterator[Child]:
    for name in MEMORY:
        reading: Reading = getattr(case.memory, name) if case.memory else Reading(None, same("未记录"))
        yield gap(reading.reason.zh) if reading.value is None else number(reading.value / _MIB)


def _failures(case: Case) -> Child:
    words = [str(len(case.failures)), *(failure.error for failure in case.failures[:1]), case.error or ""]
    return "；".join(filter(None, words))


def _sampled(name: str, resources: Resources) -> Html:
    """Power, temperature, utilisation …: the readings of the pass after the timing."""
    rows: list[Sequence[Child]] = [(series, *_spread(readings)) for series, readings in resources.series.items()]
    rows += [(series, gap(why.zh), "—", "—", "—") for series, why in resources.missing.items()]
    caption = f"{name} 计时之后的采样，每 {resources.interval_s:g} s 一次"
    return table(caption, ("项目", "最小", "中位数", "最大", "读数"), rows)


def _spread(readings: Sequence[float | None]) -> Sequence[Child]:
    known = [reading for reading in readings if reading is not None]
    if not known:
        return gap("没有读数"), "—", "—", f"0 / {len(readings)}"
    found = min(known), percentile(known, 0.5), max(known)
    return *map(number, found), f"{len(known)} / {len(readings)}"


def _ms(nanoseconds: int | None) -> Child:
    return gap("未记录") if nanoseconds is None else number(nanoseconds / 1e6)
