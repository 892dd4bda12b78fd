"""npueval: measure, compare and document PyTorch models migrated to Ascend NPUs.

The public verbs and records, each imported when it is first asked for::

    import npueval
    plan = npueval.load_plan("npueval.yaml")
    run = npueval.measure(plan)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Baseline": "records:Baseline",
    "Comparison": "records:Comparison",
    "Edit": "records:Edit",
    "Finding": "records:Finding",
    "NpuevalError": "errors:NpuevalError",
    "Plan": "plan:Plan",
    "Run": "runs:Run",
    "compare": "comparing:compare",
    "examine": "gate:examine",
    "find_baselines": "baselines:scan",
    "lint": "linting:lint",
    "load_plan": "plan:load",
    "load_run": "runs:load",
    "measure": "measuring:measure",
    "patch": "patching:patch",
    "report": "workflow:report",
    "run": "workflow:run",
    "save_run": "runs:save",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'npueval' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"npueval.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
