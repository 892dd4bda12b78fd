"""The data sets and their six uses: written once in Mig_Readme §3.1, copied where the other documents name them."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.plan import Dataset, Plan
from npueval.records import Edit
from npueval.reporting.cells import missing, row

# use → row in Mig_Readme §3.1, row in Mig_report §2.1, row in Summary §4.3
USES = {
    "short_test": ("短测", "短测", "短测"),
    "smoke": ("冒烟测试（推理 smoke：跑通、shape/无 NaN）", "冒烟（推理 smoke）", "冒烟"),
    "golden": ("Golden / 数值对齐（若单独数据集）", "Golden（若单独）", "Golden（若单独）"),
    "full": ("全量精度 / 性能评测", "全量精度/性能", "全量精度/性能"),
    "training": ("训练（若适用）", "训练（若适用）", "训练（若适用）"),
    "inference": ("推理（线上/验收口径）", "推理验收口径", "推理验收"),
}
NOT_USED = missing("计划中本项目不涉及该用途")


def edits(plan: Plan) -> list[Edit]:
    """The rows of Mig_Readme §3.1, Mig_report §2.1 and Summary §4.3."""
    return [edit for use, dataset in _uses(plan) for edit in _rows(use, dataset)]


def _uses(plan: Plan) -> Iterator[tuple[str, Dataset | None]]:
    for use in USES:
        yield use, getattr(plan.datasets, use)


def _rows(use: str, dataset: Dataset | None) -> list[Edit]:
    readme, report, summary = USES[use]
    name = dataset.name if dataset else NOT_USED
    subset = dataset.subset if dataset else NOT_USED
    path = dataset.path if dataset else NOT_USED
    same = (dataset.same_as_baseline or missing("计划未说明与基线的关系")) if dataset else NOT_USED
    return [
        *row(
            "Mig_Readme#3.1",
            readme,
            {
                "使用的数据集": name,
                "子集/规模（如样本数、划分）": subset,
                "与基线/全量是否一致": same,
                "本地路径（相对仓库根或绝对路径）": path,
            },
        ),
        *row("Mig_report#2.1", report, {"数据集名称与版本": name, "本地路径或约定变量": path}),
        *row("Summary#4.3", summary, {"数据集（名称/版本）": name, "本地路径或 DATA_ROOT": path}),
    ]
