"""The figures that a foreign command prints, each run's with its place, and what they come to over the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from npueval.logs.assessing import steady
from npueval.logs.extracting import extract
from npueval.logs.logged import LoggedRun, Series


def figures(logs: Mapping[int, Path]) -> dict[str, Any]:
    """The figures in the output of each timed run (by its number), in the unit they were printed in.

    Of each figure ``runs`` holds what every run printed, with path, line and text; ``median``, ``min`` and ``max`` are
    over the runs. Of several values in one run the median counts (after its own warm-up) where it is a time or a rate,
    the last one else. ``no_figures`` says why a run has none: the
    reason, and the numbers of the runs.
    """
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    without: dict[str, list[int]] = {}
    for number, path in logs.items():
        read = extract(path, path.name, printed=True)
        printed = [figure for run in read.runs for figure in _of_run(run, number)]
        for figure in printed:
            found.setdefault((figure.pop("metric"), figure.pop("unit")), []).append(figure)
        if not printed:
            binary = not read.lines and path.stat().st_size
            reason = "its output is no text" if binary else "no labelled figure in its output"
            without.setdefault(reason, []).append(number)
    return {"figures": [_summary(name, held) for name, held in found.items()], "no_figures": without}


def _summary(name: tuple[str, str], held: list[dict[str, Any]]) -> dict[str, Any]:
    values = [figure["value"] for figure in held]
    over_runs = {"n": len(held), "median": median(values), "min": min(values), "max": max(values)}
    return {"metric": name[0], "unit": name[1], **over_runs, "runs": held}


def _of_run(run: LoggedRun, number: int) -> Iterator[dict[str, Any]]:
    for series in run.series.values():
        if series.count:
            line, text = series.last_at
            yield {
                "metric": series.column.metric,
                "unit": series.column.unit,
                "run": number,
                "value": _value(series),
                "printed": series.count,
                "format": run.format,
                "path": run.path,
                "line": line,
                "text": text.strip()[:400],
            }


def _value(series: Series) -> float:
    timed = series.column.kind in ("latency", "throughput")
    return median(steady(series)[0]) if timed else series.last
