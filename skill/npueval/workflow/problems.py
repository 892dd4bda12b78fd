"""Failures as draft entries of Mig_report §7.1: what is known is filled in, what must be found out is left open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npueval.language import joined, one_line
from npueval.plan import Plan
from npueval.records import Edit
from npueval.runs import Run
from npueval.workflow import freshness


def entry(when: str, title: str, command: str, error: str, source: str) -> Edit:
    """One row; ``when`` is its label, ``command`` what showed the failure, ``source`` the record that holds it."""
    cells = (
        when,
        title,
        command,
        f"{one_line(error)}（{source}）",
        "尚无记录",
        "待查",
        f"待修复；修复后重新执行 {command}",
    )
    return Edit(f"Mig_report#7.1/{when}", cells, source)


def of_runs(runs: Iterable[Run], plan: Plan) -> Iterator[Edit]:
    """The measurements on a real NPU whose outputs were wrong."""
    command = freshness.command(plan, "measure")
    for run in runs:
        if run.wrong and not run.simulated:
            title = f"NPU 测量（{run.precision}）的输出错误"
            yield entry(run.created, title, command, joined(run.wrong, "；").zh, run.id)
