"""What a report is made of: everything that was measured, found and decided, and why the rest is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from npueval.environment import Environment
from npueval.gate.diagnosis import Diagnosis
from npueval.plan import Plan
from npueval.records import Baseline, Comparison
from npueval.runs import Run


@dataclass(frozen=True)
class Statement:
    """How one verification ended (``None``: it could not be judged), in the document's words."""

    passed: bool | None
    text: str


@dataclass(frozen=True)
class Dossier:
    """One evaluation of one plan.

    ``npu_run``, ``cpu_run`` and ``gpu_run`` are the Runs of their own columns; ``no_npu`` and ``no_cpu`` say in Chinese
    why there is none. ``brought`` holds GPU figures that came back in another form than a Run. ``files`` maps the id of
    a Run to its path relative to the project. ``verified`` holds what was verified on a real NPU, keyed
    ``inference_smoke``, ``training_smoke``, ``gradients``, ``checkpoint``, ``golden``, ``short_test``,
    ``formal_training``.
    """

    plan: Plan
    diagnosis: Diagnosis
    baseline: Baseline
    comparison: Comparison
    npu_run: Run | None = None
    cpu_run: Run | None = None
    gpu_run: Run | None = None
    brought: Baseline | None = None
    no_npu: str = ""
    no_cpu: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    verified: Mapping[str, Statement] = field(default_factory=dict)

    @property
    def environment(self) -> Environment:
        """The machine facts that were adopted."""
        return self.diagnosis.environment

    def file_of(self, run: Run | None) -> str | None:
        """The path of a Run's file, relative to the project."""
        return self.files.get(run.id) if run else None
