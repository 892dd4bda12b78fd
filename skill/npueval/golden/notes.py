"""What a comparison says beside its verdict: outputs left out, empty, of another type, or held to another precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from npueval.language import Text, joined, same
from npueval.tolerances import Tolerance

if TYPE_CHECKING:
    from npueval.golden.verdict import Head

_MOST_NAMES = 5
_HALF = ("float16", "bfloat16")
_FURTHER = Text("基线没有、未比对的输出头：{names}", "not in the reference, so not compared: {names}")
_EMPTY = Text("{name} 为空，没有可比的元素", "{name} is empty: there is nothing to compare")
_TYPES = Text("两侧类型不同：{names}", "the types differ: {names}")
_TYPE = Text("{name}（基线 {ref}，结果 {hyp}）", "{name} (reference {ref}, hypothesis {hyp})")
_HALVES = Text(
    "按 FP32 的容差比对，而类型是半精度：{names}；若以半精度运行，请给出 --precision",
    "held to the tolerances of FP32, but of a half precision: {names}; say --precision where it ran in that",
)
_MORE = Text("等 {n} 个", "and {n} more")
NOTHING = Text("所有输出都为空，没有可比的元素", "nothing was compared: every output is empty")


def notes(heads: Sequence[Head], further: Sequence[str], tolerance: Tolerance) -> Iterator[Text]:
    """The notes on compared ``heads``; ``further`` names the outputs that only the hypothesis has."""
    if further:
        yield _FURTHER.filled({"names": listed(further)})
    for head in heads:
        if head.difference and not head.difference.elements:
            yield _EMPTY.filled({"name": head.name})
    sides = [
        (head.name, head.reference.dtype, head.hypothesis.dtype)
        for head in heads
        if head.difference and head.reference and head.hypothesis
    ]
    if mixed := [_TYPE.filled({"name": name, "ref": ref, "hyp": hyp}) for name, ref, hyp in sides if ref != hyp]:
        yield _TYPES.filled({"names": listed(mixed)})
    if tolerance.precision == "fp32" and (halves := [name for name, *types in sides if {*types} & {*_HALF}]):
        yield _HALVES.filled({"names": listed(halves)})


def listed(names: Sequence[Text | str]) -> Text:
    """The first few names, and how many more there are."""
    more = [_MORE.filled({"n": len(names) - _MOST_NAMES})] if len(names) > _MOST_NAMES else []
    return joined([*(same(name) if isinstance(name, str) else name for name in names[:_MOST_NAMES]), *more])
