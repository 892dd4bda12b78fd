"""What is answered where a device that was asked for is not there."""

from __future__ import annotations

from npueval import gate, triggers
from npueval.environment import Environment
from npueval.errors import NotExecuted
from npueval.plan import Plan
from npueval.triggers.answers import Block


def block(plan: Plan, error: NotExecuted, *, device: str | None, environment: Environment | None = None) -> Block:
    """The not-executed block, with the refusal's own reason first; ``environment`` spares reading the machine again."""
    diagnosis = gate.examine(plan.root, environment=environment)
    return triggers.refused(plan, diagnosis, error, device or plan.device)
