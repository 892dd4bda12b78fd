"""A head on both sides, before it is compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npueval.arrays import Array


@dataclass(frozen=True)
class Pair:
    """A head on both sides: name, reference, hypothesis."""

    name: str
    reference: Array
    hypothesis: Array

    @property
    def types_compare(self) -> bool:
        """Whether both sides are of one kind, and of integers that one type can hold."""
        ref, hyp = self.reference, self.hypothesis
        return ref.kind == hyp.kind and (ref.kind != "integer" or np.result_type(ref.dtype, hyp.dtype).kind in "iu")
