"""Rows that an earlier report brought into the tables of results, and that this one no longer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from npueval.documents.labels import fold
from npueval.patching.ledger import Ledger
from npueval.records import Edit

_LABELS = {"Compare#3": "指标名称", "Compare#4": "指标", "Compare#4.1": "阶段"}
"""Those tables, each with the column of its labels: only of a row that we inserted is the label ours."""


def withdrawn(documents: Path, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The removal of each, so that no figure of a batch, load or metric that the plan has given up stays behind."""
    kept = {fold(edit.address) for edit in edits if isinstance(edit.value, tuple)}
    for held in Ledger.load(documents).entries.values():
        section = held.address.partition("/")[0]
        row = held.address.removesuffix(f"/{_LABELS.get(section, '')}")
        if section in _LABELS and row != held.address and fold(row) not in kept:
            yield Edit(row, (), held.source)
