"""``skill smoke``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from npueval.cli.base import Reply, refused, verb
from npueval.errors import Exit, NotExecuted

if TYPE_CHECKING:
    from npueval.smoke import Check, Smoke


@verb("smoke")
@click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml")
@click.option("--device", metavar="NAME", help="npu, npu:1, cuda, cpu … instead of the plan's. Never falls back.")
def command(plan: Path, device: str | None) -> Reply:
    """Run a few inputs and a few training steps of PLAN's workload; write runs/smoke-<device>.json.

    Where the device is not there, the block that says why and what to run elsewhere is the answer (exit status 3).

    \b
    Example:  npueval smoke npueval.yaml
              npueval smoke npueval.yaml --device cpu --json
    """
    from npueval import plan as plans
    from npueval import smoke

    loaded = plans.load(plan)
    try:
        found = smoke.run(loaded, device=device)
    except NotExecuted as error:
        return refused(loaded, error, device)
    path = smoke.save(found, loaded.runs)
    failed = False in (found.inference_passed, found.training_passed)
    return Reply(smoke.to_data(found), f"{_text(found)}\nwrote {path}", Exit.FINDINGS if failed else Exit.OK)


def _text(found: Smoke) -> str:
    head = f"{found.device.name}: {found.device.model}{', SIMULATED' if found.simulated else ''}"
    parts = (("inference", found.inference), ("training", found.training))
    return "\n".join([head, *(_line(kind, check) for kind, checks in parts for check in checks)])


def _line(kind: str, check: Check) -> str:
    mark = {True: "ok", False: "FAILED", None: "N/A"}[check.passed]
    return f"  {mark:6} {kind} {check.name}: {check.detail.en}"
