"""A whole small project as a user has it: plan, numpy workload, training log. Without torch, measured in a moment."""

from __future__ import annotations

from pathlib import Path

from support.projects import write_workload

PLAN = """\
format: npueval/plan/1
project: {name: 小项目}
workload: workload.py:Model
device: npu
precision: fp32
batches: [1, 4]
target_batch: 4
warmup: 10
iterations: 100
seed: 3
unit: samples/s
segments: [infer, postprocess]
datasets:
  short_test: null
  smoke: {name: digits, subset: 4 张, path: data}
  golden: null
  full: {name: digits, subset: 验证集 360 张, path: data, same_as_baseline: 一致}
  training: {name: digits, subset: 训练集 1437 张, path: data}
  inference: {name: digits, subset: 验证集 360 张, path: data}
targets:
  latency_p50_ms: 1000
  accuracy: {metric: val_accuracy, direction: higher, max_drop: 0.005}
baseline:
  logs: ["logs/*.log"]
  gpu: {inference_command: python infer.py, training_command: python train.py}
  cpu: true
documents: mig_docs
request: {performance: true, accuracy: true, agreed: true, kpis: [latency]}
"""

WORKLOAD = """
    import numpy as np
    class Model:
        def load(self, device, precision): self.weights = np.eye(4, dtype=np.float32)
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4).astype(np.float32)
        def infer(self, x): return x @ self.weights
        def check(self, outputs): return {"metric": "val_accuracy", "value": 0.95, "n": 360, "direction": "higher"}
"""

LOG = """\
date: 2026-01-02 03:04:05
device: cuda (Tesla T4), 1 card
framework: torch 2.6.0, python 3.11.7
dataset: digits
split: train 1437 / val 360
batch size: 32
learning rate: 0.002
epochs: 2
precision: fp32
epoch 1/2 step 1/1 loss 2.5000
epoch 1/2 done: train_loss 2.5000 val_accuracy 0.9583 (n=360) 0.20 s
epoch 2/2 step 1/1 loss 0.5000
epoch 2/2 done: train_loss 0.5000 val_accuracy 0.9750 (n=360) 0.20 s
"""


def write(folder: Path, *, plan: str = PLAN, workload: str = WORKLOAD, log: str | None = LOG) -> Path:
    """Write the project into ``folder`` and return the path of its plan."""
    write_workload(folder, workload)
    if log is not None:
        (folder / "logs").mkdir()
        (folder / "logs" / "train.log").write_text(log, encoding="utf-8")
    path = folder / "npueval.yaml"
    path.write_text(plan, encoding="utf-8")
    return path
