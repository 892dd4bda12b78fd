"""Take in what the user brings back from a GPU host: the kit's result, or figures in another tool's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from npueval import atomic, baselines, runs
from npueval.baselines import foreign
from npueval.contracts import violations
from npueval.errors import FormatError, NpuevalError, Problem
from npueval.kit.checks import Check, checks
from npueval.kit.manifest import RESULT_FORMAT, RESULT_VERSION, KitManifest, digest_of
from npueval.kit.planned import unplanned
from npueval.kit.reading import legible, parsed, read
from npueval.language import same
from npueval.plaindata import body_of
from npueval.plan import Plan
from npueval.possible import impossible
from npueval.records import Baseline, Grade
from npueval.resources import schema
from npueval.runs import Run

MOST_PROBLEMS = 20
_LONGEST_REASON = 300
_BRING_RESULT = "bring the gpu_result-….json that the kit wrote"


@dataclass(frozen=True)
class Ingested:
    """What was taken in and where it was put. ``run`` is ``None`` for figures without raw samples.

    ``path`` is ``None`` where nothing was kept, because no column of the plan can show it; ``notes`` say so, and what
    else the report will make of it (English).
    """

    path: Path | None
    baseline: Baseline
    checks: tuple[Check, ...] = ()
    run: Run | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def grade(self) -> Grade:
        """A only where a kit's result passed every check."""
        return Grade.A if self.checks and all(check.passed for check in self.checks) else self.baseline.grade


def ingest(file: Path, plan: Plan, facts: Mapping[str, str] | None = None) -> Ingested:
    """Check a file and put it where the report finds it: a Run among the plan's Runs, figures beside them.

    ``facts`` are what the user says of figures that do not say it themselves (device, batch, precision …).
    :class:`FormatError` where the file is of no known form, was changed, is of another plan, or cannot be true.
    """
    raw = read(file)
    data = parsed(raw, file)
    try:
        return _taken_in(raw, data, file, plan, facts or {})
    except OSError as error:
        raise NpuevalError(f"cannot be kept: {error.strerror}", code="NOT_WRITABLE", path=plan.runs) from None


def _taken_in(raw: bytes, data: Any, file: Path, plan: Plan, facts: Mapping[str, str]) -> Ingested:
    form = str(data.get("format", "")) if isinstance(data, dict) else ""
    if facts and form.startswith((f"{RESULT_FORMAT}/", f"{runs.FORMAT}/")):
        raise FormatError("a measured result says all of itself", path=file, hint="leave out --fact")
    if form.startswith(f"{RESULT_FORMAT}/"):
        return _kit_result(data, plan, file)
    data, form = legible(data), legible(form)
    if form.startswith(f"{runs.FORMAT}/"):
        return _bare_run(_checked_run(data, plan, file), plan, file)
    if form.startswith("npueval/"):
        raise FormatError(f"{form} is no result", path=file, hint=_BRING_RESULT)
    shown = _shown(file, plan)
    return _keep_figures(foreign.read(raw, data, file, plan, facts, shown), plan, file)


def _kit_result(data: dict[str, Any], plan: Plan, file: Path) -> Ingested:
    body = body_of(data, RESULT_FORMAT, RESULT_VERSION, "kit result", file)
    _keep_to_schema(data, "kit-result", file)
    del body["digest"]
    if data["digest"] != digest_of(body):
        raise FormatError("the result was changed after the kit wrote it", path=file, hint="run the kit again")
    body = legible(body)
    run = _checked_run(body["run"], plan, file)
    if run.device.kind == "npu":
        raise FormatError("measured on an NPU, which is no baseline", path=file, hint="run the kit on the GPU host")
    if run.cards != 1:
        raise FormatError(f"measured on {run.cards} cards; a kit measures one", path=file, hint="run the kit again")
    done = tuple(checks(_manifest(body["manifest"], file), body, run, plan))
    failed = [f"{check.name}：{check.detail}" for check in done if not check.passed]
    kit = {"manifest": digest_of(body["manifest"]), "grade": "B" if failed else "A", "failed": failed}
    noted = replace(run, environment={**run.environment, "kit": kit}, doubts=(*run.doubts, *map(same, failed)))
    return _keep_run(noted, done, plan, file)


