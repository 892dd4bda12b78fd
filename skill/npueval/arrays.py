"""Arrays that are read piece by piece, wherever they are: numpy's, torch's, or in a file."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from npueval.errors import FormatError

Kind = Literal["real", "complex", "integer", "bool"]
Order = Literal["C", "F"]

_KINDS: Mapping[str, Kind] = {"f": "real", "c": "complex", "i": "integer", "u": "integer", "b": "bool"}
_LARGEST_TURNED = 1 << 30


@dataclass(frozen=True)
class Array:
    """An array that is read when asked. ``order`` is that of its elements where they are stored (``F``: Fortran).

    ``dtype`` names what is stored; types that numpy lacks (``bfloat16``) come out as float32.
    """

    shape: tuple[int, ...]
    dtype: str
    kind: Kind
    order: Order
    chunks: Callable[[int], Iterator[NDArray[Any]]]
    """Flat pieces of so many elements (the last one shorter); a piece is valid until the next one is taken."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def read(self) -> NDArray[Any]:
        """The whole array in memory, in its shape."""
        pieces = [piece.copy() for piece in self.chunks(1 << 20)]
        flat = np.concatenate(pieces) if pieces else np.empty(0, self.dtype if self.kind != "real" else np.float32)
        return flat.reshape(self.shape, order=self.order)

    def in_c_order(self) -> Array:
        """The same array in C order; :class:`FormatError` where it is over 2³⁰ elements and would have to be turned."""
        if self.order == "C":
            return self
        if self.size > _LARGEST_TURNED:
            raise FormatError(
                "one side is stored in Fortran order, the other is not, and it is too large to be turned in memory",
                hint="save it through numpy.ascontiguousarray",
            )
        return from_memory(self.read())


def from_memory(values: Any) -> Array:
    """An array in memory: numpy's, torch's, or a number. :class:`FormatError` where it is none."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return _from_tensor(values)
    array: NDArray[Any] = np.asarray(values)
    kind = kind_of(array.dtype)
    return Array(array.shape, array.dtype.name, kind, "C", partial(_slices, np.ascontiguousarray(array).reshape(-1)))


def named(value: Any, name: str, left_out: list[str] | None = None) -> dict[str, Array]:
    """The arrays inside nested dicts, lists and tuples: ``name``, ``name.key``, ``name.0`` …

    What is no array (a text, an object) is added to ``left_out``, or is a :class:`FormatError` where there is none.
    """
    items = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else None
    )
    if items is not None:
        inner = [named(item, f"{name}.{key}" if name else str(key), left_out) for key, item in items]
        return {key: array for arrays in inner for key, array in arrays.items()}
    try:
        return {name or "output": from_memory(value)}
    except FormatError as error:
        if left_out is None:
            raise FormatError(f"{name or 'it'}: {error.message}", hint=error.hint) from None
        left_out.append(name)
        return {}


def _slices(flat: NDArray[Any], elements: int) -> Iterator[NDArray[Any]]:
    for start in range(0, flat.size, elements):
        yield flat[start : start + elements]


def kind_of(dtype: np.dtype[Any]) -> Kind:
    """What sort of numbers a type holds; :class:`FormatError` where it holds none."""
    kind = _KINDS.get(dtype.kind)
    if kind is None:
        why = "Python objects, which only unpickling could read" if dtype.hasobject else f"{dtype} elements"
        raise FormatError(f"holds {why}; numbers are compared", hint="save numeric arrays, bfloat16 as float32")
    return kind


def _from_tensor(tensor: Any) -> Array:
    import torch

    if tensor.layout != torch.strided:
        raise FormatError(f"is a {tensor.layout} tensor", hint="save tensor.to_dense()")
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    tensor = tensor.dequantize() if tensor.is_quantized else tensor
    # numpy knows neither bfloat16 nor the eight-bit floats; float32 holds each of their values exactly.
    foreign = tensor.is_floating_point() and tensor.dtype not in (torch.float16, torch.float32, torch.float64)
    name = str(tensor.dtype).removeprefix("torch.")
    kind = "real" if foreign else kind_of(tensor.new_empty(0).numpy().dtype)
    flat = tensor.reshape(-1)
    return Array(tuple(tensor.shape), name, kind, "C", partial(_tensor_slices, flat, foreign))


def _tensor_slices(flat: Any, foreign: bool, elements: int) -> Iterator[NDArray[Any]]:
    for start in range(0, flat.numel(), elements):
        piece = flat[start : start + elements]
        yield (piece.float() if foreign else piece).numpy()
