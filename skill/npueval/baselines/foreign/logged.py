"""A log that was brought, as ``baseline extract`` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from npueval.baselines.foreign.base import Source
from npueval.baselines.foreign.stated import merged
from npueval.errors import FormatError
from npueval.logs.assessing import NoBaseline, assess
from npueval.logs.extracting import extract
from npueval.records import Baseline, Fact

KNOWN = "a kit's result, our CSV, trtexec --exportTimes, ais_bench, vLLM, evalscope, or a log that extract reads"


def read(source: Source, said: Mapping[str, Fact]) -> Baseline:
    """The one run of the log; of several, the user must say which, for nothing else can."""
    found = extract(source.file, source.shown)
    if not found.runs:
        raise FormatError(f"of no known form: {found.rejected}", path=source.file, hint=f"known are {KNOWN}")
    if len(found.runs) > 1:
        lines = ", ".join(f"{run.first_line}-{run.last_line}" for run in found.runs[:5])
        raise FormatError(
            f"holds {len(found.runs)} runs (lines {lines})", path=source.file, hint="bring a file with one of them"
        )
    (run,) = found.runs
    run.facts, word = merged(said, run.facts, source.file)
    try:
        judged = assess(run, (*found.doubts, *word))
    except NoBaseline as error:
        told = str(error).replace(source.shown, source.file.name)
        raise FormatError(f"no baseline: {told}", path=source.file) from None
    return replace(judged, source="gpu", path=source.shown)