def _bare_run(run: Run, plan: Plan, file: Path) -> Ingested:
    """A Run without the kit that would say what it was made of: grade B, unless a kit's result brought it already."""
    held = plan.runs / f"{run.id}.json"
    if held.exists() and _same_measurement(there := runs.load(held), run):
        return Ingested(held, baselines.of_run(there), run=there, notes=tuple(_notes_of_run(there, plan)))
    kit = {"manifest": "", "grade": "B", "failed": ["不是测试包的结果，未核对输入、权重与 Golden"]}
    noted = replace(run, environment={**run.environment, "kit": kit}) if run.device.kind != "npu" else run
    return _keep_run(noted, (), plan, file)


def _manifest(data: Any, file: Path) -> KitManifest:
    try:
        manifest = KitManifest.from_data(data)
    except FormatError as error:
        raise FormatError(error.message[:_LONGEST_REASON], path=file, hint=error.hint) from None
    _keep_to_schema(data, "kit-manifest", file)
    return manifest


def _checked_run(data: Any, plan: Plan, file: Path) -> Run:
    """The Run of its JSON form, which must be of this plan and can be true."""
    try:
        run = runs.from_data(data)
    except FormatError as error:
        raise FormatError(error.message[:_LONGEST_REASON], path=file, hint=error.hint) from None
    _keep_to_schema(data, "run", file)
    of_plan = next((each for each in plan.each() if each.sha256 == run.plan_sha256), None)
    if of_plan is None:
        raise FormatError(
            "measured by another version of the plan", path=file, hint="make a kit of the plan as it is now"
        )
    _refuse("the result cannot be true", chain(unplanned(run, of_plan), impossible(run)), file)
    return run


def _keep_to_schema(data: Any, name: str, file: Path) -> None:
    found = violations(data, schema(name))
    words = (f"{'.'.join(map(str, each.pointer)) or name}: {each.message[:200]}" for each in found)
    _refuse(f"not a sound {name.replace('-', ' ')}", words, file)


def _refuse(message: str, reasons: Iterator[str], file: Path) -> None:
    found = list(reasons)
    if found:
        shown = [*found[:MOST_PROBLEMS], *([f"and {len(found) - MOST_PROBLEMS} more"] * (len(found) > MOST_PROBLEMS))]
        raise FormatError(message, path=file, problems=[Problem(reason, path=file.name) for reason in shown])


def _keep_run(run: Run, done: tuple[Check, ...], plan: Plan, file: Path) -> Ingested:
    held = plan.runs / f"{run.id}.json"
    if held.exists() and not _same_measurement(runs.load(held), run):
        raise FormatError(f"another measurement is kept as {run.id}", path=file, hint=f"see {held}")
    return Ingested(runs.save(run, plan.runs), baselines.of_run(run), done, run, tuple(_notes_of_run(run, plan)))


def _same_measurement(one: Run, other: Run) -> bool:
    """Whether two Runs hold the same figures, whatever was found of them when they were taken in."""

    def measured(run: Run) -> Any:
        environment = {key: value for key, value in run.environment.items() if key != "kit"}
        return runs.to_data(replace(run, environment=environment, doubts=()))

    return bool(measured(one) == measured(other))


def _notes_of_run(run: Run, plan: Plan) -> Iterator[str]:
    if run.device.kind == "cpu" and not plan.baseline.cpu:
        yield "measured on a CPU, which the plan does not ask for (baseline.cpu): the report will not show it"


def _shown(file: Path, plan: Plan) -> str:
    """How a file is cited: where it lies in the project, else where its copy will."""
    root, path = plan.root.resolve(), file.resolve()
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    copy = plan.runs.resolve() / baselines.ORIGINALS / legible(file.name)
    return copy.relative_to(root).as_posix() if copy.is_relative_to(root) else str(copy)


def _keep_figures(baseline: Baseline, plan: Plan, file: Path) -> Ingested:
    kind = baseline.fact("device_kind")
    if kind not in ("gpu", "cpu"):
        whose = "figures of an NPU fill no baseline column" if kind == "npu" else "nothing says which device"
        hint = "" if kind == "npu" else ": add --fact device='NVIDIA A100'"
        return Ingested(None, baseline, notes=(f"not kept: {whose}{hint}",))
    notes = _replaced(baseline, plan)
    original = plan.root / _shown(file, plan)
    if original.resolve() != file.resolve():
        original.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(original, file.read_bytes())
    baselines.save(baseline, plan.runs / baselines.BROUGHT)
    return Ingested(plan.runs / baselines.BROUGHT, baseline, notes=notes)


def _replaced(baseline: Baseline, plan: Plan) -> tuple[str, ...]:
    try:
        held = baselines.brought(plan)
    except FormatError as error:
        return (f"replaces figures that could not be read: {error.message}",)
    return (f"replaces the figures of {held.path}",) if held and held != baseline else ()
