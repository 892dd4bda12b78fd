"""What the evaluation says, as Edits of the documents; nothing is written here."""

from __future__ import annotations

from npueval.records import Edit
from npueval.reporting import (
    bottleneck,
    compare_baseline,
    compare_results,
    compare_setup,
    datasets,
    mig_readme,
    mig_report,
    summary,
    verified,
)
from npueval.reporting.cells import in_one_line
from npueval.reporting.dossier import Dossier, Statement

__all__ = ["Dossier", "Statement", "edits"]


def edits(dossier: Dossier) -> tuple[Edit, ...]:
    """Every Edit of one evaluation, document by document; what a program said over several lines is told in one."""
    found = (
        *compare_baseline.edits(dossier),
        *compare_setup.edits(dossier),
        *compare_results.edits(dossier),
        *bottleneck.edits(dossier),
        *mig_readme.edits(dossier),
        *datasets.edits(dossier.plan),
        *mig_report.edits(dossier),
        *summary.edits(dossier),
        *verified.edits(dossier),
    )
    return tuple(map(in_one_line, found))
