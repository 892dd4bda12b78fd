"""Two arrays held against each other, block by block: memory stays flat, every figure is computed in float64.

The error of an element is ``|hyp - ref|``; equal infinities have none. A pair with any other value that is not finite
is outside every tolerance and is counted, but has no part in means and maxima. Complex numbers are compared by the
magnitude of their difference, and their mean and variance are those of their magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval.golden.moments import Floats, Moments, Side
from npueval.tolerances import Tolerance

WORST = 5
# Half a megabyte of float64 a buffer: near the processor, and large enough that Python's share of the time is small.
_BLOCK = 65_536

Values = NDArray[Any]


@dataclass(frozen=True)
class Worst:
    """An element far from its reference; ``error`` is ``None`` where one of the two values is not finite."""

    index: tuple[int, ...]
    reference: str
    hypothesis: str
    error: float | None


@dataclass(frozen=True)
class Difference:
    """How far an array lies from its reference.

    ``max_relative`` divides by ``max(|ref|, atol)``, so that a reference near zero does not blow it up. ``cosine`` is
    ``None`` where a side is all zero or not finite throughout. ``outside`` counts the elements beyond the tolerance;
    ``top1`` is the share of rows whose largest class is the same, ``None`` where there are no classes. ``worst`` leads
    with the worst.
    """

    elements: int
    reference: Side
    hypothesis: Side
    max_absolute: float | None
    mean_absolute: float | None
    max_relative: float | None
    cosine: float | None
    outside: int
    top1: float | None
    worst: tuple[Worst, ...]

    @property
    def outside_share(self) -> float:
        """The share of elements beyond the tolerance, 0 … 1 (0 for an empty array)."""
        return self.outside / self.elements if self.elements else 0.0


@dataclass(frozen=True)
class Classes:
    """Where the classes of an array of logits lie: ``count`` of them, each ``inner`` elements apart."""

    count: int
    inner: int = 1


def difference(
    pairs: Iterable[tuple[Values, Values]],
    tolerance: Tolerance,
    shape: tuple[int, ...],
    *,
    equal_nan: bool = False,
    classes: Classes | None = None,
    order: str = "C",
) -> Difference:
    """Compare arrays of ``shape`` that come as pairs of flat chunks (reference, hypothesis) of equal length.

    ``order`` is that of the chunks (``C`` or ``F``) and names the worst elements rightly. With ``classes`` every chunk
    must hold whole groups of ``count * inner`` elements. Both sides are of one kind: real, complex, integer or bool.
    """
    tally = _Tally(tolerance, equal_nan)
    agreeing = 0
    for reference, hypothesis in pairs:
        for start in range(0, reference.size, _BLOCK):
            tally.add(reference[start : start + _BLOCK], hypothesis[start : start + _BLOCK])
        agreeing += _agreeing(reference, hypothesis, classes, equal_nan) if classes else 0
    groups = tally.elements // classes.count if classes else 0
    return tally.result(shape, order, agreeing / groups if groups else None)


class _Tally:
    def __init__(self, tolerance: Tolerance, equal_nan: bool) -> None:
        self.tolerance, self.equal_nan = tolerance, equal_nan
        self.elements = self.finite = self.outside = 0
        self.largest = self.relative = self.total = self.squared = 0.0
        self.reference, self.hypothesis = Moments(), Moments()
        # Sorted, the worst first; an error of infinity stands for a pair that has none.
        self.worst: list[tuple[float, int, str, str]] = []
        self.buffers: Floats = np.empty((4, _BLOCK))

    def add(self, reference: Values, hypothesis: Values) -> None:
        buffers = self.buffers[:, : reference.size]
        ref, hyp, error, scratch = buffers
        with np.errstate(all="ignore"):
            _fill(buffers, reference, hypothesis)
            # A single NaN or infinity shows in the largest error, so that a clean block needs no other look.
            if math.isfinite(error.max()):
                self.reference.add(ref, scratch)
                self.hypothesis.add(hyp, scratch)
                self._measure(ref, error, scratch)
            else:
                self._add_mixed(buffers, reference == hypothesis)
            self._remember(error, reference, hypothesis)
        self.elements += reference.size

    def _add_mixed(self, buffers: Floats, same: NDArray[np.bool_]) -> None:
        ref, hyp, error, scratch = buffers
        self.reference.add_mixed(ref, scratch)
        self.hypothesis.add_mixed(hyp, scratch)
        finite = np.isfinite(error)
        if self.equal_nan:
            same |= np.isnan(ref) & np.isnan(hyp)
        error[~finite] = np.where(same[~finite], 0.0, np.inf)
        self.outside += int(np.count_nonzero(np.isinf(error)))
        self._measure(ref[finite], error[finite], scratch)

    def _measure(self, ref: Floats, error: Floats, scratch: Floats) -> None:
        """Take in finite errors; ``ref`` is used up."""
        if error.size == 0:
            return
        scratch = scratch[: error.size]
        largest = float(error.max())
        magnitude = np.abs(ref, out=ref)
        if largest > self.tolerance.atol:
            limit = np.multiply(magnitude, self.tolerance.rtol, out=scratch)
            limit += self.tolerance.atol
            self.outside += int(np.count_nonzero(error > limit))
        self.finite += error.size
        self.largest = max(self.largest, largest)
        self.total += float(error.sum())
        self.squared += float(np.multiply(error, error, out=scratch).sum())
        floor = np.maximum(magnitude, self.tolerance.atol, out=scratch)
        self.relative = max(self.relative, _largest_ratio(error, floor))

    def _remember(self, error: Floats, reference: Values, hypothesis: Values) -> None:
        least = self.worst[-1][0] if len(self.worst) == WORST else 0.0
        if error.max() <= least:
            return
        places = np.argpartition(error, -WORST)[-WORST:] if error.size > WORST else np.arange(error.size)
        found = [
            (float(error[place]), self.elements + int(place), _text(reference[place]), _text(hypothesis[place]))
            for place in places
            if error[place] > least
        ]
        self.worst = sorted([*self.worst, *found], key=lambda entry: (-entry[0], entry[1]))[:WORST]

    def result(self, shape: tuple[int, ...], order: str, top1: float | None) -> Difference:
        known = self.finite > 0
        return Difference(
            elements=self.elements,
            reference=self.reference.side(),
            hypothesis=self.hypothesis.side(),
            max_absolute=self.largest if known else None,
            mean_absolute=self.total / self.finite if known else None,
            max_relative=self.relative if known else None,
            cosine=self._cosine(),
            outside=self.outside,
            top1=top1,
            worst=tuple(_worst(entry, shape, order) for entry in self.worst),
        )

    def _cosine(self) -> float | None:
        energies = self.reference.energy, self.hypothesis.energy
        if (
            not self.reference.n == self.hypothesis.n == self.finite
            or not 0 < min(energies) <= max(energies) < math.inf
        ):
            return None
        # |r - h|² = |r|² + |h|² - 2 r·h, and the two roots apart, lest their product overflow.
        product = (energies[0] + energies[1] - self.squared) / 2
        return max(-1.0, min(1.0, product / math.sqrt(energies[0]) / math.sqrt(energies[1])))


def _fill(buffers: Floats, reference: Values, hypothesis: Values) -> None:
    """Both blocks as float64 (magnitudes, where complex) and the errors, into the first three buffers."""
    ref, hyp, error = buffers[:3]
    kind = reference.dtype.kind
    # From a complex pair the magnitudes, whose squares sum up to the same energy as the numbers'.
    ref[...] = np.abs(reference) if kind == "c" else reference
    hyp[...] = np.abs(hypothesis) if kind == "c" else hypothesis
    if kind == "c":
        error[...] = np.abs(hypothesis.astype(np.complex128) - reference)
    elif kind in "iu":
        error[...] = _integer_error(reference, hypothesis)
    else:
        np.abs(np.subtract(hyp, ref, out=error), out=error)


def _integer_error(reference: Values, hypothesis: Values) -> NDArray[np.unsignedinteger[Any]]:
    """Exact where float64 would round two neighbours beyond 2⁵³ into one: the subtraction is done unsigned."""
    low, high = np.minimum(reference, hypothesis), np.maximum(reference, hypothesis)
    unsigned = np.dtype(f"u{low.dtype.itemsize}")
    error: NDArray[np.unsignedinteger[Any]] = high.astype(unsigned) - low.astype(unsigned)
    return error


def _text(value: Any) -> str:
    return str(value) if value.dtype.kind in "biu" else f"{value:.7g}"


def _largest_ratio(error: Floats, floor: Floats) -> float:
    ratios = np.divide(error, floor, out=floor)
    largest = float(ratios.max())
    # Only a reference of zero under an absolute tolerance of zero divides by nothing; such elements have no ratio.
    return largest if math.isfinite(largest) else float(ratios[np.isfinite(ratios)].max(initial=0.0))


def _agreeing(reference: Values, hypothesis: Values, classes: Classes, equal_nan: bool) -> int:
    """The rows with the same largest class; a NaN agrees with nothing, or where wished with its like in its place."""
    ref, hyp = (side.reshape(-1, classes.count, classes.inner) for side in (reference, hypothesis))
    lost = np.isnan(ref), np.isnan(hyp)
    if equal_nan:
        ref, hyp = (np.where(nan, -np.inf, side) for nan, side in zip(lost, (ref, hyp), strict=True))
    apart = lost[0] != lost[1] if equal_nan else lost[0] | lost[1]
    return int(np.count_nonzero((ref.argmax(axis=1) == hyp.argmax(axis=1)) & ~apart.any(axis=1)))


def _worst(entry: tuple[float, int, str, str], shape: tuple[int, ...], order: str) -> Worst:
    error, place, reference, hypothesis = entry
    index = np.unravel_index(place, shape, order="F" if order == "F" else "C") if shape else ()
    return Worst(tuple(int(i) for i in index), reference, hypothesis, error if math.isfinite(error) else None)
