"""Files of arrays (``.npy``, ``.npz``, ``.pt``, a folder of them), read as a stream and never unpickled."""

from __future__ import annotations

import math
import pickle
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from npueval.arrays import Array, kind_of, named
from npueval.errors import FormatError

SUFFIXES = (".npy", ".npz", ".pt", ".pth")

_Opened = Callable[[], AbstractContextManager[IO[bytes]]]


def open_arrays(path: str | Path) -> dict[str, Array]:
    """The arrays of a file or folder by name: ``output`` for a lone one, member names, or ``sample/member``.

    Raises :class:`FormatError` where the path is absent, damaged, of an unknown kind, or holds what only unpickling
    could read.
    """
    path = Path(path)
    if path.is_dir():
        return _open_folder(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise FormatError(f"{path.suffix or 'this'} does not hold arrays", path=path, hint=", ".join(SUFFIXES))
    try:
        found = reader(path)
    except FormatError as error:
        raise FormatError(error.message, path=path, hint=error.hint) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", path=path) from None
    if not found:
        raise FormatError("no arrays in it", path=path)
    return found


def _open_folder(folder: Path) -> dict[str, Array]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise FormatError("no samples in this folder", path=folder, hint=", ".join(SUFFIXES))
    found: dict[str, Array] = {}
    for file in files:
        sample = file.relative_to(folder).with_suffix("").as_posix()
        members = open_arrays(file)
        lone = len(members) == 1
        found.update({sample if lone else f"{sample}/{name}": array for name, array in members.items()})
    return found


def _open_npy(path: Path) -> dict[str, Array]:
    return {"output": _stored(lambda: path.open("rb", buffering=0), path.stat().st_size)}


def _open_npz(path: Path) -> dict[str, Array]:
    with _damage_named():
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        return {member.filename[:-4]: _stored(_member(path, member), member.file_size) for member in members}


def _member(path: Path, member: zipfile.ZipInfo) -> _Opened:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            yield stream

    return opened


@contextmanager
def _damage_named() -> Iterator[None]:
    """Whatever a damaged, truncated or encrypted archive raises, as one error of ours."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise FormatError(f"damaged, or not what its name says: {error}") from None


def _stored(opened: _Opened, size: int) -> Array:
    """The array in numpy's format that a stream of ``size`` bytes holds."""
    with opened() as stream:
        shape, fortran, dtype = _header(stream)
        offset = stream.tell()
    kind = kind_of(dtype)
    wanted = math.prod(shape) * dtype.itemsize
    if size - offset != wanted:
        raise FormatError(f"{size - offset} bytes of data where shape {shape} of {dtype} takes {wanted}")
    return Array(shape, dtype.name, kind, "F" if fortran else "C", partial(_pieces, opened, offset, shape, dtype))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except ValueError as error:
        raise FormatError(f"not a numpy array: {_first_line(error)}") from None
    return tuple(shape), bool(fortran), dtype


def _pieces(
    opened: _Opened, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], elements: int
) -> Iterator[NDArray[Any]]:
    left = math.prod(shape)
    buffer: NDArray[Any] = np.empty(min(elements, left), dtype)
    with _damage_named(), opened() as stream:
        stream.seek(offset)
        while left:
            piece = buffer[: min(elements, left)]
            _read_into(stream, piece.view(np.uint8).data)
            yield piece.astype(dtype.newbyteorder("="), copy=False)
            left -= piece.size


def _read_into(stream: Any, view: memoryview) -> None:
    done = 0
    while done < len(view):
        count = stream.readinto(view[done:])
        if not count:
            raise EOFError("it became shorter while being read")
        done += count


def _open_torch(path: Path) -> dict[str, Array]:
    try:
        import torch
    except (ImportError, RuntimeError, OSError) as error:
        raise FormatError(f"torch is needed to read it: {error}", hint="save an .npz instead") from None
    try:
        # The loader warns of what it then refuses.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        named_there = re.search(r"GLOBAL (\S+)", str(error))
        what = f"it holds {named_there[1]}, and " if named_there else ""
        raise FormatError(f"{what}only running code could load it", hint="save plain tensors, or an .npz") from None
    except Exception as error:
        raise FormatError(f"damaged, or not a torch file: {_first_line(error)}") from error
    return named(held, "")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


_READERS: Mapping[str, Callable[[Path], dict[str, Array]]] = {
    ".npy": _open_npy,
    ".npz": _open_npz,
    ".pt": _open_torch,
    ".pth": _open_torch,
}
