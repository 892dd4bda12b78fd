"""``skill measure``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, refuse_given, refused, verb
from npueval.errors import Exit, NotExecuted

if TYPE_CHECKING:
    from npueval.runs import Run
    from npueval.runs.cases import Case
    from npueval.runs.conditions import Profile

_FOREIGN = "npueval.foreign"
_MOST_PRINTED = 40


_OF_PLANS = ("plan", "device", "precision", "sampling_s", "profiled")
_OF_COMMANDS = ("times", "timeout_s", "batch")


class _WithCommand(click.Command):
    """``--`` separates a foreign command, which click itself would take for more of our arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        place = args.index("--") if "--" in args else len(args)
        foreign = ctx.meta[_FOREIGN] = args[place + 1 :]
        if place < len(args) and not foreign:
            raise click.UsageError("no COMMAND stands after --")
        rest = super().parse_args(ctx, args[:place])
        if foreign:
            refuse_given(_OF_PLANS, "a COMMAND, which is timed from outside")
        else:
            refuse_given(_OF_COMMANDS, "a PLAN; it belongs to a COMMAND after --")
        return rest


@verb("measure", cls=_WithCommand, options_metavar="[OPTIONS] [-- COMMAND ARGUMENT…]")
@click.argument("plan", type=click.Path(path_type=Path), default="npueval.yaml")
@click.option("--device", metavar="NAME", help="npu, npu:1, cuda, cpu … instead of the plan's. Never falls back.")
@click.option("--precision", metavar="NAME", help="Only this one of the plan's precisions.")
@click.option(
    "--sample", "sampling_s", type=click.FloatRange(0), default=2.0, help="Seconds of reading power etc. afterwards."
)
@click.option("--profile", "profiled", is_flag=True, help="Then run a few iterations under the framework's profiler.")
@click.option("--gzip", "compress", is_flag=True, help="Write <id>.json.gz.")
@click.option("--runs", "times", type=click.IntRange(1), default=5, help="Timed runs of COMMAND, after one to warm up.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(0, min_open=True), default=3600.0, help="s for each run.")
@click.option("--batch", type=click.IntRange(1), help="The batch that COMMAND works on; unknown where it is not given.")
def command(
    plan: Path,
    device: str | None,
    precision: str | None,
    sampling_s: float,
    profiled: bool,
    compress: bool,
    times: int,
    timeout_s: float,
    batch: int | None,
) -> Reply:
    """Measure every batch and load of PLAN, each precision by itself; write runs/<id>.json. Or time a COMMAND.

    A measurement that was broken off goes on where it stopped. The wall time of a COMMAND (start-up and loading
    included) never compares with figures that were taken in the process. Where the device is not there, the block that
    says why and what to run elsewhere is the answer (exit status 3).

    \b
    Example:  npueval measure npueval.yaml
              npueval measure npueval.yaml --device cpu --json
              npueval measure npueval.yaml --profile --precision fp16
              torchrun --standalone --nproc_per_node=8 -m npueval measure npueval.yaml
              npueval measure --runs 10 --batch 32 -- python benchmark.py --batch 32
    """
    from npueval import environment, measuring, runs
    from npueval import plan as plans

    foreign: list[str] = click.get_current_context().meta[_FOREIGN]
    if foreign:
        return _time_command(foreign, times, timeout_s, batch, compress)
    loaded = plans.load(plan)
    chosen = [each for each in loaded.each() if precision in (None, each.precision)]
    if not chosen:
        raise click.UsageError(f"the plan has no precision {precision}: {', '.join(loaded.precisions)}")
    recorded = environment.record(loaded.root)
    rank, ranks, _ = measuring.placed()
    done = []
    try:
        for each in chosen:
            run = measuring.measure(
                each,
                device=device,
                environment=recorded.as_json(),
                progress=_tell,
                sampling_s=sampling_s,
                profiled=profiled,
            )
            done.append((run, None if rank > 0 else runs.save(run, loaded.runs, compress=compress)))
    except NotExecuted as error:
        if rank > 0:
            raise
        return refused(loaded, error, device, recorded)
    return _reply(done, rank, ranks)


def _time_command(foreign: list[str], times: int, timeout_s: float, batch: int | None, compress: bool) -> Reply:
    from npueval import environment, runs
    from npueval.measuring import blackbox

    folder = Path("runs")
    facts = environment.record(Path.cwd()).as_json()
    wanted = blackbox.Times(runs=times, timeout_s=timeout_s)
    run = blackbox.measure(foreign, folder=folder, times=wanted, batch=batch, environment=facts, progress=_tell)
    return _reply([(run, runs.save(run, folder, compress=compress))])


def _reply(done: Sequence[tuple[Run, Path | None]], rank: int = 0, ranks: int = 1) -> Reply:
    """One answer for the Runs of one command; of several cards the first keeps them and tells of them."""
    status = max((_status(run) for run, _ in done), default=Exit.OK)
    kept = [(run, path) for run, path in done if path]
    data = {"rank": rank, "ranks": ranks, "runs": [_data(run, path) for run, path in kept]}
    doubts = tuple(doubt.en for run, _ in kept for doubt in run.all_doubts())
    return Reply(data, "\n".join(_text(run, path) for run, path in kept), status, doubts)


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _status(run: Run) -> Exit:
    return Exit.OK if run.valid and run.complete else Exit.MEASUREMENT_FAILED


def _data(run: Run, path: Path) -> dict[str, Any]:
    from npueval.runs import to_data

    return {
        "path": str(path),
        "id": run.id,
        "precision": run.precision,
        "device": run.device.name,
        "model": run.device.model,
        "simulated": run.simulated,
        "valid": run.valid,
        "complete": run.complete,
        "segments": list(run.segments),
        "not_measured": to_data(run.not_measured),
        "unit": run.unit,
        "floor_ns": run.floor_ns,
        "cases": [_case(case) for case in run.cases],
        "command": dict(run.command),
        "profile": to_data(run.profile),
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
    lines = [f"{run.device.name} {run.precision}: {run.device.model}{', SIMULATED' if run.simulated else ''}"]
    lines += [f"  {_line(case, run.unit)}" for case in run.cases]
    lines += [f"  {line}" for line in _printed(run.command)]
    lines += [f"  not measured: {segment} ({reason.en})" for segment, reason in run.not_measured.items()]
    if run.floor_ns is not None:
        lines.append(f"  harness floor: {run.floor_ns / 1e3:.2f} µs an iteration")
    lines += [f"  profile: {_profile(run.profile)}"] if run.profile else []
    return "\n".join([*lines, f"wrote {path}"])


def _profile(made: Profile) -> str:
    if made.reason:
        return f"N/A ({made.reason.en})"
    held = f"{made.complete} of {made.iterations} iterations whole in the trace"
    lost = f", the first {made.lost_first} lost" if made.lost_first else ""
    top = ", ".join(f"{each.name} {each.total_ns / made.total_ns:.0%} ({each.count} rows)" for each in made.top(3))
    return f"{made.file} ({held}{lost}): {top}"


def _line(case: Case, unit: str) -> str:
    if not case.n:
        return f"{case.name}: no sample ({case.error})"
    known, rate = case.summary(), case.throughput()
    times = {"mean": known.mean, "p50": known.p50, "p95": known.p95, "p99": known.p99}
    told = [f"{name} {value:.4g} ms" for name, value in times.items() if value is not None]
    return ", ".join([f"{case.name}: n={case.n}", *told, *([f"{rate:.5g} {unit}"] if rate else [])])


def _printed(command: Mapping[str, Any]) -> Iterator[str]:
    figures = command.get("figures", ())
    for figure in figures[:_MOST_PRINTED]:
        last = figure["runs"][-1]
        spread = (
            f"min {figure['min']:g}, max {figure['max']:g} over {figure['n']} runs; last {last['path']}:{last['line']}"
        )
        yield f"printed: {figure['metric']}: median {figure['median']:g} {figure['unit']}".rstrip() + f" ({spread})"
    if len(figures) > _MOST_PRINTED:
        yield f"printed: {len(figures) - _MOST_PRINTED} more, see the file or --json"
    for reason, numbers in command.get("no_figures", {}).items():
        yield f"printed: nothing read from run {', '.join(map(str, numbers))}: {reason}"
