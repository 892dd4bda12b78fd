"""Small projects to measure: a workload file and a plan beside it."""

import hashlib
from pathlib import Path
from typing import Any

from npueval.plan import BaselineWish, Datasets, Plan, Project, Request
from npueval.runs.conditions import WorkloadFacts

NUMPY = """
    import numpy as np
    class Model:
        def load(self, device, precision): self.weights = np.eye(4, dtype=np.float32)
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4).astype(np.float32)
        def infer(self, x):
            return x @ self.weights
"""

TORCH = """
    import torch
    class Model:
        def load(self, device, precision):
            torch.set_num_threads(1)
            self.net = torch.nn.Linear(4, 3).to(device).eval()
        def inputs(self, batch, seed): return torch.rand(batch, 4, generator=torch.Generator().manual_seed(seed))
        @torch.no_grad()
        def infer(self, x): return self.net(x)
"""


def write_workload(folder: Path, source: str, name: str = "workload.py") -> Path:
    """Write an indented workload source into a project folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = source.strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    path = folder / name
    path.write_text("\n".join(line[margin:] for line in lines) + "\n", encoding="utf-8")
    return path


def facts_of(plan: Plan) -> WorkloadFacts:
    """What a record made with the workload as it is now says of it."""
    path = plan.root / plan.workload.partition(":")[0]
    return WorkloadFacts(plan.workload, hashlib.sha256(path.read_bytes()).hexdigest())


def make_plan(folder: Path, source: str = NUMPY, **changes: Any) -> Plan:
    """A plan of batches 1 and 4 on the cpu, with its workload written beside it."""
    write_workload(folder, source)
    known: dict[str, Any] = {
        "path": folder / "npueval.yaml",
        "root": folder,
        "project": Project("small"),
        "workload": "workload.py:Model",
        "device": "cpu",
        "precisions": ("fp32",),
        "batches": (1, 4),
        "target_batch": 4,
        "seed": 3,
        "unit": "samples/s",
        "segments": ("preprocess", "h2d", "infer", "d2h", "postprocess"),
        "datasets": Datasets(None, None, None, None, None, None),
        "baseline": BaselineWish(()),
        "documents": folder / "mig_docs",
        "runs": folder / "runs",
        "request": Request(True, False, True),
        "warmup": 10,
        "iterations": 100,
        "case_timeout_s": 60.0,
    }
    return Plan(**{**known, **changes})
