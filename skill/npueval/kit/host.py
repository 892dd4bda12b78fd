"""The kit's side of a measurement: runs on a host with Python, torch and numpy only, and writes one result file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from npueval import interruption, measuring, runs
from npueval.errors import Exit, FormatError, NpuevalError
from npueval.golden.sets import compare_sets, make
from npueval.kit.frozen import FrozenPlan
from npueval.kit.manifest import (
    GOLDEN,
    MANIFEST,
    PLAN,
    PROJECT,
    RESULT_FORMAT,
    RESULT_VERSION,
    KitManifest,
    digest_of,
    hashes,
)

if TYPE_CHECKING:
    from npueval.plan import Plan

Progress = Callable[[str], None]

_ANEW = "make it anew: npueval baseline kit"
_PACKAGES = ("torch", "numpy", "torch-npu", "triton", "nvidia-cudnn-cu12")
_VARIABLES = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG")


def main(folder: Path, arguments: Sequence[str], here: Path) -> int:
    """Measure the kit that lies unpacked in ``folder``: one result a precision, in ``here`` or where ``--output`` says.

    Returns the exit status: 0 done, 2 a kit that was changed or cannot be used here, 3 no such device, 4 a measurement
    that failed or whose result will not be grade A, 130 interrupted.
    """
    interruption.listen()
    asked = _parser().parse_args(arguments)
    target, status = (here / (asked.output or ".")).resolve(), Exit.OK
    try:
        _refuse_unwritable(target)
        for result in measure(folder, asked.device, _tell):
            print(_written(result, target), flush=True)  # noqa: T201
            for shortfall in _shortfalls(result):
                status = Exit.MEASUREMENT_FAILED
                _tell(f"kit: {shortfall}")
    except NpuevalError as error:
        _tell(f"kit: {error}")
        return int(error.status)
    except KeyboardInterrupt:
        _tell("kit: interrupted; what is not measured to its end leaves no result")
        return int(Exit.INTERRUPTED)
    _tell("bring the result back: npueval baseline ingest gpu_result-….json")
    return int(status)


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201


def _refuse_unwritable(target: Path) -> None:
    """Before minutes of measuring, whose result could not be kept."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".npueval-", dir=target):
            pass
    except OSError as error:
        hint = "name another folder: --output"
        raise NpuevalError(f"cannot write the result there: {error.strerror}", path=target, hint=hint) from None


def _shortfalls(result: Mapping[str, Any]) -> Iterator[str]:
    """Why a result will be of a lower grade, in the order of weight."""
    run, golden = result["run"], result["golden"]
    yield from (f"wrong outputs: {reason['en']}" for reason in run["invalid"])
    for case in run["cases"]:
        if not case["complete"]:
            yield f"batch={case['batch']} concurrency={case['concurrency']} was not finished: {case['error']}"
    if not golden["passed"]:
        yield f"the outputs differ from the golden ones: {golden['reason']}"


def _written(result: Mapping[str, Any], folder: Path) -> Path:
    path = folder / f"gpu_result-{result['run']['id']}.json"
    folder.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    staged.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    staged.replace(path)
    return path


def measure(folder: Path, device: str, progress: Progress) -> Iterator[dict[str, Any]]:
    """The results of an unpacked kit, precision by precision.

    Each holds the manifest, what was found of it, the Run, and the golden comparison.
    """
    if device.partition(":")[0] == "npu":
        raise NpuevalError("a baseline is measured on cuda (or cpu), not on the npu", hint="there: npueval measure")
    manifest = _manifest(folder)
    found = hashes(folder, manifest.files)
    changed = [name for name, digest in manifest.files.items() if found.get(name) != digest]
    if changed:
        raise FormatError(f"the kit was changed after it was made: {', '.join(changed[:5])}", hint=_ANEW)
    for plan in _plans(folder):
        body = {"manifest": manifest.to_data(), "found": found, **_measured(folder, plan, device, progress)}
        yield {"format": f"{RESULT_FORMAT}/{RESULT_VERSION}", "digest": digest_of(body), **body}


def _measured(folder: Path, plan: Plan, device: str, progress: Progress) -> dict[str, Any]:
    run = measuring.measure(
        plan, device=device, environment=_environment(), journal=folder / ".journal", progress=progress
    )
    return {"run": runs.to_data(run), "golden": _golden(folder, plan, device, progress)}


def _manifest(folder: Path) -> KitManifest:
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"the kit's manifest cannot be read: {error}", hint=_ANEW) from None
    return KitManifest.from_data(data)


def _plans(folder: Path) -> list[Plan]:
    """The frozen plan of each precision."""
    data = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    return [FrozenPlan.from_data(each).at(folder / PROJECT) for each in data]


def _golden(folder: Path, plan: Plan, device: str, progress: Progress) -> dict[str, Any]:
    """This device's outputs for the golden inputs, held against those that came with the kit."""
    progress("comparing the outputs with the golden ones")
    try:
        made = make(plan, device=device, path=folder / "made.npz")
        verdict = compare_sets(folder / GOLDEN, made)
    except NpuevalError as error:
        return {"passed": False, "reason": error.message}
    failed = [f"{head.name}: {head.reason.zh if head.reason else ''}" for head in verdict.failed]
    return {"passed": verdict.passed, "reason": "；".join([*(text.zh for text in verdict.invalid), *failed])}


def _environment() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python gpu_kit.pyz", description="Measure the packed workload on this host.")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:0 …; cpu only to try the kit out (default: cuda)")
    parser.add_argument("--output", help="the folder for the results gpu_result-<id>.json (default: this one)")
    return parser
