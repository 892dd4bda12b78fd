"""The kit's side of a measurement: runs on a host with Python, torch and numpy only, and writes one result file."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from npueval import atomic, interruption, measuring, runs
from npueval.errors import Exit, FormatError, NpuevalError
from npueval.golden.sets import compare_sets, make
from npueval.golden.verdict import Golden
from npueval.kit.asking import parser
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
from npueval.tolerances import tolerance

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
    asked = parser().parse_args(arguments)
    target, status, written = (here / asked.output).resolve(), Exit.OK, list[Path]()
    try:
        _refuse_unwritable(target)
        for result in measure(folder, asked.device, _tell):
            written.append(_written(result, target))
            _say(str(written[-1]))
            for shortfall in _shortfalls(result):
                status = Exit.MEASUREMENT_FAILED
                _tell(f"kit: {shortfall}")
    except NpuevalError as error:
        status = error.status
        _tell(f"kit: {error}{_without_torch(error)}")
    except KeyboardInterrupt:
        status = Exit.INTERRUPTED
        _tell("kit: interrupted; what is not measured to its end leaves no result")
    for path in written:
        _tell(f"bring it back: npueval baseline ingest {shlex.quote(path.name)}")
    return int(status)


def _say(line: str) -> None:
    """For whoever reads our output; a path must not fail for the terminal's encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)  # noqa: T201


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201


def _without_torch(error: NpuevalError) -> str:
    """Which Python it is that lacks torch, where that is the trouble."""
    missing = "torch" in error.message and importlib.util.find_spec("torch") is None
    return f"; there is no torch in {sys.executable}" if missing else ""


def _refuse_unwritable(target: Path) -> None:
    """Before minutes of measuring, whose result could not be kept."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".npueval-", dir=target):
            pass
    except OSError as error:
        raise _unwritable(target, error) from None


def _unwritable(target: Path, error: OSError) -> NpuevalError:
    message = f"cannot write the result there: {error.strerror}"
    return NpuevalError(message, path=target, hint="name another folder: --output")


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
    """Write the result there, or where temporary files go when there is no more room: minutes of measuring are in it.

    :class:`NpuevalError` where neither takes it.
    """
    text = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
    name = f"gpu_result-{result['run']['id']}.json"
    try:
        return _kept(text, folder / name)
    except OSError as error:
        refusal = _unwritable(folder, error)
    try:
        path = _kept(text, Path(gettempdir()) / name)
    except OSError:
        raise refusal from None
    _tell(f"kit: {refusal.message}; it lies in {path.parent}")
    return path


def _kept(text: str, path: Path) -> Path:
    with atomic.replacing(path) as staged:
        staged.write_text(text, encoding="utf-8", newline="\n")
    return path


def measure(folder: Path, device: str, progress: Progress) -> Iterator[dict[str, Any]]:
    """The results of an unpacked kit, precision by precision.

    Each holds the manifest, what was found of it, the Run, and the golden comparison.
    """
    if device.partition(":")[0] == "npu":
        raise NpuevalError("a baseline is measured on cuda (or cpu), not on the npu", hint="there: npueval measure")
    if not device:
        raise NpuevalError("--device names no device", hint="cuda, cuda:1 …, or cpu")
    manifest = _manifest(folder)
    found = hashes(folder, manifest.files)
    for frozen in _plans(folder):
        measured = _measured(folder, frozen, device, progress)
        body = _as_text({"manifest": manifest.to_data(), "found": found, **measured})
        yield {"format": f"{RESULT_FORMAT}/{RESULT_VERSION}", "digest": digest_of(body), **body}


def _measured(folder: Path, frozen: FrozenPlan, device: str, progress: Progress) -> dict[str, Any]:
    plan = frozen.at(folder / PROJECT)
    run = measuring.measure(
        plan, device=device, environment=_environment(), journal=folder / ".journal", progress=progress
    )
    progress("comparing the outputs with the golden ones")
    try:
        limit = tolerance(frozen.precision, frozen.rtol, frozen.atol)
        golden = _golden(compare_sets(folder / GOLDEN, make(plan, device=device, path=folder / "made.npz"), limit))
    except NpuevalError as error:
        golden = {"passed": False, "reason": error.message}
    return {"run": runs.to_data(run), "golden": golden}


def _golden(verdict: Golden) -> dict[str, Any]:
    """This device's outputs for the golden inputs, held against those that came with the kit."""
    failed = [f"{head.name}: {head.reason.zh if head.reason else ''}" for head in verdict.failed]
    return {"passed": verdict.passed, "reason": "；".join([*(text.zh for text in verdict.invalid), *failed])}


def _as_text(body: dict[str, Any]) -> dict[str, Any]:
    """Without the halves of characters by which Python keeps bytes that are no text (of a path, of a variable)."""
    plain: dict[str, Any] = json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    return plain


def _manifest(folder: Path) -> KitManifest:
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"the kit's manifest cannot be read: {error}", hint=_ANEW) from None
    return KitManifest.from_data(data)


def _plans(folder: Path) -> list[FrozenPlan]:
    """The frozen plan of each precision."""
    return [FrozenPlan.from_data(each) for each in json.loads((folder / PLAN).read_text(encoding="utf-8"))]


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
