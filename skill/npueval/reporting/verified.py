"""What was verified beside the figures: smoke, golden and training, in Mig_report §6, §8 and in Summary."""

from __future__ import annotations

from npueval.records import Edit
from npueval.reporting.cells import joined, missing, row
from npueval.reporting.dossier import Dossier

NAMES = {
    "inference_smoke": "推理 smoke",
    "training_smoke": "训练 smoke",
    "gradients": "loss 与梯度",
    "checkpoint": "checkpoint",
    "golden": "Golden 样本一致性",
    "short_test": "训练短测",
    "formal_training": "正式训练",
}
"""What can be verified, by its key in a dossier."""
SMOKE_BOXES = {"inference_smoke": "推理 smoke", "training_smoke": "训练 smoke"}
SUMMARY = {
    "inference_smoke": ("Summary#4.2/推理 smoke", "Summary#5.1/推理 smoke"),
    "training_smoke": ("Summary#4.2/训练 smoke（若适用）", "Summary#5.2/训练 smoke（单 batch/少量 step）"),
    "golden": ("Summary#4.2/Golden 样本一致性", "Summary#5.1/Golden 样本一致性"),
    "gradients": ("Summary#5.2/loss/梯度稳定性",),
    "checkpoint": ("Summary#5.2/checkpoint 可用性",),
}


def edits(dossier: Dossier) -> list[Edit]:
    """The smoke boxes, and a field of Summary for everything that can be verified."""
    boxes = [
        Edit(f"Mig_report#6/{label}", dossier.verified[key].passed is True)
        for key, label in SMOKE_BOXES.items()
        if key in dossier.verified
    ]
    fields = {address: _said(dossier, key) for key, addresses in SUMMARY.items() for address in addresses}
    return [*boxes, *(Edit(address, text) for address, text in fields.items()), *_training(dossier)]


def _said(dossier: Dossier, key: str) -> str:
    found = dossier.verified.get(key)
    return found.text if found else missing(dossier.no_npu)


def _training(dossier: Dossier) -> list[Edit]:
    if dossier.plan.training is None:
        cells = dict.fromkeys(("是否达标", "结论说明"), missing("计划中本项目不训练"))
    elif told := [dossier.verified[key] for key in ("short_test", "formal_training") if key in dossier.verified]:
        passed = [found.passed for found in told]
        word = "不达标" if False in passed else "待定" if None in passed else "达标"
        cells = {"是否达标": word, "结论说明": joined(found.text for found in told)}
    else:
        cells = {"是否达标": "待定", "结论说明": missing(dossier.no_npu)}
    return row("Summary#5.3", "训练可用性（若适用）", cells)
