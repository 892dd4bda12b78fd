"""``npueval golden``: outputs held against their reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npueval.cli.base import Reply, refuse_given, verb
from npueval.errors import Exit

if TYPE_CHECKING:
    from npueval.arrays import Array
    from npueval.golden import Golden, Head
    from npueval.golden.numeric import Difference
    from npueval.tolerances import Tolerance

_PATH = click.Path(path_type=Path)
_PLANS = (".yaml", ".yml")
_OF_FILES = ("rtol", "atol", "equal_nan", "class_axis")
_COLUMNS = ("head", "shape", "max abs", "mean abs", "max rel", "cosine", "outside", "top-1", "")


@verb("golden")
@click.argument("reference", type=_PATH, metavar="REF")
@click.argument("hypothesis", type=_PATH, metavar="[HYP]", required=False)
@click.option(
    "--precision",
    type=click.Choice(["fp32", "fp16", "bf16", "int8"]),
    help="What the tolerances follow; with a plan, what it runs in.",
)
@click.option("--rtol", type=float, help="Relative tolerance instead of the precision's.")
@click.option("--atol", type=float, help="Absolute tolerance instead of the precision's.")
@click.option("--equal-nan", is_flag=True, help="NaN in the same place on both sides counts as equal.")
@click.option("--class-axis", type=int, metavar="AXIS", help="Axis of the classes, where outputs are logits.")
@click.option("--device", metavar="NAME", help="With a plan: the device to hold against the CPU.")
def command(
    reference: Path,
    hypothesis: Path | None,
    precision: str | None,
    rtol: float | None,
    atol: float | None,
    equal_nan: bool,
    class_axis: int | None,
    device: str | None,
) -> Reply:
    """Hold the outputs HYP against REF: .npy, .npz, .pt, or folders of samples; nothing is unpickled or broadcast.

    REF alone may be a plan: its workload is then run on the CPU in FP32 and on the plan's device, and the two are
    compared stage by stage. "max rel" divides by max(|ref|, atol). Exit status 1 where an output is outside.

    \b
    Example:  npueval golden cpu.npz npu.npz --precision fp16
              npueval golden npueval.yaml
    """
    from npueval import golden
    from npueval import plan as plans

    if hypothesis is None:
        if reference.suffix not in _PLANS:
            raise click.UsageError("HYP is missing: two files or folders, or one plan")
        refuse_given(_OF_FILES, "a PLAN, which has its own tolerances")
        plan = plans.load(reference)
        checked = golden.check(plan.at(precision) if precision else plan, device=device)
        text = f"reference   {checked.reference}\nhypothesis  {checked.hypothesis}\n\n{_text(checked.golden)}"
        return _reply(checked.golden, text)
    refuse_given(("device",), "two files; it belongs to a PLAN")
    if golden.is_golden_set(reference) and golden.is_golden_set(hypothesis):
        made = golden.read_manifest(hypothesis)
        limit = _tolerance(precision or made.precision, rtol, atol)
        found = golden.compare_sets(reference, hypothesis, limit, equal_nan=equal_nan, axis=class_axis)
        return _reply(found, _text(found))
    return _of_files(reference, hypothesis, precision, rtol, atol, equal_nan=equal_nan, axis=class_axis)


def _of_files(
    reference: Path,
    hypothesis: Path,
    precision: str | None,
    rtol: float | None,
    atol: float | None,
    *,
    equal_nan: bool,
    axis: int | None,
) -> Reply:
    from npueval import golden
    from npueval.golden.arrayfiles import open_arrays

    sides = open_arrays(reference), open_arrays(hypothesis)
    assumed = _precision_of(*sides)
    limit = _tolerance(precision or assumed, rtol, atol)
    found = golden.compare(*sides, limit, equal_nan=equal_nan, axis=axis)
    warnings = (
        []
        if precision
        else [f"tolerances of {assumed.upper()}, after the arrays' type; say --precision if it ran in another"]
    )
    return _reply(found, _text(found), warnings)


_LOOSEST_FIRST = ("bf16", "fp16", "fp32")


def _precision_of(reference: Mapping[str, Array], hypothesis: Mapping[str, Array]) -> str:
    """The looser type of each pair, and of all pairs the strictest: one BF16 head must not loosen the others."""
    pairs = [[reference[name], hypothesis[name]] for name in reference.keys() & hypothesis.keys()]
    pairs = pairs or [[*reference.values(), *hypothesis.values()]]
    looser = [min(map(_precision, pair), key=_LOOSEST_FIRST.index) for pair in pairs if pair]
    return max(looser, key=_LOOSEST_FIRST.index, default="fp32")


def _precision(array: Array) -> str:
    return {"bfloat16": "bf16", "float16": "fp16"}.get(array.dtype, "fp32")


def _tolerance(precision: str, rtol: float | None, atol: float | None) -> Tolerance:
    from npueval.tolerances import tolerance

    return tolerance(precision, rtol, atol)


def _reply(found: Golden, text: str, warnings: list[str] | None = None) -> Reply:
    from npueval.plaindata import to_plain

    data: dict[str, Any] = {"passed": found.passed, **to_plain(found)}
    return Reply(data, text, Exit.OK if found.passed else Exit.FINDINGS, warnings or [])


def _text(found: Golden) -> str:
    rows = [_COLUMNS, *map(_row, found.heads)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"{'passed' if found.passed else 'FAILED'}: {found.tolerance}", "", *lines, *_remarks(found)])


def _row(head: Head) -> tuple[str, ...]:
    facts = head.reference or head.hypothesis
    shape = f"{'x'.join(map(str, facts.shape)) or 'scalar'} {facts.dtype}" if facts else ""
    found = head.difference
    verdict = "FAILED" if not head.passed else "ok" if found and found.elements else "empty"
    if found is None:
        return (head.name, shape, *("-",) * 6, verdict)
    figures = (found.max_absolute, found.mean_absolute, found.max_relative)
    return (
        head.name,
        shape,
        *("-" if figure is None else f"{figure:.3g}" for figure in figures),
        "-" if found.cosine is None else f"{found.cosine:.6f}",
        f"{found.outside}/{found.elements}",
        "-" if found.top1 is None else f"{found.top1:.2%}",
        verdict,
    )


def _remarks(found: Golden) -> Iterator[str]:
    yield from (f"\ninvalid: {text.en}" for text in found.invalid)
    for head in found.failed:
        yield f"\n{head.name}: {head.reason.en if head.reason else ''}"
        yield from _details(head.difference) if head.difference else ()
    yield from _where_to_look(found)
    yield from (f"\nnote: {text.en}" for text in found.notes)


def _details(found: Difference) -> Iterator[str]:
    for name, side in (("reference", found.reference), ("hypothesis", found.hypothesis)):
        figures = ("mean", side.mean), ("variance", side.variance)
        known = [f"{what} {value:.6g}" for what, value in figures if value is not None]
        yield f"  {name:10}  {', '.join([*known, f'NaN {side.nan}', f'Inf {side.inf}'])}"
    for worst in found.worst:
        error = "not finite" if worst.error is None else f"{worst.error:.4g}"
        yield f"  at {list(worst.index)}: reference {worst.reference}, hypothesis {worst.hypothesis}, error {error}"


def _where_to_look(found: Golden) -> Iterator[str]:
    from npueval.golden.symptoms import PLACES

    if found.symptoms:
        yield "\nlook first at:"
        yield from (f"  {PLACES[symptom.place].en} ({symptom.head}): {symptom.text.en}" for symptom in found.symptoms)
    elif found.failed:
        order = [place.en for place in PLACES.values()]
        yield f"\nlook, in this order, at: {', '.join(order)}"
