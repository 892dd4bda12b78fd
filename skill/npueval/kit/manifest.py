"""The manifest of a kit: the hash of everything in it, and what the measurement on the other host must come back with.

Format history of ``npueval/kit-manifest``:

1. first form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npueval.plaindata import body_of, from_plain, versioned

FORMAT = "npueval/kit-manifest"
VERSION = 1
RESULT_FORMAT = "npueval/kit-result"
RESULT_VERSION = 1

MANIFEST, PLAN, GOLDEN, README = "manifest.json", "plan.json", "golden.npz", "README.md"
PROJECT, PACKAGE = "project", "npueval"


@dataclass(frozen=True)
class KitManifest:
    """``files`` maps every file of the kit to its SHA-256; ``inputs`` the batch sizes to the hash of their inputs."""

    tool: str
    created: str
    plan_sha256: str
    seed: int
    batches: tuple[int, ...]
    files: Mapping[str, str]
    inputs: Mapping[str, str]

    @property
    def sha256(self) -> str:
        """The manifest's own hash, by which its kit is known again."""
        return digest_of(self.to_data())

    def to_data(self) -> dict[str, Any]:
        """The JSON form."""
        return versioned(FORMAT, VERSION, self)

    @classmethod
    def from_data(cls, data: Any) -> KitManifest:
        """The manifest of its JSON form; :class:`~npueval.errors.FormatError` where it is none or newer."""
        return from_plain(cls, body_of(data, FORMAT, VERSION, "kit manifest"))


def digest_of(data: Any) -> str:
    """The hash of a JSON value, whatever its spacing and the order of its keys."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of files below a folder; one that is gone has none."""
    return {name: _sha256(folder / name) for name in names if (folder / name).is_file()}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
