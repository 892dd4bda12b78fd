"""Build the kit: one file that measures the plan's workload on a host with nothing but Python, torch and numpy."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from npueval import __version__, sessions
from npueval.errors import WorkloadError
from npueval.golden.setfile import read_manifest
from npueval.golden.sets import make
from npueval.kit.frozen import FrozenPlan
from npueval.kit.leaflet import leaflet
from npueval.kit.manifest import GOLDEN, MANIFEST, PACKAGE, PLAN, PROJECT, README, KitManifest
from npueval.plan import Plan
from npueval.sessions import Report, Setup
from npueval.workloads import input_facts

KITS = "kits"
MAIN = "__main__.py"
_ENTRY, _START = "kit.host", "kit/start.py"
_STORED_FROM = 1 << 20
_HASHES = "inputs.json"


@dataclass(frozen=True)
class Kit:
    """A kit that was built."""

    path: Path
    manifest: KitManifest


def build(plan: Plan, output: Path) -> Kit:
    """Write the kit of a plan, and its manifest to the plan's ``runs/kits``, by which the result is known again.

    The workload is loaded on this host's CPU, to make the golden outputs and to hash the inputs.
    :class:`WorkloadError` where it cannot be used, or a file that it needs is absent or lies outside the project.
    """
    with TemporaryDirectory(prefix="npueval-") as name:
        golden = make(plan, device="cpu", precision="fp32", path=Path(name) / GOLDEN)
        content = dict(_content(plan, read_manifest(golden).workload.needs, golden))
    manifest = _manifest(plan, content, _inputs(plan))
    content[MANIFEST] = _json(manifest.to_data())
    _write(output, content)
    kept = plan.runs / KITS / f"{manifest.sha256}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(content[MANIFEST])
    return Kit(output, manifest)


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does: the hash of the inputs of every batch."""
    setup, further = sessions.orders(folder)
    report("load", {})
    session = sessions.open_session(setup)
    raw = {batch: session.workload.call("inputs", batch, setup.seed) for batch in further["batches"]}
    found = {str(batch): input_facts(batch, value).sha256 for batch, value in raw.items()}
    (folder / _HASHES).write_text(json.dumps(found), encoding="utf-8", newline="\n")


def _content(plan: Plan, needs: Mapping[str, str], golden: Path) -> Iterator[tuple[str, bytes]]:
    workload = plan.root / plan.workload.partition(":")[0]
    yield MAIN, _source(_START)
    yield f"{PACKAGE}/__init__.py", _source("__init__.py")
    for module in modules(_ENTRY):
        yield f"{PACKAGE}/{module}", _source(module)
    for path in (workload, *(workload.parent / name for name in needs)):
        yield f"{PROJECT}/{_inside(path, plan)}", path.read_bytes()
    yield PLAN, _json([FrozenPlan.of(each).to_data() for each in plan.each()])
    yield GOLDEN, golden.read_bytes()
    yield README, leaflet(plan, sorted(needs)).encode("utf-8")


def modules(entry: str) -> list[str]:
    """The files of the package that a module imports when it runs, itself included."""
    found: dict[str, None] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        file = next((path for path in _files_of(name) if (files(PACKAGE) / path).is_file()), None)
        if file is None or file in found:
            continue
        found[file] = None
        waiting += _imported(ast.parse(_source(file)))
    return sorted(found)


def _files_of(name: str) -> tuple[str, str]:
    path = name.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def _imported(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that a file names, with every package above them; not those for type checking."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == PACKAGE:
                yield from (".".join(parts[1:end]) for end in range(2, len(parts) + 1))
        yield from _imported(node)


def _inside(path: Path, plan: Plan) -> str:
    resolved, root = path.resolve(), plan.root.resolve()
    if not resolved.is_relative_to(root):
        raise WorkloadError("lies outside the plan's folder, so that it cannot travel in the kit", path=path)
    return resolved.relative_to(root).as_posix()


def _inputs(plan: Plan) -> dict[str, str]:
    def harvest(folder: Path) -> dict[str, str]:
        found: dict[str, str] = json.loads((folder / _HASHES).read_text(encoding="utf-8"))
        return found

    setup = Setup.of(plan, "cpu", "fp32")
    further = {"batches": list(plan.batches)}
    return sessions.in_child(f"{__name__}:in_worker", setup, harvest, timeout_s=plan.case_timeout_s, further=further)


def _manifest(plan: Plan, content: Mapping[str, bytes], inputs: Mapping[str, str]) -> KitManifest:
    return KitManifest(
        tool=__version__,
        created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        plan_sha256=plan.sha256,
        seed=plan.seed,
        batches=plan.batches,
        files={name: hashlib.sha256(data).hexdigest() for name, data in content.items()},
        inputs=inputs,
    )


def _write(output: Path, content: Mapping[str, bytes]) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    staged = output.with_name(f".{output.name}.{os.getpid()}")
    with staged.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in content.items():
                info = zipfile.ZipInfo(name)
                packed = zipfile.ZIP_STORED if len(data) >= _STORED_FROM else zipfile.ZIP_DEFLATED
                archive.writestr(info, data, compress_type=packed)
    staged.chmod(0o755)
    staged.replace(output)


def _source(path: str) -> bytes:
    return (files(PACKAGE) / path).read_bytes()


def _json(data: Any) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
