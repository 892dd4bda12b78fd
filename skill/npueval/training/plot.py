"""The curve of a training with its verdict, as a picture."""

from __future__ import annotations

from pathlib import Path

from npueval.errors import NpuevalError
from npueval.training.curves import Curve
from npueval.training.short import ShortTest

FORMATS = (".png", ".svg")


def plot(curve: Curve, path: Path, result: ShortTest | None = None) -> None:
    """Draw a curve to ``path`` (``.png`` or ``.svg``), with start, end and the asked band of a short test.

    The same curve gives the same file. :class:`NpuevalError` for another suffix, and where matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise NpuevalError(f"a curve is drawn as {' or '.join(FORMATS)}", path=path, code="USAGE")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise NpuevalError(
            "matplotlib draws the curve", hint="pip install npueval[html]", code="NO_MATPLOTLIB"
        ) from None
    with matplotlib.rc_context({"svg.hashsalt": "npueval"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        axes.plot(curve.steps, curve.values, color="#1f77b4", linewidth=1)
        if result and result.start is not None and result.end is not None:
            axes.axhline(result.start, color="#7f7f7f", linestyle=":", label=f"start {result.start:.4g}")
            axes.axhline(result.end, color="#2ca02c", linestyle="--", label=f"end {result.end:.4g}")
            bounds = (result.start * (1 - result.band.most), result.start * (1 - result.band.least))
            axes.axhspan(
                *bounds, color="#2ca02c", alpha=0.12, label=f"{result.band.least:.0%} to {result.band.most:.0%}"
            )
            axes.legend()
            axes.set_title(f"{result.status}: {result.reason.en}", fontsize=9)
        axes.set_xlabel("step" if curve.numbered else "value")
        axes.set_ylabel(curve.metric)
        # Without its date, so that the same curve gives the same bytes.
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix.lower() == ".svg" else {"Software": None})
