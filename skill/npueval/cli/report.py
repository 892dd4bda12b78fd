"""``npueval report``."""

from __future__ import annotations

from pathlib import Path

from npueval import workflow
from npueval.cli.base import Reply, verb
from npueval.cli.run import answer, tell, wanted_views, writes_documents


@verb("report")
@writes_documents
def command(
    plan: Path, dry_run: bool, diff: bool, force: tuple[str, ...], html: Path | None, csv: Path | None
) -> Reply:
    """Compare the newest Runs of PLAN with the baseline, patch the documents, and check them; measure nothing.

    \b
    Example:  npueval report npueval.yaml
              npueval report npueval.yaml --dry-run --diff
              npueval report npueval.yaml --html report.html --csv report.csv
    """
    views = wanted_views(html, csv, dry_run=dry_run)
    return answer(workflow.report(plan, dry_run=dry_run, force=force, progress=tell), diff=diff, views=views)
