"""``skill measure``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, verb
from npueval.errors import Exit

if TYPE_CHECKING:
    from npueval.cases import Case
    from npueval.runs import Run


@verb("measure", short_help="Measure the plan's workload; write the Run with every sample.")
@click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml")
@click.option("--device", metavar="NAME", help="npu, npu:1, cuda, cpu … instead of the plan's. Never falls back.")
@click.option("--gzip", "compress", is_flag=True, help="Write <id>.json.gz.")
def command(plan: Path, device: str | None, compress: bool) -> Reply:
    """Measure every batch and load of PLAN; write runs/<id>.json.

    A measurement that was broken off goes on where it stopped.

    \b
    Example:  npueval measure npueval.yaml
              npueval measure npueval.yaml --device cpu --json
              torchrun --standalone --nproc_per_node=8 -m npueval measure npueval.yaml
    """
    from npueval import environment, measuring, runs
    from npueval import plan as plans

    loaded = plans.load(plan)
    recorded = environment.record(loaded.root)
    run = measuring.measure(loaded, device=device, environment=recorded.as_json(), progress=_tell)
    rank, ranks, _ = measuring.placed()
    if rank > 0:
        return Reply({"rank": rank, "ranks": ranks, "run": None}, status=_status(run))
    path = runs.save(run, loaded.runs, compress=compress)
    return Reply(_data(run, path), _text(run, path), _status(run), tuple(run.all_doubts()))


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _status(run: Run) -> Exit:
    return Exit.OK if run.valid and run.complete else Exit.MEASUREMENT_FAILED


def _data(run: Run, path: Path) -> dict[str, Any]:
    return {
        "run": str(path),
        "id": run.id,
        "device": run.device.name,
        "model": run.device.model,
        "simulated": run.simulated,
        "valid": run.valid,
        "complete": run.complete,
        "segments": list(run.segments),
        "not_measured": dict(run.not_measured),
        "unit": run.unit,
        "floor_ns": run.floor_ns,
        "cases": [_case(case) for case in run.cases],
    }


def _case(case: Case) -> dict[str, Any]:
    known = case.summary() if case.n else None
    return {
        "name": case.name,
        "n": case.n,
        "p50_ms": known and known.p50,
        "p95_ms": known and known.p95,
        "p99_ms": known and known.p99,
        "mean_ms": known and known.mean,
        "throughput": case.throughput(),
        "complete": case.complete,
        "error": case.error,
    }


def _text(run: Run, path: Path) -> str:
    lines = [f"{run.device.name}: {run.device.model}{', SIMULATED' if run.simulated else ''}"]
    lines += [f"  {_line(case, run.unit)}" for case in run.cases]
    lines += [f"  not measured: {segment} ({reason})" for segment, reason in run.not_measured.items()]
    if run.floor_ns is not None:
        lines.append(f"  harness floor: {run.floor_ns / 1e3:.2f} µs an iteration")
    return "\n".join([*lines, f"wrote {path}"])


def _line(case: Case, unit: str) -> str:
    if not case.n:
        return f"{case.name}: no sample ({case.error})"
    known = case.summary()
    rate = case.throughput()
    ends = [f"{rate:.5g} {unit}"] if rate else []
    return ", ".join([f"{case.name}: n={case.n}", _percentile("p50", known.p50), _percentile("p95", known.p95), *ends])


def _percentile(name: str, value: float | None) -> str:
    return f"{name} too few samples" if value is None else f"{name} {value:.4g} ms"
