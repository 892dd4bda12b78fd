"""Figures that another tool wrote on the user's GPU host, each at the grade that its form deserves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npueval.baselines.foreign import ais_bench, evalscope, logged, own_csv, trtexec, vllm
from npueval.baselines.foreign.base import Made, Source
from npueval.baselines.foreign.stated import merged, stated
from npueval.errors import FormatError
from npueval.plan import Plan
from npueval.records import Baseline, Grade

MEMBERS = (trtexec, ais_bench, vllm, evalscope, own_csv)
LEAST_SAMPLES = 6


def read(raw: bytes, data: Any, file: Path, plan: Plan, said: Mapping[str, str], shown: str = "") -> Baseline:
    """The Baseline of a file (``data``: its JSON, ``None`` where it is none); :class:`FormatError` for unknown forms.

    Knows trtexec's ``--exportTimes``, ais_bench's summary, the results of vLLM's ``bench`` and of evalscope, our CSV,
    and every log that ``baseline extract`` reads. ``said`` is the user's word for what the file does not say; ``shown``
    is how the file is cited.
    """
    source = Source(raw, data, file, plan, shown or file.name)
    known = stated(said, file)
    member = next((member for member in MEMBERS if member.recognises(source)), None)
    if member is None:
        return logged.read(source, known)
    try:
        made = member.read(source)
    except FormatError as error:
        raise FormatError(error.message, path=file, line=error.line, hint=error.hint) from None
    if not made.figures:
        raise FormatError("holds no figure that can be used", path=file)
    facts, word = merged(known, made.facts, file)
    missing = tuple(name for name, key in (("batch", "batch"), ("精度", "precision")) if key not in facts)
    return Baseline(
        source="gpu",
        grade=_grade(made, missing),
        facts=facts,
        figures=made.figures,
        missing=missing,
        doubts=(*made.doubts, *_unsaid(missing), *word),
        path=source.shown,
    )


def _grade(made: Made, missing: tuple[str, ...]) -> Grade:
    """What is not said lowers it: without the batch there is no ratio, without the precision no more than a mean's."""
    few = any(figure.n is not None and figure.n < LEAST_SAMPLES for figure in made.figures)
    found = [made.grade, *([Grade.D] if "batch" in missing or few else []), *([Grade.C] if missing else [])]
    return max(found, key=list(Grade).index)


def _unsaid(missing: tuple[str, ...]) -> tuple[str, ...]:
    words = {"batch": "文件未写明 batch，只能展示，不求比值", "精度": "文件未写明精度，结论至多为有条件"}
    return tuple(words[name] for name in missing)
