"""Smoke, golden and training: run on the NPU, recalled from what they left, said in the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from npueval import golden, smoke, training
from npueval.errors import FormatError, NotExecuted
from npueval.logs.extracting import extract
from npueval.logs.logged import LoggedRun
from npueval.plan import Plan
from npueval.records import Edit
from npueval.reporting import Statement
from npueval.reporting.cells import missing
from npueval.smoke import Check, Smoke
from npueval.tolerances import tolerance
from npueval.training import Formal, Record, curves
from npueval.workflow import freshness, problems

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Verification:
    """What is known of the NPU beside its figures; ``passed_over`` names what could not be read."""

    statements: dict[str, Statement]
    edits: tuple[Edit, ...]
    passed_over: tuple[str, ...] = ()


def run(plan: Plan, progress: Progress, *, fresh: bool = False) -> None:
    """Smoke, golden at each precision and, where the plan trains, the short test, each on the plan's device.

    What was verified with these files under this plan is not verified again, unless ``fresh``.
    """
    for name, step, counts in _steps(plan):
        if counts and not fresh:
            progress(f"{name}: nothing has changed since it was run; --fresh runs it again")
            continue
        progress(name)
        try:
            step()
        except NotExecuted as error:
            progress(f"{name} not executed: {error.message}")


def _steps(plan: Plan) -> Iterator[tuple[str, Callable[[], object], bool]]:
    """Each verification, how to run it, and whether what it left still counts."""
    yield "smoke", lambda: smoke.save(smoke.run(plan), plan.runs), _still_counts(_smoke, plan, "inference_smoke")
    for each in plan.each():
        counts = _still_counts(_golden, each, "golden")
        yield f"golden {each.precision}", partial(golden.check, each), counts
    yield "short test", partial(training.short_test, plan), False


def _still_counts(part: Callable[[Plan], Part], plan: Plan, key: str) -> bool:
    try:
        found, _ = part(plan)
    except FormatError:
        return False
    return key in found and not found[key].outdated


def recall(plan: Plan, npu_logs: Sequence[str] = ()) -> Verification:
    """What earlier runs left in the plan's folder, and what the logs of formal training on an NPU say.

    Only what was made on a real NPU. ``npu_logs`` are relative to the project.
    """
    statements: dict[str, Statement] = {}
    edits: list[Edit] = []
    passed_over: list[str] = []
    for part in (_smoke, _golden, _short_test, partial(_formal, npu_logs)):
        try:
            found, further = part(plan)
        except FormatError as error:
            passed_over.append(str(error))
            continue
        statements |= found
        edits += further
    return Verification(statements, tuple(edits), tuple(passed_over))


Part = tuple[dict[str, Statement], list[Edit]]


def _smoke(plan: Plan) -> Part:
    path = plan.runs / "smoke-npu.json"
    if not path.exists() or (found := smoke.load(path)).simulated:
        return {}, []
    source = _relative(path, plan)
    why, said = freshness.of_smoke(found, plan), dict(_of_smoke(found, source))
    if why:
        return {key: _outdated(why, path, plan, "smoke") for key in said}, []
    failed = [check for check in (*found.inference, *found.training) if check.passed is False]
    if not failed:
        return said, []
    error = "；".join(check.detail.zh for check in failed)
    return said, [problems.entry(found.created, "冒烟未通过", freshness.command(plan, "smoke"), error, source)]


def _outdated(why: str, path: Path, plan: Plan, *words: str) -> Statement:
    again = freshness.command(plan, *words)
    return Statement(None, f"过期：{why}，须重新执行 {again}（记录 {_relative(path, plan)}）", outdated=True)


def _of_smoke(found: Smoke, path: str) -> Iterator[tuple[str, Statement]]:
    yield "inference_smoke", _judged(found.inference_passed, found.inference, path)
    yield "training_smoke", _judged(found.training_passed, found.training, path)
    for key in ("gradients", "checkpoint"):
        checks = tuple(check for check in found.training if check.name == key)
        if checks:
            yield key, _judged(checks[0].passed, checks, path)


def _judged(passed: bool | None, checks: tuple[Check, ...], path: str) -> Statement:
    word = {True: "通过", False: "未通过", None: "无法判定"}[passed]
    telling = [check.detail.zh for check in checks if check.passed is passed]
    return Statement(passed, f"{word}（{'；'.join(telling)}；记录 {path}）")


def _golden(plan: Plan) -> Part:
    """One statement of all precisions: passed where each of them is."""
    parts = [(found, edits) for each in plan.each() for found, edits in [_golden_at(each)] if found]
    if not parts:
        return {}, []
    told = [found for found, _ in parts]
    passed = _of_all(found.passed for found in told)
    edits = [edit for _, edits in parts for edit in edits]
    box = Edit(golden.BOX, passed is True, edits[0].source if edits else "")
    outdated = any(found.outdated for found in told)
    if passed is False:
        edits.append(_golden_problem(plan, "；".join(found.text for found in told if found.passed is False)))
    return {"golden": Statement(passed, "；".join(found.text for found in told), outdated)}, [*edits, box]


def _golden_problem(plan: Plan, error: str) -> Edit:
    """The entry of a comparison that failed, dated by the newest of the NPU's sets."""
    newest = _newest(plan.runs / "golden", "npu*.npz")
    assert newest is not None
    when = datetime.fromtimestamp(newest.stat().st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return problems.entry(when, "Golden 不一致", freshness.command(plan, "golden"), error, _relative(newest, plan))


def _of_all(verdicts: Iterable[bool | None]) -> bool | None:
    """One failure fails all; what cannot be told leaves the rest open."""
    known = set(verdicts)
    return False if False in known else None if None in known else True


def _golden_at(plan: Plan) -> tuple[Statement | None, list[Edit]]:
    folder = plan.runs / "golden"
    reference, hypothesis = folder / "cpu-fp32.npz", _newest(folder, f"npu*-{plan.precision}.npz")
    if hypothesis is None or not reference.exists():
        return None, []
    made, ours = golden.read_manifest(hypothesis), golden.read_manifest(reference)
    if made.simulated:
        return None, []
    limit = tolerance(plan.precision, plan.tolerances.rtol, plan.tolerances.atol)
    found = golden.compare_sets(reference, hypothesis, limit)
    source = _relative(hypothesis, plan)
    sample = f"{made.precision}，种子 {made.seed}，batch {made.batch}"
    edits = golden.edits(found, device=made.device, simulated=made.simulated, sample=sample, source=source)
    why = freshness.of_golden(made, plan, plan.precision) or freshness.of_golden(ours, plan, "fp32")
    if why:
        statement = _outdated(why, hypothesis, plan, "golden")
        return replace(statement, text=f"Golden {statement.text}"), golden.outdated_edits(edits, why)
    return Statement(found.passed, f"Golden {golden.summary(found)}（{source}）"), edits


def _short_test(plan: Plan) -> Part:
    """The newest record of this plan and these files; where there is none, the newest of all, which is out of date."""
    records = [(training.load(path), path) for path in sorted((plan.runs / training.FOLDER).glob("*.json"))]
    real = [(record, path) for record, path in records if record.device.startswith("npu") and not record.simulated]
    if plan.training is None or not real:
        return {}, []
    newest = sorted(real, key=lambda item: item[0].created, reverse=True)
    current = [item for item in newest if not freshness.of_short_test(item[0], plan)]
    if current:
        record, path = current[0]
        return _of_short_test(record, plan, _relative(path, plan))
    record, path = newest[0]
    found = _outdated(freshness.of_short_test(record, plan), path, plan, "train")
    box = training.outdated_edits(_relative(path, plan))
    return {"short_test": replace(found, text=f"训练短测{found.text}")}, box


def _of_short_test(record: Record, plan: Plan, path: str) -> Part:
    passed = None if record.verdict.status == "undecided" else record.verdict.passed
    statement = Statement(passed, training.short_statement(record.verdict, path))
    edits = training.short_edits(record.verdict, device=record.device, source=path)
    if passed is False:
        command, error = freshness.command(plan, "train"), record.verdict.reason.zh
        edits.append(problems.entry(record.created, "训练短测未通过", command, error, path))
    return {"short_test": statement}, edits


def _formal(npu_logs: Sequence[str], plan: Plan) -> Part:
    """The verdict on formal training by its latest log, and what the project means by "no clear improvement"."""
    last = max(((_date(runs), path, runs) for path in npu_logs if (runs := _on_npu(plan, path))), default=None)
    thresholds = [] if plan.training is None else training.threshold_edits(plan.training, _where(last and last[1]))
    if last is None:
        return {}, thresholds
    date, path, runs = last
    found = _judged_formally(plan, path, runs)
    if found is None:
        return {}, thresholds
    passed = {"fine": True, "stop": False}.get(found.status)
    edits = training.formal_edits(
        found, when=date or missing("日志未记日期"), command=missing("日志未记训练命令"), log=path, source=path
    )
    return {"formal_training": Statement(passed, training.formal_statement(found, path))}, [*edits, *thresholds]


def _judged_formally(plan: Plan, path: str, runs: Sequence[LoggedRun]) -> Formal | None:
    """``None`` where the log is no longer than a short test, and so may be one; unless it says that all is lost."""
    wished = plan.training
    named = wished is not None and any(name == wished.metric for run in runs for _, name in run.series)
    curve = curves.of_runs(runs, wished.metric if wished and named else None, path)
    found = training.judge_formal(curve, wished.stagnation_steps if wished else training.STAGNATION_STEPS)
    short = wished is not None and found.steps <= wished.steps and found.status != "stop"
    return None if short else found


def _on_npu(plan: Plan, path: str) -> list[LoggedRun]:
    return [run for run in extract(plan.root / path, path).runs if run.trained_on("npu")]


def _date(runs: Sequence[LoggedRun]) -> str:
    return max(run.fact("date") or "" for run in runs)


def _where(log: str | None) -> str:
    return f"日志 {log}" if log else missing("尚无 NPU 训练日志")


def _newest(folder: Path, pattern: str) -> Path | None:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime, default=None)


def _relative(path: Path, plan: Plan) -> str:
    return path.relative_to(plan.root).as_posix() if path.is_relative_to(plan.root) else str(path)
