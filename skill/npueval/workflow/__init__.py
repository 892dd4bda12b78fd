"""The verbs in order. What a verb decides is not decided here."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npueval import baselines, comparing, gate, linting, measuring, patching, reporting, runs, triggers
from npueval import plan as plans
from npueval.documents import layout
from npueval.errors import DocumentError, Exit, MeasurementError, NotExecuted, NpuevalError, Problem
from npueval.gate.diagnosis import Diagnosis
from npueval.patching import PatchResult
from npueval.patching.ledger import Ledger
from npueval.plan import Plan
from npueval.records import Baseline, Comparison, Edit, Finding
from npueval.reporting import page, spreadsheet
from npueval.runs import Run
from npueval.triggers.answers import Block, Decision, FiveParts
from npueval.workflow import archive, freshness, problems, verification
from npueval.workflow.withdrawal import withdrawn

Progress = Callable[[str], None]
READ_AT = "environment#元信息/generated_at"


@dataclass(frozen=True)
class Reading:
    """What is known before anything is measured: the machine, the triggers, and the mandatory answer."""

    plan: Plan
    diagnosis: Diagnosis
    decision: Decision
    answer: FiveParts | Block


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of one plan: what was answered, compared, written and found."""

    reading: Reading
    dossier: reporting.Dossier
    patch: PatchResult
    created: tuple[Path, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]

    @property
    def comparison(self) -> Comparison:
        """The NPU against its baseline."""
        return self.dossier.comparison

    @property
    def status(self) -> Exit:
        """Not executed before findings and failed verdicts, those before success."""
        if isinstance(self.reading.answer, Block) and self.comparison.run_id is None:
            return Exit.NOT_EXECUTED
        failed = "不通过" in (self.comparison.performance.verdict, self.comparison.accuracy.verdict)
        return Exit.FINDINGS if self.findings or failed else Exit.OK


def run(
    path: Path,
    *,
    dry_run: bool = False,
    fresh: bool = False,
    profiled: bool = False,
    force: Collection[str] = (),
    progress: Progress,
) -> Evaluation:
    """Doctor, check, measure, then :func:`report`. With ``dry_run`` nothing is measured and nothing written.

    What would be measured again in the same way (same plan, workload, files and machine) is taken from the Run that is
    there, unless ``fresh``. With ``profiled`` a profile is made after the timing, and a Run without one made anew.
    """
    reading = read(path, progress)
    if not dry_run:
        measure(reading, progress, fresh=fresh, profiled=profiled)
    return _report(reading, dry_run=dry_run, force=force, progress=progress)


def report(path: Path, *, dry_run: bool = False, force: Collection[str] = (), progress: Progress) -> Evaluation:
    """Find the baseline, compare the newest Runs with it, patch the documents and lint them."""
    return _report(read(path, progress), dry_run=dry_run, force=force, progress=progress)


def keep_views(done: Evaluation, *, html: Path | None = None, csv: Path | None = None) -> tuple[Path, ...]:
    """Write an evaluation as a page, as a flat table, or both; the paths that were written."""
    reading, kept = done.reading, []
    if html:
        commands = triggers.commands(reading.plan, reading.diagnosis)
        home = Path(os.path.relpath(reading.plan.root, html.absolute().parent)).as_posix()
        kept.append(archive.keep(html, page.render(done.dossier, commands, home)))
    if csv:
        kept.append(archive.keep(csv, spreadsheet.render(done.dossier)))
    return tuple(kept)


def read(path: Path, progress: Progress) -> Reading:
    """The plan, the machine, the triggers and what must be answered."""
    plan = plans.load(path)
    progress("doctor: reading the machine")
    diagnosis = gate.examine(plan.root)
    decision = triggers.decide(plan, diagnosis)
    return Reading(plan, diagnosis, decision, triggers.answer(plan, diagnosis, decision))


