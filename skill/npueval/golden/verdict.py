"""Are the outputs right? Each output held against its reference, within the tolerance of the precision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from npueval.arrays import Array
from npueval.errors import NpuevalError
from npueval.golden.arrayfiles import open_arrays
from npueval.golden.notes import NOTHING, notes
from npueval.golden.numeric import Classes, Difference, difference
from npueval.golden.pairs import Pair
from npueval.golden.stages import by_stage, first_stage
from npueval.golden.symptoms import Symptom, symptoms
from npueval.language import Text
from npueval.tolerances import Tolerance

_CHUNK = 1 << 18
_LARGEST_GROUP = 1 << 22
_LARGEST_TURNED = 1 << 24


@dataclass(frozen=True)
class Facts:
    """Shape and element type of one side of a head."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Head:
    """One output against its reference. ``reason`` says why it failed.

    ``difference`` is ``None`` where the two could not be held against each other: absent, another shape, another kind.
    """

    name: str
    reference: Facts | None
    hypothesis: Facts | None
    passed: bool
    reason: Text | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class Golden:
    """The verdict over all heads, the tolerance it rests on, and where to look first when it failed.

    ``invalid`` says why the comparison proves nothing, whatever the heads say.
    """

    tolerance: Tolerance
    equal_nan: bool
    heads: tuple[Head, ...]
    symptoms: tuple[Symptom, ...] = ()
    notes: tuple[Text, ...] = ()
    invalid: tuple[Text, ...] = ()

    @property
    def passed(self) -> bool:
        """Every head is within the tolerance, at least one element was compared, and the comparison is valid."""
        compared = any(head.difference and head.difference.elements for head in self.heads)
        return compared and not self.failed and not self.invalid

    @property
    def failed(self) -> tuple[Head, ...]:
        """The heads that failed."""
        return tuple(head for head in self.heads if not head.passed)


def compare_files(
    reference: str | Path,
    hypothesis: str | Path,
    tolerance: Tolerance,
    *,
    equal_nan: bool = False,
    axis: int | None = None,
) -> Golden:
    """:func:`compare` of two files or folders (:func:`npueval.arrays.open_arrays`)."""
    return compare(open_arrays(reference), open_arrays(hypothesis), tolerance, equal_nan=equal_nan, axis=axis)


def compare(
    reference: Mapping[str, Array],
    hypothesis: Mapping[str, Array],
    tolerance: Tolerance,
    *,
    equal_nan: bool = False,
    axis: int | None = None,
) -> Golden:
    """Hold every array of ``hypothesis`` against the one of the same name (two lone arrays need no common name).

    Nothing is broadcast: another shape is a failure. Integers and booleans must be equal, unless the precision is INT8.
    ``axis`` is that of the classes where outputs are logits (the last one of a table of numbers by default).
    :class:`NpuevalError` where no output has it.
    """
    if axis is not None:
        _refuse_axis(axis, reference.values())
    if len(reference) == len(hypothesis) == 1:
        hypothesis = {next(iter(reference)): next(iter(hypothesis.values()))}
    pairs = [Pair(name, array, hypothesis[name]) for name, array in reference.items() if name in hypothesis]
    compared = {pair.name: _head(pair, tolerance, equal_nan, axis) for pair in pairs}
    heads = tuple(compared.get(name) or _absent(name, array) for name, array in reference.items())
    suspect = first_stage([pair for pair in pairs if not compared[pair.name].passed])
    further = [name for name in hypothesis if name not in reference]
    empty = heads and all(head.difference and not head.difference.elements for head in heads)
    return Golden(
        tolerance,
        equal_nan,
        heads,
        tuple(by_stage(suspect)) + symptoms(suspect, tolerance, [name for name in reference if name not in hypothesis]),
        tuple(notes(heads, further, tolerance)),
        (NOTHING,) if empty else (),
    )


def _refuse_axis(axis: int, reference: Iterable[Array]) -> None:
    dimensions = [len(array.shape) for array in reference if array.kind == "real"]
    if not any(-most <= axis < most for most in dimensions):
        known = f"the most is {max(dimensions)} dimensions" if dimensions else "none is of floating point"
        raise NpuevalError(f"no output has an axis {axis} of classes: {known}", code="AXIS_INVALID")


def _absent(name: str, array: Array) -> Head:
    reason = Text("结果中没有这个输出头", "the hypothesis has no such head")
    return Head(name, Facts(array.shape, array.dtype), None, False, reason)


