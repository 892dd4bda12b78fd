"""Plots that stretch to any width: SVG for the marks, HTML for the text, which therefore never shrinks.

The drawing area is 1000 by 1000 units whatever its size on the screen; strokes do not scale with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from npueval.reporting.page.axes import Axis
from npueval.reporting.page.markup import Child, Html, element

UNITS = 1000


@dataclass(frozen=True)
class Note:
    """A word in the drawing, at shares of its width and height; it stands to the left of ``x`` where it ``ends``."""

    x: float
    y: float
    text: str
    ends: bool = False


@dataclass(frozen=True)
class Scale:
    """An axis, what it measures, and the values to label."""

    axis: Axis
    name: str
    ticks: Sequence[tuple[float, str]]


def scale(axis: Axis, name: str, most: int = 5) -> Scale:
    """An axis labelled at round values."""
    return Scale(axis, name, [(value, f"{value:g}") for value in axis.ticks(most)])


def plot(title: str, description: str, x: Scale, y: Scale, marks: Iterable[Html], notes: Iterable[Note] = ()) -> Html:
    """A drawing with its axes. ``title`` and ``description`` are for those who hear the page instead of seeing it."""
    grid = [*_grid(x, vertical=True), *_grid(y, vertical=False)]
    drawing = element(
        "svg",
        element("title", title),
        element("desc", description),
        element("path", d="".join(grid), class_="grid"),
        marks,
        viewBox=f"0 0 {UNITS} {UNITS}",
        preserveAspectRatio="none",
        role="img",
    )
    return element(
        "div",
        element("div", y.name, class_="y-name", aria_hidden="true"),
        element("div", [_tick(text, top=1 - y.axis.place(v)) for v, text in y.ticks], class_="y", aria_hidden="true"),
        element("div", drawing, map(_note, notes), class_="area"),
        element("div", [_tick(text, left=x.axis.place(v)) for v, text in x.ticks], class_="x", aria_hidden="true"),
        element("div", x.name, class_="x-name", aria_hidden="true"),
        class_="plot",
    )


def strip(*marks: Child, class_: str = "strip") -> Html:
    """A small drawing beside the numbers that it shows; it says nothing more than they do."""
    box = f"0 0 {UNITS} {UNITS}"
    return element("svg", marks, viewBox=box, preserveAspectRatio="none", class_=class_, aria_hidden="true")


def path(d: str, class_: str) -> Html:
    """A line or an area."""
    return element("path", d=d, class_=class_)


def line(x: ArrayLike, y: ArrayLike) -> str:
    """Path data through points given as shares of the width and height, y upwards."""
    return "M" + "L".join(f"{a} {b}" for a, b in _units(x, y))


def stairs(x: ArrayLike, y: ArrayLike) -> str:
    """Path data of a cumulative distribution: level to the next value, then up."""
    points = [(0, UNITS), *_units(x, y)]
    moves = itertools.pairwise(points)
    return f"M0 {UNITS}" + "".join(_step("h", c - a) + _step("v", d - b) for (a, b), (c, d) in moves) + f"H{UNITS}"


def dots(x: ArrayLike, y: ArrayLike) -> str:
    """Path data of round points (strokes without length, round at their ends)."""
    return "".join(f"M{a} {b}h0" for a, b in _units(x, y))


def spans(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> str:
    """Path data of vertical lines; one without length is a point."""
    pairs = zip(_units(x, low), _units(x, high), strict=True)
    return "".join(f"M{a} {b}h0" if b == top else f"M{a} {b}V{top}" for (a, b), (_, top) in pairs)


def columns(edges: ArrayLike, heights: ArrayLike) -> str:
    """Path data of the columns of a histogram."""
    places = _units(edges, np.zeros(np.size(edges)))
    tops = [b for _, b in _units(np.zeros(np.size(heights)), heights)]
    sides = zip(places[:-1], places[1:], tops, strict=True)
    return "".join(f"M{a} {UNITS}V{top}H{b}V{UNITS}" for (a, _), (b, _), top in sides if top < UNITS)


def legend(entries: Iterable[tuple[str, Child]]) -> Html:
    """What the line styles mean: (class, words)."""
    return element("ul", [element("li", words, class_=key) for key, words in entries], class_="legend")


def _units(x: ArrayLike, y: ArrayLike) -> list[tuple[int, int]]:
    across = np.rint(np.asarray(x, float) * UNITS).astype(int).ravel().tolist()
    down = np.rint((1 - np.asarray(y, float)) * UNITS).astype(int).ravel().tolist()
    return list(zip(across, down, strict=True))


def _step(way: str, units: int) -> str:
    return f"{way}{units}" if units else ""


def _grid(scale: Scale, *, vertical: bool) -> Iterable[str]:
    for value, _ in scale.ticks:
        at = round((scale.axis.place(value) if vertical else 1 - scale.axis.place(value)) * UNITS)
        yield f"M{at} 0V{UNITS}" if vertical else f"M0 {at}H{UNITS}"


def _tick(text: str, **place: float) -> Html:
    return element("span", text, style=_placed(**place))


def _note(note: Note) -> Html:
    side = {"right": 1 - note.x} if note.ends else {"left": note.x}
    return element("span", note.text, class_="note", style=_placed(top=note.y, **side))


def _placed(**place: float) -> str:
    return "".join(f"{side}:{100 * share:.4g}%;" for side, share in place.items())
