"""Where on its way through the workload an output of a golden set was taken, and which stage to blame first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from npueval.golden.pairs import Pair
from npueval.golden.symptoms import Place, Symptom
from npueval.language import Text
from npueval.runs.cases import SEGMENTS

INPUTS = "inputs"
STAGES = (INPUTS, *SEGMENTS)
"""The first part of a head's name in a golden set: where on its way through the workload it was taken."""

_STAGE_PLACES: Mapping[str, tuple[Place, Text]] = {
    INPUTS: (
        "inputs",
        Text("两侧的输入不同：后面的差异不能归因于模型", "the inputs differ: nothing after them says anything"),
    ),
    "preprocess": (
        "preprocessing",
        Text("输入一致而预处理结果不同", "the inputs agree, what preprocessing makes of them does not"),
    ),
    "infer": ("output head", Text("预处理一致而模型输出不同", "preprocessing agrees, the model's output does not")),
    "postprocess": (
        "output head",
        Text("模型输出一致而后处理结果不同", "the model's output agrees, the postprocessed result does not"),
    ),
}


def first_stage(failed: list[Pair]) -> list[Pair]:
    """Of a golden set the failed heads of the earliest stage: what comes after it follows from it."""
    stages = {pair.name: _stage(pair.name) for pair in failed}
    known = [stage for stage in stages.values() if stage]
    if not known:
        return failed
    first = min(known, key=STAGES.index)
    return [pair for pair in failed if stages[pair.name] == first]


def made_by_model(name: str) -> bool:
    """Whether a head of a golden set was taken after the model, and not before it."""
    stage = _stage(name)
    return stage is not None and STAGES.index(stage) >= STAGES.index("infer")


def _stage(name: str) -> str | None:
    first = name.partition(".")[0]
    return first if first in STAGES else None


def by_stage(suspect: list[Pair]) -> Iterator[Symptom]:
    """What follows from the stage at which a golden set differs first."""
    stage = _stage(suspect[0].name) if suspect else None
    found = _STAGE_PLACES.get(stage) if stage else None
    if found:
        yield Symptom(found[0], suspect[0].name, found[1])