def measure(reading: Reading, progress: Progress, *, fresh: bool, profiled: bool = False) -> None:
    """Measure and verify on the plan's device where tests may run; on the CPU where the plan wants that column."""
    plan = reading.plan
    stock = archive.Archive(()) if fresh else archive.open_archive(plan)
    on_npu = plan.device_kind == "npu"
    if not on_npu or isinstance(reading.answer, FiveParts):
        anew = [_measure(reading, each, plan.device, stock, progress, profiled=profiled) for each in plan.each()]
        if on_npu:
            verification.run(plan, progress, fresh=fresh or any(anew))
    if plan.baseline.cpu and plan.device_kind != "cpu" and reading.decision.performance.met:
        for each in plan.each():
            _measure(reading, each, "cpu", stock, progress, profiled=profiled)


def _measure(
    reading: Reading, plan: Plan, device: str, stock: archive.Archive, progress: Progress, *, profiled: bool
) -> bool:
    """Measure a plan of one precision; whether there is a new Run."""
    progress(f"measure: {device} {plan.precision}")
    facts = reading.diagnosis.environment.as_json()
    held = stock.still_valid(plan, device, facts["digest"])
    if held and not (profiled and held.profile is None):
        progress(f"nothing has changed since {held.id}; --fresh measures it again")
        return False
    try:
        done = measuring.measure(plan, device=device, environment=facts, progress=progress, profiled=profiled)
    except NotExecuted as error:
        progress(f"measure: {device} not executed: {error.message}")
        return False
    path = runs.save(done, plan.runs)
    if not done.valid:
        raise MeasurementError(f"the outputs on {device} are wrong: {done.wrong[0].en}", path=path)
    return True


def _report(reading: Reading, *, dry_run: bool, force: Collection[str], progress: Progress) -> Evaluation:
    plan = reading.plan
    progress("baseline: scanning for logs")
    stock = archive.open_archive(plan)
    found = baselines.scan(plan.root, plan.baseline.logs)
    verified = verification.recall(plan, found.npu_training)
    dossier = replace(_gather(reading, stock, baselines.best(found, plan)), verified=verified.statements)
    full = plan.datasets.full
    environment = gate.edits(reading.diagnosis, data_dir=full.path if full else None)
    failures = problems.of_runs(dossier.runs_of("npu"), plan)
    made = (*reporting.edits(dossier), *verified.edits, *failures, *environment)
    edits: Sequence[Edit] = (*made, *withdrawn(plan.documents, made))
    progress("report: patching the documents")
    created = layout.missing(plan.documents)
    if not dry_run:
        _keep_answers(reading, dossier)
        _create(plan.documents)
    patch = PatchResult()
    if not (dry_run and created):
        edits = _without_idle_date(plan.documents, edits)
        patch = _patch(plan.documents, edits, dry_run=dry_run, force=force)
    progress("lint: checking the documents")
    findings = linting.lint([plan.documents]) if plan.documents.is_dir() else []
    warnings = (
        *stock.passed_over,
        *verified.passed_over,
        *(f"kept: {each.address} ({each.reason})" for each in patch.conflicts),
        *patch.notes,
        *_stale(plan.documents, edits),
    )
    return Evaluation(reading, dossier, patch, tuple(created), tuple(findings), warnings)


def _gather(reading: Reading, stock: archive.Archive, baseline: Baseline) -> reporting.Dossier:
    plan = reading.plan
    npu, gpu, cpu = (_newest(stock, kind, plan) for kind in ("npu", "cuda", "cpu"))
    cpu = cpu if plan.baseline.cpu else ()
    no_npu = _why_no_npu(reading, stock)
    no_cpu = _why_no_cpu(reading, stock)
    brought = baselines.brought(plan)
    comparison = comparing.compare(
        plan,
        npu,
        baseline,
        cpu=cpu,
        gpu=gpu,
        brought=brought,
        reason_no_run=no_npu,
    )
    return reporting.Dossier(
        plan=plan,
        diagnosis=reading.diagnosis,
        baseline=baseline,
        comparison=comparison,
        runs=(*npu, *gpu, *cpu),
        brought=brought,
        no_npu=no_npu,
        no_cpu=no_cpu,
        files=stock.files(plan.root),
    )


