"""``npueval train``: the short test (from a log, or live) and the verdict on formal training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, refuse_given, verb
from npueval.errors import Exit, FormatError

if TYPE_CHECKING:
    from npueval.training import Band, Formal, ShortTest
    from npueval.training.curves import Curve

_PLANS = (".yaml", ".yml")


@verb("train")
@click.argument("source", type=click.Path(path_type=Path), metavar="LOG|PLAN")
@click.option("--metric", help="Which series of the log; the training loss by default.")
@click.option("--formal", is_flag=True, help="Judge formal training: go on, or stop and check the code.")
@click.option("--limit", type=click.IntRange(1), help="Steps without improvement after which the code is suspected.")
@click.option("--band", nargs=2, type=float, metavar="LEAST MOST", help="How far the loss is to fall: 0.3 0.5.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the curve, as .png or .svg.")
@click.option("--device", metavar="NAME", help="With a plan: train on this device instead of the plan's.")
@click.option("--force", is_flag=True, help="With a plan: run a short test that has passed before once more.")
def command(
    source: Path,
    metric: str | None,
    formal: bool,
    limit: int | None,
    band: tuple[float, float] | None,
    picture: Path | None,
    device: str | None,
    force: bool,
) -> Reply:
    """Does it learn? Judge the curve of LOG, or run the short test of PLAN live until it passes, then stop.

    A short test passes when the loss falls steadily by about 30 to 50 % of its start. One that has passed is not run
    again in the same configuration (exit status 3). Exit status 1 where the verdict is not a pass.

    \b
    Example:  npueval train logs/train.log --plot curve.svg
              npueval train logs/train.log --formal --limit 500
              npueval train npueval.yaml --device npu:0
    """
    from npueval import training
    from npueval.training.plot import plot

    asked = training.BAND if band is None else _band(*band)
    saved: Path | None = None
    if source.suffix in _PLANS:
        refuse_given(("formal", "metric", "limit"), "a PLAN; they judge a LOG")
        record, saved = _live(source, device, asked, forced=force)
        curve, short = record.curve, record.verdict
    else:
        refuse_given(("device", "force"), "a LOG; they belong to a PLAN")
        if formal:
            refuse_given(("band",), "--formal")
        else:
            refuse_given(("limit",), "a short test; it belongs to --formal")
        curve = _curve(source, metric)
        short = training.judge_short(curve, asked)
    verdict: Formal | ShortTest = training.judge_formal(curve, limit or training.STAGNATION_STEPS) if formal else short
    if picture:
        plot(curve, picture, None if formal else short)
    return _reply(verdict, curve, saved, picture)


def _band(least: float, most: float) -> Band:
    from npueval.training import Band

    if not 0 < least < most <= 1:
        raise click.UsageError("--band takes two fractions, the smaller first: 0.3 0.5")
    return Band(least, most)


def _live(path: Path, device: str | None, band: Band, *, forced: bool) -> Any:
    from npueval import plan as plans
    from npueval import training

    def tell(line: str) -> None:
        click.echo(line, err=True)

    return training.short_test(plans.load(path), device=device, band=band, forced=forced, progress=tell)


def _curve(path: Path, metric: str | None) -> Curve:
    from npueval.logs.extracting import extract
    from npueval.training import curves

    found = extract(path)
    if found.rejected:
        raise FormatError("no training log", path=path, hint=found.rejected)
    return curves.of_runs(found.runs, metric, str(path))


def _reply(verdict: Formal | ShortTest, curve: Curve, saved: Path | None, picture: Path | None) -> Reply:
    from npueval.plaindata import to_plain

    written = [str(path) for path in (saved, picture) if path]
    data: dict[str, Any] = {
        "verdict": to_plain(verdict),
        "curve": {"metric": curve.metric, "points": len(curve.values), "steps": curve.span, "source": curve.source},
        "written": written,
    }
    lines = [f"{verdict.status}: {verdict.reason.en}", *(f"  {note.en}" for note in verdict.notes)]
    checks = getattr(verdict, "checks", ())
    lines += ["check, in this order:", *(f"  {i}. {check.en}" for i, check in enumerate(checks, 1))] if checks else []
    lines += [f"wrote {path}" for path in written]
    good = verdict.status in ("passed", "fine", "more")
    return Reply(data, "\n".join(lines), Exit.OK if good else Exit.FINDINGS)
