"""The checks of the gate, in the order in which a machine is built up: device, CANN, framework, project."""

from npueval.gate.checks import cann, device, framework, health, pairing, project
from npueval.gate.checks.base import Aside, Check, Facts

CHECKS: tuple[Check, ...] = (
    *device.CHECKS,
    *health.CHECKS,
    *cann.CHECKS,
    *framework.CHECKS,
    *pairing.CHECKS,
    *project.CHECKS,
)

__all__ = ["CHECKS", "Aside", "Facts"]
