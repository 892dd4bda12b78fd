"""The golden set: what the workload makes of inputs fixed by the plan's seed, stage by stage, in one ``.npz`` file.

The arrays are named after the stage they were taken at; the manifest among them says what made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from npueval.arrays import Array, named
from npueval.devices import Device
from npueval.errors import NotExecuted
from npueval.golden.arrayfiles import open_arrays
from npueval.golden.notes import listed
from npueval.golden.setfile import Manifest, Member, changed_members, read_manifest, sha256_of, write
from npueval.golden.stages import INPUTS, made_by_model
from npueval.golden.training_mode import caught_training
from npueval.golden.verdict import Golden, compare
from npueval.language import Text
from npueval.sessions import Report, Session, Setup, in_child, open_session, orders
from npueval.tolerances import Tolerance, tolerance
from npueval.workloads import input_facts

if TYPE_CHECKING:
    from npueval.plan import Plan


def make(
    plan: Plan, *, device: str | Device | None = None, precision: str | None = None, path: Path | None = None
) -> Path:
    """Make the golden set of a plan's target batch and return its file (``runs/golden/<device>-<precision>.npz``).

    A device's name is opened in a process of its own; an opened device is used in this one. ``precision`` other than
    the plan's makes the reference that a half-precision run is held against.
    :class:`NotExecuted` where the device is not there, :class:`WorkloadError` where the workload cannot be used.
    """
    name = device.name if isinstance(device, Device) else device
    setup = Setup.of(plan, name, precision)
    path = path or plan.runs / "golden" / f"{setup.device.replace(':', '')}-{setup.precision}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(device, Device):
        write(path, *_walked(open_session(setup, device)))
        return path
    further = {"path": str(path)}
    in_child(f"{__name__}:in_worker", setup, lambda _folder: None, timeout_s=plan.case_timeout_s, further=further)
    return path


def conditions(plan: Plan, precision: str | None = None) -> dict[str, Any]:
    """What of a plan decides a golden set, as its manifest names it."""
    setup = Setup.of(plan, precision=precision)
    return {name: getattr(setup, name) for name in ("precision", "precision_mode", "seed", "batch")}


@dataclass(frozen=True)
class Checked:
    """A plan's device held against the CPU: the verdict, both files, and what made the second one."""

    golden: Golden
    reference: Path
    hypothesis: Path
    made: Manifest


def check(plan: Plan, *, device: str | Device | None = None) -> Checked:
    """Make the CPU's set in FP32 and the device's in the plan's precision, and hold them against each other.

    :class:`NotExecuted` where the device is not there, or is the CPU in FP32: it would be held against itself.
    """
    name = device.name if isinstance(device, Device) else device or plan.device
    if (name.partition(":")[0], plan.precision) == ("cpu", "fp32"):
        raise NotExecuted("nothing was compared: the reference is the CPU in FP32 itself", code="NOTHING_TO_COMPARE")
    limit = tolerance(plan.precision, plan.tolerances.rtol, plan.tolerances.atol)
    hypothesis = make(plan, device=device)
    reference = make(plan, device="cpu", precision="fp32")
    return Checked(compare_sets(reference, hypothesis, limit), reference, hypothesis, read_manifest(hypothesis))


def in_worker(folder: Path, report: Report) -> None:
    """What the worker process does."""
    setup, further = orders(folder)
    report("open", {})
    session = open_session(setup)
    report("walk", {})
    write(Path(further["path"]), *_walked(session))


def _walked(session: Session) -> tuple[Manifest, dict[str, NDArray[Any]]]:
    setup = session.setup
    raw = session.workload.inputs(setup.batch, setup.seed)
    with caught_training(session.workload.instance) as training:
        first, second = _stages(session, raw), _stages(session, raw)
    left_out: list[str] = []
    arrays = {name: array for stage, value in first.items() for name, array in named(value, stage, left_out).items()}
    again = {name: array for stage, value in second.items() for name, array in named(value, stage, []).items()}
    held = {name: array.read() for name, array in arrays.items()}
    manifest = Manifest(
        device=session.device.name,
        model=session.device.describe().model,
        simulated=session.device.simulated,
        precision=setup.precision,
        seed=setup.seed,
        batch=setup.batch,
        workload=session.workload.facts(),
        inputs_sha256=input_facts(setup.batch, raw).sha256,
        members={name: Member(values.shape, arrays[name].dtype, sha256_of(values)) for name, values in held.items()},
        left_out=tuple(left_out),
        doubts=(*_unstable(arrays, again, setup.precision), *training),
        precision_mode=setup.precision_mode,
    )
    return manifest, held


