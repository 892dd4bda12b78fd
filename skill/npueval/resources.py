"""Where the schemas and the blank documents lie: inside the wheel, or beside ``skill/`` in a checkout."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def folder(name: str) -> Traversable:
    """The data folder ``schemas`` or ``doc_templates``, also when the package is imported from a zip."""
    packed = files("npueval") / name
    return packed if packed.is_dir() else Path(__file__).parents[2] / name


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema ``schemas/<name>.schema.json``; ``name`` may hold a folder (``documents/Compare``)."""
    text = _beneath(folder("schemas"), f"{name}.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def template(relative: str) -> bytes:
    """The bytes of one blank document, ``relative`` to ``doc_templates/mig_docs``."""
    content: bytes = _beneath(folder("doc_templates") / "mig_docs", relative).read_bytes()
    return content


def first_plan() -> str:
    """The text of the plan that a new project starts from."""
    text: str = (folder("doc_templates") / "npueval.yaml").read_text(encoding="utf-8")
    return text


def _beneath(root: Traversable, relative: str) -> Traversable:
    for part in relative.split("/"):
        root = root / part
    return root
