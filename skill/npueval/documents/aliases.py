"""Labels that mean the same place although the documents word them differently."""

from __future__ import annotations

from npueval.documents.labels import fold

_SAME = (
    ("CPU 基线", "CPU 对照（可选）", "CPU 对照"),
    ("GPU 基线", "GPU 基线（默认）"),
    ("NPU（迁移后）", "迁移后（NPU）", "昇腾 NPU"),
    ("吞吐 (samples/s 或 images/s)", "吞吐 (samples/s)", "吞吐 (images/s)", "吞吐 (tokens/s)", "吞吐"),
    # The six uses of a dataset, as each document words them.
    ("冒烟测试（推理 smoke：跑通、shape/无 NaN）", "冒烟（推理 smoke）", "冒烟"),
    ("Golden / 数值对齐（若单独数据集）", "Golden（若单独）", "Golden"),
    ("全量精度 / 性能评测", "全量精度/性能", "全量"),
    ("训练（若适用）", "训练"),
    ("推理（线上/验收口径）", "推理验收口径", "推理验收"),
)
_GROUPS = {fold(label): tuple(fold(other) for other in group) for group in _SAME for label in group}


def aliases(label: str) -> tuple[str, ...]:
    """The folded labels that mean the same as ``label``, itself among them; nothing where none are declared."""
    return _GROUPS.get(fold(label), ())