def _stages(session: Session, raw: Any) -> dict[str, Any]:
    """The value at each stage that is compared: the transfers only move the one before them."""
    values = dict(session.walk(raw).values)
    values["infer"] = values.pop("d2h", values["infer"])
    values.pop("h2d", None)
    return {INPUTS: raw, **values}


def _unstable(first: Mapping[str, Array], second: Mapping[str, Array], precision: str) -> Iterator[Text]:
    limit = Tolerance(0.0, 0.0, precision) if precision == "int8" else tolerance(precision)
    for head in compare(first, second, limit, equal_nan=True).failed:
        text = Text(
            "{name}：同一输入走两遍，结果不同（dropout 未关闭、随机算子，或模型自己在变）",
            "{name}: the same input gave another result the second time (dropout, a random operator, changing weights)",
        )
        yield text.filled({"name": head.name})
        return


def compare_sets(
    reference: str | Path,
    hypothesis: str | Path,
    limit: Tolerance | None = None,
    *,
    equal_nan: bool = False,
    axis: int | None = None,
) -> Golden:
    """Hold one golden set against another, by the hypothesis's precision unless a tolerance is given.

    Sets of other inputs, of an unsteady model, or that were changed after they were made, fail whatever their arrays.
    """
    ours, theirs = read_manifest(reference), read_manifest(hypothesis)
    limit = limit or tolerance(theirs.precision)
    golden = compare(open_arrays(reference), open_arrays(hypothesis), limit, equal_nan=equal_nan, axis=axis)
    notes = (*golden.notes, *_different_workloads(ours, theirs), *_left_out(ours))
    return replace(golden, notes=notes, invalid=(*golden.invalid, *_invalid(reference, hypothesis, ours, theirs)))


def _invalid(reference: str | Path, hypothesis: str | Path, ours: Manifest, theirs: Manifest) -> Iterator[Text]:
    for path, manifest, side in (
        (reference, ours, Text("基线", "reference")),
        (hypothesis, theirs, Text("结果", "hypothesis")),
    ):
        changed = changed_members(path)
        if changed:
            text = Text("{side}：生成之后被改动：{names}", "{side}: changed after it was made: {names}")
            yield text.filled({"side": side, "names": listed(changed)})
        for doubt in manifest.doubts:
            yield Text(f"{side.zh}：{doubt.zh}", f"{side.en}: {doubt.en}")
    if (ours.seed, ours.batch, ours.inputs_sha256) != (theirs.seed, theirs.batch, theirs.inputs_sha256):
        yield Text("两侧的输入不同（种子、batch 或哈希）", "the inputs differ (seed, batch or hash)")
    if not any(made_by_model(name) for name in ours.members):
        yield Text(
            "模型的输出不含数组，没有任何输出被比对",
            "the model's outputs hold no array: none of them was compared",
        )


def _different_workloads(ours: Manifest, theirs: Manifest) -> Iterator[Text]:
    if ours.workload.sha256 != theirs.workload.sha256:
        yield Text("两侧的 workload 文件不同", "the two sides used different workload files")
    if ours.workload.parameters != theirs.workload.parameters:
        counts = {"ref": str(ours.workload.parameters), "hyp": str(theirs.workload.parameters)}
        yield Text("参数量不同：{ref} 与 {hyp}", "parameter counts differ: {ref} and {hyp}").filled(counts)


def _left_out(manifest: Manifest) -> Iterator[Text]:
    if manifest.left_out:
        text = Text("不是数组、未比对：{names}", "no arrays, not compared: {names}")
        yield text.filled({"names": listed(manifest.left_out)})
