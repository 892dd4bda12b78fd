"""What a scan and a log look like: for machines, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from npueval.baselines import Candidate, Rejected, Scan
from npueval.logs.extracting import Extract
from npueval.logs.logged import LoggedRun, Series
from npueval.logs.quoting import quote
from npueval.plaindata import to_plain
from npueval.records import Figure


def scan_data(found: Scan) -> dict[str, Any]:
    """Every candidate with its Baseline, and every rejection."""
    return {
        "root": found.root,
        "files_read": found.files,
        "candidates": [
            {"path": item.path, "format": item.format, "lines": item.lines, "complete": item.complete}
            | {"baseline": to_plain(item.baseline)}
            for item in found.candidates
        ],
        "rejected": [asdict(item) for item in found.rejected],
    }


def scan_text(found: Scan) -> str:
    """The candidates, the best first, then the rejections, as text."""
    parts = [_candidate_text(rank, item) for rank, item in enumerate(found.candidates, start=1)]
    parts += [f"rejected  {item.path}: {item.reason}" for item in found.rejected]
    return "\n".join([*parts, f"{found.files} logs read, {len(found.candidates)} candidates"])


def _candidate_text(rank: int, item: Candidate) -> str:
    baseline = item.baseline
    first, last = item.lines
    lines = [
        f"{rank}. {item.path}:{first}-{last}  {item.format}, grade {baseline.grade.value}, "
        + ("complete" if item.complete else "partial")
    ]
    lines += [f"     {_figure_text(figure)}" for figure in baseline.figures]
    lines += [f"     missing: {'、'.join(baseline.missing)}"] * bool(baseline.missing)
    lines += [f"     doubt: {doubt}" for doubt in baseline.doubts]
    return "\n".join(lines)


def _figure_text(figure: Figure) -> str:
    return f"{figure.metric} = {figure.value:g} {figure.unit}  [{figure.source}]  {figure.original}"


def extract_data(found: Extract, verdicts: Sequence[Candidate | Rejected]) -> dict[str, Any]:
    """The runs of a log with everything in them, each with its verdict."""
    head = {name: getattr(found, name) for name in ("path", "rejected", "lines", "encoding", "compression", "doubts")}
    pairs = zip(found.runs, verdicts, strict=True)
    return {**head, "runs": [_run_data(run) | {"verdict": _verdict_data(verdict)} for run, verdict in pairs]}


def _verdict_data(verdict: Candidate | Rejected) -> dict[str, Any]:
    if isinstance(verdict, Rejected):
        return {"baseline": "none", "reason": verdict.reason}
    told = verdict.baseline
    kind = "complete" if verdict.complete else "partial"
    return {"baseline": kind, "grade": told.grade.value, "missing": list(told.missing), "doubts": list(told.doubts)}


def _run_data(run: LoggedRun) -> dict[str, Any]:
    return {
        "format": run.format,
        "lines": [run.first_line, run.last_line],
        "finished": run.finished,
        "facts": {key: to_plain(fact) for key, fact in run.facts.items()},
        "conflicts": {key: to_plain(facts) for key, facts in run.conflicts.items()},
        "doubts": list(run.doubts),
        "series": [_series_data(run, series) for series in run.series.values()],
    }


def _series_data(run: LoggedRun, series: Series) -> dict[str, Any]:
    known = series.count > 0
    return {
        "metric": series.column.metric,
        "phase": series.phase,
        "unit": series.column.unit,
        "per": series.column.per,
        "count": series.count,
        "not_finite": series.not_finite,
        "last": series.last if known else None,
        "last_source": to_plain(quote(run.path, *series.last_at, series.last)) if known else None,
        "best": series.best if known else None,
        "best_source": to_plain(quote(run.path, *series.best_at, series.best)) if known else None,
        "values": list(series.values),
        "lines": list(series.lines),
        "epochs": list(series.epochs),
        "steps": [step if step < float("inf") else None for step in series.steps],
    }


def extract_text(found: Extract, verdicts: Sequence[Candidate | Rejected]) -> str:
    """The runs of a log as text, each with its verdict."""
    if not found.runs:
        return "\n".join([f"{found.path}: {found.rejected}", *(f"doubt: {doubt}" for doubt in found.doubts)])
    parts = [f"{found.path}: {found.lines} lines, {found.encoding} {found.compression}".rstrip()]
    parts += [f"doubt: {doubt}" for doubt in found.doubts]
    for run, verdict in zip(found.runs, verdicts, strict=True):
        parts += [*_run_lines(run), *_verdict_lines(run, verdict)]
    return "\n".join(parts)


def _verdict_lines(run: LoggedRun, verdict: Candidate | Rejected) -> Iterator[str]:
    if isinstance(verdict, Rejected):
        yield f"  no baseline: {verdict.reason}"
        yield from (f"  doubt: {doubt}" for doubt in run.doubts)
        return
    told = verdict.baseline
    yield f"  {'complete' if verdict.complete else 'partial'}, grade {told.grade.value}"
    if told.missing:
        yield f"  missing: {'、'.join(told.missing)}"
    yield from (f"  doubt: {doubt}" for doubt in told.doubts)


def _run_lines(run: LoggedRun) -> Iterator[str]:
    yield f"run {run.path}:{run.first_line}-{run.last_line}  {run.format}{', finished' if run.finished else ''}"
    for key, fact in run.facts.items():
        yield f"  {key}: {fact.value}  [{fact.source}]"
    for key, facts in run.conflicts.items():
        yield f"  conflict {key}: " + " / ".join(f"{fact.value} [{fact.source}]" for fact in facts)
    yield from (f"  {_series_text(run, series)}" for series in run.series.values())


def _series_text(run: LoggedRun, series: Series) -> str:
    text = f"{series.phase} {series.column.metric} {series.column.unit}".rstrip() + f": {series.count} values"
    if series.count:
        text += f", last {series.last:g} [{run.path}:{series.last_at[0]}], best {series.best:g} [{series.best_at[0]}]"
    return text + (f", {series.not_finite} NaN/Inf [{series.first_not_finite}]" if series.not_finite else "")
