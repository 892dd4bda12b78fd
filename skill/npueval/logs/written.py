"""A value as a record writes it: taken, doubted, or refused with the reason."""

from __future__ import annotations

from npueval.logs import numerals
from npueval.logs.logged import LoggedRun, Series


def number(run: LoggedRun, metric: str, text: str, where: str) -> float | None:
    """The number of a text that is more than one; what is odd about it is told to the run. ``None``: there is none."""
    try:
        found = numerals.read(text)
    except ValueError:
        run.odd(metric, "不是一个数", f"{metric} 的值 {text[:40]!r} 不是一个数，不采用（{where}）")
        return None
    if found is None:
        return None
    if found.high is not None:
        run.odd(metric, "是一个范围", f"{metric} 写作 {text}，是一个范围，不采用（{where}）")
        return None
    if found.of is not None:
        run.odd(metric, "带斜杠", f"{metric} 写作 {text}，取斜杠前的一个：是实测/目标还是已用/总数，需要人判断")
    if found.approximate:
        run.odd(metric, "是约数", f"{metric} 写作 {text}，是约数")
    if found.unit == "%":
        run.scales.setdefault(metric, ("percent", "带百分号"))
    return found.value


def is_at_the_end(number: str, text: str) -> bool:
    """Whether a text ends within a number of which ``number`` was understood."""
    start = text.rfind(number)
    return start >= 0 and not text[start + len(number) :].strip("0123456789.,")


def is_whole(run: LoggedRun, series: Series, text: str, line: int) -> bool:
    """Whether to take the number that a cut line ends with; fewer decimals than before say that it is not whole."""
    usual = max((_decimals(repr(value)) for value in series.values[-100:]), default=0)
    trusted = _decimals(text) >= usual
    verdict = "可能不完整" if trusted else "不完整，不采用"
    run.doubts.setdefault(f"文件在第 {line} 行中途结束，末尾的 {series.column.metric} {text} {verdict}")
    return trusted


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
