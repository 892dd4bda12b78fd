"""Build the kit: one file that measures the plan's workload on a host with nothing but Python, torch and numpy."""

from __future__ import annotations

import ast
import hashlib
import json
import posixpath
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.resources import files
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from npueval import __version__, atomic, baselines, sessions
from npueval.errors import NpuevalError, Problem, WorkloadError
from npueval.golden.setfile import read_manifest
from npueval.golden.sets import make
from npueval.kit.frozen import FrozenPlan
from npueval.kit.leaflet import leaflet
from npueval.kit.manifest import GOLDEN, MANIFEST, PACKAGE, PLAN, PROJECT, README, KitManifest
from npueval.plan import Plan
from npueval.sessions import Report, Setup
from npueval.workloads import input_facts
from npueval.workloads.needs import sha256

KITS = "kits"
MAIN = "__main__.py"
_ENTRY, _START = "kit.host", "kit/start.py"
_STORED_FROM = _BLOCK = 1 << 20
_HASHES = "inputs.json"


Content = Mapping[str, bytes | Path]
"""What lies in a kit: bytes, or the file that is to be copied (weights may be larger than the memory)."""


@dataclass(frozen=True)
class Kit:
    """A kit that was built."""

    path: Path
    manifest: KitManifest


def build(plan: Plan, output: Path) -> Kit:
    """Write the kit of a plan, and its manifest to the plan's ``runs/kits``, by which the result is known again.

    The workload is loaded on this host's CPU, to make the golden outputs; then once more where nothing lies but what
    the kit holds, to hash the inputs and to see that nothing is lacking. :class:`WorkloadError` where it cannot be
    used, or a file that it needs is absent or lies outside the project.
    """
    _refuse_unfit(output)
    with TemporaryDirectory(prefix="npueval-") as name:
        golden = make(plan, device="cpu", precision="fp32", path=Path(name) / GOLDEN)
        content = dict(_content(plan, read_manifest(golden).workload.needs, golden, output.name))
        manifest = _manifest(plan, content, _inputs(plan, content, Path(name) / PROJECT))
        content[MANIFEST] = _json(manifest.to_data())
        try:
            _keep(manifest, plan)
            _write(output, content)
        except OSError as error:
            raise _unwritable(output, error) from None
    return Kit(output, manifest)


def _refuse_unfit(output: Path) -> None:
    """Before the workload is loaded: no file of the user's is replaced, only an earlier kit, and there must be room."""
    if output.is_dir() or (output.exists() and not zipfile.is_zipfile(output)):
        what = "a folder" if output.is_dir() else "another file"
        raise NpuevalError(f"is {what}, no kit to be replaced", path=output, hint="name another file: -o gpu_kit.pyz")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise _unwritable(output, error) from None


def _unwritable(output: Path, error: OSError) -> NpuevalError:
    path = error.filename or output
    return NpuevalError(f"cannot be written: {error.strerror}", code="NOT_WRITABLE", path=path)


def _keep(manifest: KitManifest, plan: Plan) -> None:
    kept = plan.runs / KITS / f"{manifest.sha256}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(kept, _json(manifest.to_data()))


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does: the hash of the inputs of every batch."""
    setup, further = sessions.orders(folder)
    report("load", {})
    session = sessions.open_session(setup)
    raw = {batch: session.workload.inputs(batch, setup.seed) for batch in further["batches"]}
    found = {str(batch): input_facts(batch, value).sha256 for batch, value in raw.items()}
    (folder / _HASHES).write_text(json.dumps(found), encoding="utf-8", newline="\n")


def _content(plan: Plan, needs: Iterable[str], golden: Path, kit: str) -> Iterator[tuple[str, bytes | Path]]:
    yield MAIN, _source(_START)
    yield f"{PACKAGE}/__init__.py", _source("__init__.py")
    for module in modules(_ENTRY):
        yield f"{PACKAGE}/{module}", _source(module)
    yield from _project(plan, needs)
    yield PLAN, _json([FrozenPlan.of(each).to_data() for each in plan.each()])
    yield GOLDEN, golden
    baseline = baselines.best(baselines.scan(plan.root, plan.baseline.logs), plan)
    yield README, leaflet(plan, baseline, kit, sorted(needs)).encode("utf-8")


def _project(plan: Plan, needs: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """The workload and what it needs, each where the workload will look for it, whatever link stands there."""
    file = PurePosixPath(plan.workload.partition(":")[0])
    workload = (plan.root / file).resolve()
    for name, path in ((file, workload), *((file.parent / need, workload.parent / need) for need in needs)):
        place = posixpath.normpath(name)
        if place.startswith(("../", "/")):
            raise WorkloadError("lies outside the plan's folder, so that it cannot travel in the kit", path=path)
        yield f"{PROJECT}/{place}", path


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


def _inputs(plan: Plan, content: Content, root: Path) -> dict[str, str]:
    """The hash of the inputs of every batch, made where nothing of the project lies but what travels."""

    def harvest(folder: Path) -> dict[str, str]:
        found: dict[str, str] = json.loads((folder / _HASHES).read_text(encoding="utf-8"))
        return found

    for name, path in content.items():
        if isinstance(path, Path) and name.startswith(f"{PROJECT}/"):
            (root.parent / name).parent.mkdir(parents=True, exist_ok=True)
            _lay(path, root.parent / name)
    setup = replace(Setup.of(plan, "cpu", "fp32"), root=str(root))
    further = {"batches": list(plan.batches)}
    try:
        return sessions.in_child(
            f"{__name__}:in_worker", setup, harvest, timeout_s=plan.case_timeout_s, further=further
        )
    except WorkloadError as error:
        told = [Problem(each.message.replace(f"{root}/", "")) for each in error.problems]
        raise WorkloadError(
            f"cannot run with nothing but what it declares: {error.message.replace(f'{root}/', '')}",
            path=plan.root / plan.workload.partition(":")[0],
            line=error.line,
            problems=told,
            hint="name every file that it reads in its needs",
        ) from None


def _lay(path: Path, place: Path) -> None:
    """Code as a file of its own, which looks for its neighbours beside itself; the rest, which may be large, linked."""
    if path.suffix == ".py":
        shutil.copyfile(path, place)
    else:
        place.symlink_to(path.resolve())


def _manifest(plan: Plan, content: Content, inputs: Mapping[str, str]) -> KitManifest:
    return KitManifest(
        tool=__version__,
        created=f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        plan_sha256=plan.sha256,
        seed=plan.seed,
        batches=plan.batches,
        files={name: _sha256(data) for name, data in content.items()},
        inputs=inputs,
    )


def _sha256(data: bytes | Path) -> str:
    return hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else sha256(data)


def _write(output: Path, content: Content) -> None:
    with atomic.replacing(output) as staged:
        with staged.open("wb") as file:
            file.write(b"#!/usr/bin/env python3\n")
            with zipfile.ZipFile(file, "w") as archive:
                for name, data in content.items():
                    _pack(archive, name, data)
        staged.chmod(0o755)


def _pack(archive: zipfile.ZipFile, name: str, data: bytes | Path) -> None:
    size = len(data) if isinstance(data, bytes) else data.stat().st_size
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_STORED if size >= _STORED_FROM else zipfile.ZIP_DEFLATED
    info.file_size = size
    with archive.open(info, "w") as packed, BytesIO(data) if isinstance(data, bytes) else data.open("rb") as source:
        shutil.copyfileobj(source, packed, _BLOCK)


def _source(path: str) -> bytes:
    return (files(PACKAGE) / path).read_bytes()


def _json(data: Any) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
