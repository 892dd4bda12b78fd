"""What a mismatch looks like (layout, scale, another head, a missing softmax, overflow, dropout); where to look first.

Each symptom is shown by the numbers themselves: undoing the suspected fault makes the two sides agree. Where none is
shown, the usual order of suspects is what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from npueval.arrays import Array
from npueval.golden.pairs import Pair
from npueval.language import Text
from npueval.tolerances import Tolerance

Place = Literal["inputs", "preprocessing", "layout", "output head", "quantisation and operators"]

PLACES: dict[Place, Text] = {
    "inputs": Text("输入", "inputs"),
    "preprocessing": Text("预处理", "preprocessing"),
    "layout": Text("输入 layout", "layout"),
    "output head": Text("输出头的对接", "output head"),
    "quantisation and operators": Text("量化与算子替换", "quantisation and operators"),
}
"""Where a fault may lie, in the order in which to look."""

LARGEST = 1 << 22
_FP16_MAX = 65504.0
_MOST_AXES = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Symptom:
    """What the numbers show about a head, and where that leads."""

    place: Place
    head: str
    text: Text


_ABSENT = Text(
    "结果中没有这个输出头：导出或取输出时漏了", "the hypothesis lacks this head: it was not exported or not taken"
)
_CONVERTED = Text(
    "两侧类型不同类：一侧多做了 argmax、量化或类型转换，或取的是另一个输出",
    "the two types are of another kind: one side has an argmax, a quantisation or a cast more, or is another output",
)


def symptoms(failed: Sequence[Pair], tolerance: Tolerance, absent: Sequence[str] = ()) -> tuple[Symptom, ...]:
    """The symptoms that the failed heads show, in the order of :data:`PLACES`.

    Heads of more than :data:`LARGEST` elements, and such as are not real numbers, are not looked into.
    """
    heads = [Symptom("output head", name, _ABSENT) for name in absent]
    heads += [Symptom("output head", pair.name, _CONVERTED) for pair in failed if not pair.types_compare]
    small = [pair for pair in failed if _readable(pair)]
    read = {pair.name: (_floats(pair.reference), _floats(pair.hypothesis)) for pair in small}
    exact = {pair.name for pair in small if pair.reference.kind == "integer"}
    limits = {name: tolerance.for_integers() if name in exact else tolerance for name in read}
    with np.errstate(all="ignore"):
        found = [symptom for name, sides in read.items() for symptom in _of_head(name, *sides, limits[name])]
        found += [*_swapped(read, tolerance), *heads]
    order = list(PLACES)
    return tuple(sorted(found, key=lambda symptom: order.index(symptom.place)))


def _readable(pair: Pair) -> bool:
    sides = (pair.reference, pair.hypothesis)
    return pair.types_compare and all(side.kind in ("real", "integer") and 0 < side.size <= LARGEST for side in sides)


def _floats(array: Array) -> Floats:
    return array.read().astype(np.float64)


def _of_head(name: str, ref: Floats, hyp: Floats, tolerance: Tolerance) -> Iterator[Symptom]:
    """The first symptom that explains the head; a later one would only explain it less simply."""
    # Beyond 2⁵³ float64 no longer tells neighbouring integers apart; NaN and infinity fail the comparison too.
    legible = all(bool((np.abs(side) < 2.0**53).all()) for side in (ref, hyp))
    looks = _LOOKS if legible else (_not_finite,)
    found = next((found for look in looks if (found := look(ref, hyp, tolerance))), None)
    if found:
        yield Symptom(found[0], name, found[1])


_Found = tuple[Place, Text] | None


def _close(ref: Floats, hyp: Floats, tolerance: Tolerance) -> bool:
    return ref.shape == hyp.shape and bool(np.allclose(hyp, ref, tolerance.rtol, tolerance.atol))


def _not_finite(ref: Floats, hyp: Floats, _tolerance: Tolerance) -> _Found:
    """NaN or infinity where the reference is finite."""
    if ref.shape != hyp.shape:
        return None
    bad = ~np.isfinite(hyp) & np.isfinite(ref)
    if not bad.any():
        return None
    share = f"{bad.mean():.3g}"
    if np.abs(ref[bad]).max() > _FP16_MAX:
        cause = Text(
            "基线在这些位置超出 FP16 的上限 65504", "the reference exceeds 65504 there, the largest FP16 number"
        )
    else:
        cause = Text(
            "中间结果溢出（FP16 上限 65504）或出现 0/0；在最先出现非有限值的算子处改用 FP32 或 BF16",
            "an intermediate result overflows (FP16 ends at 65504) or is 0/0; find the first operator that gives one "
            "and run it in FP32 or BF16",
        )
    text = Text("基线有限而结果为 NaN/Inf 的元素占 {share}：{cause}", "NaN or Inf in {share} of the elements: {cause}")
    return "quantisation and operators", text.filled({"share": share, "cause": cause})


def _permuted(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    """The axes of one side in another order, with or without the shape that belongs to it."""
    if not 2 <= ref.ndim <= _MOST_AXES or ref.size != hyp.size:
        return None
    for axes in list(permutations(range(ref.ndim)))[1:]:
        turned = ref.transpose(axes)
        if turned.shape == hyp.shape and _close(turned, hyp, tolerance):
            return "layout", Text("结果等于基线按轴 {axes} 转置", "it is the reference with its axes as {axes}").filled(
                {"axes": str(axes)}
            )
        if _close(turned.reshape(hyp.shape), hyp, tolerance):
            return "layout", Text(
                "数值相同但按轴 {axes} 的次序读取：NCHW 与 NHWC 被当成了对方",
                "the reference's values, read with the axes as {axes}: one layout (NCHW, NHWC) taken for the other",
            ).filled({"axes": str(axes)})
    return None


def _reshaped(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    if ref.shape == hyp.shape or ref.size != hyp.size or not _close(ref.reshape(-1), hyp.reshape(-1), tolerance):
        return None
    return "layout", Text("数值与次序相同，只是形状不同", "the same values in the same order under another shape")


def _reversed(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    for axis in range(ref.ndim) if ref.shape == hyp.shape else ():
        if _close(np.flip(ref, axis), hyp, tolerance):
            return "preprocessing", Text(
                "轴 {axis} 上次序颠倒（通道为 3 时即 RGB/BGR）",
                "axis {axis} is reversed (of three channels: RGB against BGR)",
            ).filled({"axis": axis})
    return None


def _reordered(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    if ref.size != hyp.size or not _close(np.sort(ref, axis=None), np.sort(hyp, axis=None), tolerance):
        return None
    return "layout", Text("两侧是同一组数值，位置不同", "both sides hold the same values in different places")


def _softmax(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    if ref.shape != hyp.shape or ref.ndim < 2:
        return None
    for axis in {1, ref.ndim - 1}:
        if _close(ref, _normalised(hyp, axis), tolerance):
            return "output head", Text(
                "对结果做 softmax 后与基线一致：缺 softmax", "softmax is missing: with it they agree"
            )
        if _close(_normalised(ref, axis), hyp, tolerance):
            return "output head", Text("结果多做了一次 softmax", "softmax was applied once more than in the reference")
    return None


def _normalised(logits: Floats, axis: int) -> Floats:
    powers = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: Floats = powers / powers.sum(axis=axis, keepdims=True)
    return shares


def _scaled(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    """One factor and one offset for all elements."""
    if ref.shape != hyp.shape or ref.size < 3 or ref.std() == 0 or hyp.std() == 0:
        return None
    factor = ((ref - ref.mean()) * (hyp - hyp.mean())).mean() / ref.var()
    offset = hyp.mean() - factor * ref.mean()
    if not _close(factor * ref + offset, hyp, tolerance):
        return None
    return "preprocessing", Text(
        "结果 = {factor} × 基线 + {offset}：检查归一化的 mean/std、0–255 与 0–1、量化 scale",
        "it is {factor} x reference + {offset}: look at mean and std, 0-255 against 0-1, the quantisation scale",
    ).filled({"factor": f"{factor:.4g}", "offset": f"{offset:.4g}"})


def _dropped(ref: Floats, hyp: Floats, tolerance: Tolerance) -> _Found:
    """Some elements zero, the others enlarged to make up for it."""
    if ref.shape != hyp.shape:
        return None
    gone = (hyp == 0) & (np.abs(ref) > tolerance.atol)
    kept = ~gone & (np.abs(ref) > tolerance.atol)
    if gone.sum() < 3 or kept.sum() < 3:
        return None
    factors = hyp[kept] / ref[kept]
    if np.median(factors) < 1.01 or np.ptp(factors) > 0.05 * np.median(factors):
        return None
    return "quantisation and operators", Text(
        "{share} 的元素为 0，其余放大 {factor} 倍：dropout 仍处于训练模式",
        "{share} of the elements are zero and the rest {factor} times as large: dropout is still in training mode",
    ).filled({"share": f"{gone.mean():.2g}", "factor": f"{np.median(factors):.3g}"})


def _close_in_direction(ref: Floats, hyp: Floats, _tolerance: Tolerance) -> _Found:
    if ref.shape != hyp.shape:
        return None
    lengths = np.linalg.norm(ref) * np.linalg.norm(hyp)
    cosine = float((ref * hyp).sum() / lengths) if lengths > 0 else 0.0
    if not cosine > 0.99:
        return None
    return "quantisation and operators", Text(
        "方向一致（余弦 {cosine}）而误差超限：精度累积、量化或个别算子；只在接近 0 处超限时，atol 可能偏小",
        "same direction (cosine {cosine}), errors too large: accumulated rounding, quantisation or a single operator; "
        "where only elements near zero fail, atol may be too small",
    ).filled({"cosine": f"{cosine:.5f}"})


_LOOKS: tuple[Callable[[Floats, Floats, Tolerance], _Found], ...] = (
    _permuted,
    _reshaped,
    _reversed,
    _reordered,
    _softmax,
    _scaled,
    _dropped,
    _close_in_direction,
)


def _swapped(read: dict[str, tuple[Floats, Floats]], tolerance: Tolerance) -> Iterator[Symptom]:
    """A head that agrees with the reference of another head."""
    for name, (_, hyp) in read.items():
        for other, (ref, _) in read.items():
            if other != name and _close(ref, hyp, tolerance):
                text = Text(
                    "结果与基线的输出头 {other} 一致：接错了输出头",
                    "it is the reference's head {other}: heads are swapped",
                )
                yield Symptom("output head", name, text.filled({"other": other}))
