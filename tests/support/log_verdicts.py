"""What a log is expected to give, and what it gives: the form in which fixtures state it."""

from pathlib import Path
from typing import Any

from npueval import baselines
from npueval.contracts import violations
from npueval.logs.assessing import NoBaseline, assess
from npueval.logs.extracting import extract
from npueval.logs.logged import LoggedRun
from npueval.plaindata import versioned
from npueval.resources import schema


def verdict(path: Path) -> dict[str, Any]:
    """Every run of a log with its facts, figures (value, unit, line), missing parts and doubts, or the refusal."""
    found = extract(path, path.name)
    known: dict[str, Any] = {"rejected": found.rejected} if found.rejected else {}
    if found.doubts:
        known["doubts"] = list(found.doubts)
    return known | {"runs": [_run(run) for run in found.runs]}


def _run(run: LoggedRun) -> dict[str, Any]:
    head = {"format": run.format, "lines": [run.first_line, run.last_line]}
    try:
        baseline = assess(run)
    except NoBaseline as error:
        return head | {"refused": str(error)}
    assert violations(versioned(baselines.FORMAT, baselines.VERSION, baseline), schema("baseline")) == []
    figures = {
        figure.metric: [float(f"{figure.value:.9g}"), figure.unit, figure.source.line if figure.source else None]
        + ([figure.per] if figure.per else [])
        for figure in baseline.figures
    }
    facts = {key: [fact.value, fact.source.line if fact.source else None] for key, fact in baseline.facts.items()}
    missing = [name for name in baseline.missing if not name.startswith("推理")]
    grade = {"grade": baseline.grade.value}
    return head | grade | {"facts": facts, "figures": figures, "missing": missing, "doubts": list(baseline.doubts)}