def _newest(stock: archive.Archive, kind: str, plan: Plan) -> tuple[Run, ...]:
    """The newest Run of a kind of device at each of the plan's precisions."""
    found = (stock.newest(kind, precision) for precision in plan.precisions)
    return tuple(run for run in found if run is not None)


def _why_no_npu(reading: Reading, stock: archive.Archive) -> str:
    """Short, because it stands in many cells; environment.md and the block say the whole."""
    if why := stock.outdated.get("npu"):
        return f"NPU 测量已过期：{why}，须重新执行 {freshness.command(reading.plan, 'run')}"
    if isinstance(reading.answer, FiveParts):
        return "尚未在 NPU 上测量"
    if not reading.decision.met:
        return "NPU 未执行：未触发测试"
    return f"NPU 未执行：门禁 {reading.diagnosis.gate.value}，见 environment.md"


def _why_no_cpu(reading: Reading, stock: archive.Archive) -> str:
    if not reading.plan.baseline.cpu:
        return "项目未要求 CPU 对照"
    if not reading.decision.performance.met:
        return "未触发性能测试"
    again = freshness.command(reading.plan, "run")
    why = stock.outdated.get("cpu")
    return f"CPU 测量已过期：{why}，须重新执行 {again}" if why else f"尚未测量，须执行 {again}"


def _create(documents: Path) -> None:
    try:
        layout.create(documents)
    except OSError as error:
        raise NpuevalError(
            f"cannot write the documents: {error.strerror}", code="NOT_WRITABLE", path=error.filename or documents
        ) from None


def _without_idle_date(documents: Path, edits: Sequence[Edit]) -> Sequence[Edit]:
    """A reading of the machine that says what environment.md says already does not renew its date."""
    lasting = [edit for edit in edits if edit.address != READ_AT]
    told = patching.patch(documents, lasting, dry_run=True)
    return edits if "environment" in told.changed else lasting


def _patch(documents: Path, edits: Sequence[Edit], *, dry_run: bool, force: Collection[str]) -> PatchResult:
    result = patching.patch(documents, edits, dry_run=dry_run, force=force)
    if result.refusals:
        raise DocumentError(
            "nothing was written, because not every place can be filled",
            path=documents,
            problems=_in_short(result.refusals),
            hint="npueval lint shows what is missing",
        )
    return result


def _in_short(refusals: Sequence[Problem]) -> tuple[Problem, ...]:
    """One line for all places that are refused for the same reason: a missing section is one mistake."""
    reasons: dict[tuple[str | None, str], list[Problem]] = {}
    for problem in refusals:
        reasons.setdefault((problem.path, problem.message.rpartition(": ")[2]), []).append(problem)
    return tuple(
        replace(first, message=f"{first.message} (and {len(others)} more places)") if others else first
        for first, *others in reasons.values()
    )


def _stale(documents: Path, edits: Sequence[Edit]) -> list[str]:
    """Texts of ours whose Run or Baseline is no longer the one that the documents are made of."""
    stale = Ledger.load(documents).stale({edit.source for edit in edits})
    # The label of a row is written once; the row is as new as its other cells.
    renewed = tuple(f"{edit.address}/" for edit in edits if isinstance(edit.value, tuple))
    return [
        f"stale: {entry.address} is still from {entry.source}"
        for entry in stale
        if not entry.address.startswith(renewed)
    ]


def _keep_answers(reading: Reading, dossier: reporting.Dossier) -> None:
    plan, answer = reading.plan, reading.answer
    name = "not-executed" if isinstance(answer, Block) else "five-parts"
    archive.keep(plan.runs / f"{name}.md", answer.markdown())
    archive.keep(plan.runs / f"{name}.json", answer.as_json())
    archive.keep(plan.runs / "comparison.json", comparing.to_data(dossier.comparison))
    baselines.save(dossier.baseline, plan.runs / "baseline.json")
