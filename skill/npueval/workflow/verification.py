"""Smoke, golden and the short test: run on the NPU, recalled from what they left, said in the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from npueval import golden, smoke, training
from npueval.errors import FormatError, NotExecuted
from npueval.plan import Plan
from npueval.records import Edit
from npueval.reporting import Statement
from npueval.smoke import Check, Smoke
from npueval.tolerances import tolerance
from npueval.training import Record

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Verification:
    """What is known of the NPU beside its figures; ``passed_over`` names what could not be read."""

    statements: dict[str, Statement]
    edits: tuple[Edit, ...]
    passed_over: tuple[str, ...] = ()


def run(plan: Plan, progress: Progress) -> None:
    """Smoke, golden and, where the plan trains, the short test, each on the plan's device."""
    progress("smoke")
    smoke.save(smoke.run(plan), plan.runs)
    for name, step in (("golden", golden.check), ("short test", training.short_test)):
        progress(name)
        try:
            step(plan)
        except NotExecuted as error:
            progress(f"{name} not executed: {error.message}")


def recall(plan: Plan) -> Verification:
    """What earlier runs left in the plan's folder, as far as it was made on a real NPU."""
    statements: dict[str, Statement] = {}
    edits: list[Edit] = []
    passed_over: list[str] = []
    for part in (_smoke, _golden, _short_test):
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
    return dict(_of_smoke(found, _relative(path, plan))), []


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
    folder = plan.runs / "golden"
    reference, hypothesis = folder / "cpu-fp32.npz", _newest(folder, f"npu*-{plan.precision}.npz")
    if hypothesis is None or not reference.exists():
        return {}, []
    made = golden.read_manifest(hypothesis)
    if made.simulated:
        return {}, []
    limit = tolerance(plan.precision, plan.tolerances.rtol, plan.tolerances.atol)
    found = golden.compare_sets(reference, hypothesis, limit)
    source = _relative(hypothesis, plan)
    sample = f"种子 {made.seed}，batch {made.batch}"
    edits = golden.edits(found, device=made.device, simulated=made.simulated, sample=sample, source=source)
    return {"golden": Statement(found.passed, f"Golden {golden.summary(found)}（{source}）")}, edits


def _short_test(plan: Plan) -> Part:
    records = [(training.load(path), path) for path in sorted((plan.runs / training.FOLDER).glob("*.json"))]
    real = [(record, path) for record, path in records if record.device.startswith("npu") and not record.simulated]
    if plan.training is None or not real:
        return {}, []
    record, path = max(real, key=lambda item: item[0].created)
    return _of_short_test(record, _relative(path, plan))


def _of_short_test(record: Record, path: str) -> Part:
    passed = None if record.verdict.status == "undecided" else record.verdict.passed
    statement = Statement(passed, training.short_statement(record.verdict, path))
    return {"short_test": statement}, training.short_edits(record.verdict, device=record.device, source=path)


def _newest(folder: Path, pattern: str) -> Path | None:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime, default=None)


def _relative(path: Path, plan: Plan) -> str:
    return path.relative_to(plan.root).as_posix() if path.is_relative_to(plan.root) else str(path)
