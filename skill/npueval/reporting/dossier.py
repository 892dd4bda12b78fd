"""What a report is made of: everything that was measured, found and decided, and why the rest is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from npueval.environment import Environment, from_json
from npueval.errors import FormatError
from npueval.gate.diagnosis import Diagnosis
from npueval.plan import Plan
from npueval.records import Baseline, Comparison
from npueval.runs import Run

Column = Literal["npu", "gpu", "cpu"]
KINDS: Mapping[Column, str] = {"npu": "npu", "gpu": "cuda", "cpu": "cpu"}
"""The kind of device whose Runs fill a column."""


@dataclass(frozen=True)
class Statement:
    """How one verification ended (``None``: it could not be judged), in the document's words.

    ``outdated``: it was made with other files or under another plan, and so proves nothing now.
    """

    passed: bool | None
    text: str
    outdated: bool = False


@dataclass(frozen=True)
class Dossier:
    """One evaluation of one plan.

    ``runs`` holds at most one Run for each kind of device and precision; ``no_npu`` and ``no_cpu`` say in Chinese why
    there is none of that device. ``brought`` holds GPU figures that came back in another form than a Run. ``files``
    maps the id of a Run to its path relative to the project. ``verified`` holds what was verified on a real NPU, keyed
    ``inference_smoke``, ``training_smoke``, ``gradients``, ``checkpoint``, ``golden``, ``short_test``,
    ``formal_training``.
    """

    plan: Plan
    diagnosis: Diagnosis
    baseline: Baseline
    comparison: Comparison
    runs: tuple[Run, ...] = ()
    brought: Baseline | None = None
    no_npu: str = ""
    no_cpu: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    verified: Mapping[str, Statement] = field(default_factory=dict)

    @property
    def environment(self) -> Environment | None:
        """The machine of the NPU's Run as that recorded it, ``None`` where it did not; without a Run the one read now.

        The machine that writes a report need not be the one that measured.
        """
        if self.npu_run is None:
            return self.diagnosis.environment
        try:
            return from_json({key: value for key, value in self.npu_run.environment.items() if key != "kit"})
        except FormatError:
            return None

    def run(self, column: Column, precision: str | None = None) -> Run | None:
        """The Run of a column at a precision, by default the one that is judged."""
        wanted = KINDS[column], precision or self.plan.precision
        return next((run for run in self.runs if (run.device.kind, run.precision) == wanted), None)

    def runs_of(self, column: Column) -> tuple[Run, ...]:
        """The Runs of a column, in the order of the plan's precisions."""
        found = (self.run(column, precision) for precision in self.plan.precisions)
        return tuple(run for run in found if run is not None)

    @property
    def npu_run(self) -> Run | None:
        """The NPU's Run at the precision that is judged."""
        return self.run("npu")

    @property
    def gpu_run(self) -> Run | None:
        """The GPU's Run at the precision that is judged."""
        return self.run("gpu")

    @property
    def cpu_run(self) -> Run | None:
        """The CPU's Run at the precision that is judged."""
        return self.run("cpu")

    def file_of(self, run: Run | None) -> str | None:
        """The path of a Run's file, relative to the project."""
        return self.files.get(run.id) if run else None