def _head(pair: Pair, tolerance: Tolerance, equal_nan: bool, axis: int | None) -> Head:
    ref, hyp = pair.reference, pair.hypothesis
    sides = Facts(ref.shape, ref.dtype), Facts(hyp.shape, hyp.dtype)
    reason = _incomparable(pair)
    if reason:
        return Head(pair.name, *sides, False, reason)
    classes = _classes(ref, axis)
    if classes:
        ref, hyp = ref.in_c_order(), hyp.in_c_order()
    group = classes.count * classes.inner if classes else 1
    exact = ref.kind in ("integer", "bool")
    applied = tolerance.for_integers() if exact else tolerance
    found = difference(
        _paired(ref, hyp, max(1, _CHUNK // group) * group),
        applied,
        ref.shape,
        equal_nan=equal_nan,
        classes=classes,
        order=ref.order if ref.order == hyp.order else "C",
    )
    reason = _why(found, applied, equal_nan) or _meaningless(found)
    return Head(pair.name, *sides, reason is None, reason, found)


def _incomparable(pair: Pair) -> Text | None:
    ref, hyp = pair.reference, pair.hypothesis
    if ref.shape != hyp.shape:
        sides = {"ref": str(ref.shape), "hyp": str(hyp.shape)}
        return Text("形状不同：基线 {ref}，结果 {hyp}", "shapes differ: reference {ref}, hypothesis {hyp}").filled(
            sides
        )
    if not pair.types_compare:
        sides = {"ref": ref.dtype, "hyp": hyp.dtype}
        return Text(
            "类型不可比：基线 {ref}，结果 {hyp}", "types do not compare: reference {ref}, hypothesis {hyp}"
        ).filled(sides)
    return None


def _classes(array: Array, axis: int | None) -> Classes | None:
    """Where the classes lie, if these are logits: floating point, two dimensions (or an axis that was named)."""
    dimensions = len(array.shape)
    if array.kind != "real" or not array.size or (axis is None and dimensions != 2):
        return None
    if array.order != "C" and array.size > _LARGEST_TURNED:
        return None
    place = -1 if axis is None else axis
    if not -dimensions <= place < dimensions:
        return None
    place %= dimensions
    classes = Classes(array.shape[place], math.prod(array.shape[place + 1 :]))
    return classes if classes.count > 1 and classes.count * classes.inner <= _LARGEST_GROUP else None


def _paired(ref: Array, hyp: Array, elements: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    if ref.order != hyp.order:
        ref, hyp = ref.in_c_order(), hyp.in_c_order()
    yield from zip(ref.chunks(elements), hyp.chunks(elements), strict=True)


def _meaningless(found: Difference) -> Text | None:
    """Within a tolerance that is as large as the outputs themselves, and yet nothing like the reference."""
    zero = found.hypothesis.mean == 0 == found.hypothesis.variance and found.reference.mean != 0
    if not (zero or (found.cosine is not None and found.cosine <= 0)):
        return None
    return Text(
        "逐元素都在容差内，但容差不小于输出本身，且方向与基线无关（全零，或余弦 ≤ 0）：请给出与输出量级相称的容差",
        "within the tolerance only because that is as large as the outputs: they are all zero, or their cosine is not"
        " positive; give a tolerance that fits the outputs' scale",
    )


def _why(found: Difference, applied: Tolerance, equal_nan: bool) -> Text | None:
    if found.outside == 0:
        return None
    exact = applied.rtol == applied.atol == 0
    text = Text(
        "{outside}/{elements} 个元素（{share}）{where}", "{outside} of {elements} elements ({share}) {where}"
    ).filled(
        {
            "outside": found.outside,
            "elements": found.elements,
            "share": f"{found.outside_share:.2%}",
            "where": Text("不相等", "not equal") if exact else Text("超出容差", "outside the tolerance"),
        }
    )
    if found.reference.nan and not equal_nan:
        more = Text("；基线自身含 {nan} 个 NaN", "; the reference holds {nan} NaN itself").filled(
            {"nan": found.reference.nan}
        )
        return Text(text.zh + more.zh, text.en + more.en)
    lost = found.hypothesis.nan + found.hypothesis.inf - found.reference.nan - found.reference.inf
    more = Text("，结果比基线多 {lost} 个 NaN/Inf", ", {lost} more NaN or Inf than the reference").filled(
        {"lost": lost}
    )
    return Text(text.zh + more.zh, text.en + more.en) if lost > 0 else text
