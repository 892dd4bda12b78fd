"""The file of a golden set: plain arrays in an ``.npz``, with ``manifest.json`` among them.

The same arrays give the same bytes, so that the hash of the file names its content. Format history of
``npueval/golden-set``:

1. first form.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npueval import atomic
from npueval.arrays import Array
from npueval.errors import FormatError
from npueval.golden.arrayfiles import open_arrays
from npueval.language import Text
from npueval.plaindata import from_plain, to_plain
from npueval.runs.conditions import WorkloadFacts

FORMAT = "npueval/golden-set"
VERSION = 1
MANIFEST = "manifest.json"

_PIECE = 1 << 18


@dataclass(frozen=True)
class Member:
    """One array of the set. ``dtype`` is what the framework calls it; the hash is over its elements in C order."""

    shape: tuple[int, ...]
    dtype: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What made the set. ``doubts`` say why its outputs cannot be trusted (two walks differ, training mode)."""

    device: str
    model: str
    simulated: bool
    precision: str
    seed: int
    batch: int
    workload: WorkloadFacts
    inputs_sha256: str
    members: Mapping[str, Member] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    doubts: tuple[Text, ...] = ()
    precision_mode: str = "cast"

    @property
    def device_kind(self) -> str:
        """``npu``, ``cuda`` or ``cpu``."""
        return self.device.partition(":")[0]


def sha256_of(values: NDArray[Any]) -> str:
    """The hash of an array's elements in C order."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def write(path: Path, manifest: Manifest, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a set in one step."""
    data = {"format": f"{FORMAT}/{VERSION}", **to_plain(manifest)}
    # A ZipInfo without a date: the time of writing must not change the file's hash.
    with atomic.replacing(path) as staged, zipfile.ZipFile(staged, "w") as archive:
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        archive.writestr(zipfile.ZipInfo(MANIFEST), text)
        for name, values in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(values), allow_pickle=False)


def is_golden_set(path: str | Path) -> bool:
    """Whether a file is one of ours, with a manifest."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_manifest(path: str | Path) -> Manifest:
    """The manifest of a golden set; :class:`FormatError` where there is none or it is newer than this release."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read(MANIFEST))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, RecursionError) as error:
        raise FormatError(f"not a golden set: {error}", path=path) from None
    name, _, version = str(data.get("format") if isinstance(data, dict) else "").rpartition("/")
    if name != FORMAT or not version.isdigit():
        raise FormatError("not a golden set", path=path, hint=f'its manifest says "format": "{FORMAT}/{VERSION}"')
    if int(version) > VERSION:
        raise FormatError(f"this golden set has format {version}, this release reads up to {VERSION}", path=path)
    return from_plain(Manifest, data)


def changed_members(path: str | Path) -> tuple[str, ...]:
    """The arrays of a set that are not what its manifest says: changed, added or gone."""
    manifest, arrays = read_manifest(path), open_arrays(path)
    wrong = [name for name, array in arrays.items() if _streamed_sha256(array) != _expected(manifest, name)]
    return (*wrong, *(name for name in manifest.members if name not in arrays))


def _expected(manifest: Manifest, name: str) -> str | None:
    member = manifest.members.get(name)
    return member.sha256 if member else None


def _streamed_sha256(array: Array) -> str:
    digest = hashlib.sha256()
    for piece in array.in_c_order().chunks(_PIECE):
        digest.update(np.ascontiguousarray(piece).data)
    return digest.hexdigest()
