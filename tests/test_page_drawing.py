"""What is drawn is what was measured: fewer points, never fewer extremes; axes that hold and label their values."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npueval.reporting.page import axes, drawing, samples
from npueval.reporting.page.axes import Axis
from npueval.reporting.page.markup import Html, element, escaped

DURATIONS = arrays(np.float64, st.integers(1, 500), elements=st.floats(1e-3, 1e6))


class TestSamples:
    @given(DURATIONS, st.integers(1, 80))
    def test_strokes_keep_every_extreme(self, series: np.ndarray, most: int) -> None:
        drawn = samples.strokes(series, most)
        assert drawn.at.size == min(most, series.size)
        assert (drawn.low.min(), drawn.high.max()) == (series.min(), series.max())
        ends = [*drawn.at[1:].astype(int), series.size]
        for start, end, low, high in zip(drawn.at.astype(int), ends, drawn.low, drawn.high, strict=True):
            assert (low, high) == (series[start:end].min(), series[start:end].max())

    @given(DURATIONS, st.integers(2, 80))
    def test_steps_run_from_the_smallest_to_the_largest(self, series: np.ndarray, most: int) -> None:
        values, shares = samples.steps(series, most)
        assert values.size <= most
        assert (values[0], values[-1], shares[-1]) == (series.min(), series.max(), 1)
        for value, share in zip(values, shares, strict=True):
            assert np.mean(series < value) <= share <= np.mean(series <= value)

    @given(DURATIONS)
    def test_a_histogram_counts_every_sample_once(self, series: np.ndarray) -> None:
        found = samples.histogram(series, axes.between(*samples.core(series)))
        assert found.counts.sum() + found.beyond == series.size
        assert (np.diff(found.edges) > 0).all()
        assert found.farthest == series.max()

    def test_what_lies_far_out_is_counted_apart(self) -> None:
        series = np.array([*np.linspace(1, 2, 100), 50.0, 70.0])
        low, high = samples.core(series)
        assert (low, high) == (1.0, 2.0)
        assert samples.histogram(series, Axis(low, high)).beyond == 2


class TestAxes:
    @given(st.floats(1e-6, 1e6), st.floats(1.0, 1e6), st.integers(3, 8))
    def test_labels_are_few_round_and_within(self, low: float, factor: float, most: int) -> None:
        axis = axes.spanning([low, low * factor])
        ticks = axis.ticks(most)
        assert 1 <= len(ticks) <= most
        assert ticks == sorted(set(ticks))
        assert all(axis.low * (1 - 1e-9) <= tick <= axis.high * (1 + 1e-9) for tick in ticks)

    @given(st.floats(1e-6, 1e6), st.floats(1.001, 1e6), st.floats(0, 1))
    def test_places_and_values_are_inverse(self, low: float, factor: float, share: float) -> None:
        axis = axes.between(low, low * factor)
        (value,) = axis.values([share])
        assert axis.at([value])[0] == pytest.approx(share, abs=1e-6)
        assert axis.place(float(value)) == pytest.approx(share, abs=1e-6)

    def test_what_is_eight_times_as_large_asks_for_a_logarithm(self) -> None:
        assert axes.spanning([1, 8]).log
        assert not axes.spanning([1, 7.9]).log
        assert not axes.spanning([0, 100]).log

    def test_equal_values_lie_in_the_middle(self) -> None:
        assert axes.spanning([3.0, 3.0]).place(3.0) == pytest.approx(0.5)
        assert axes.spanning([0.0]).place(0.0) == pytest.approx(0.5)

    @given(st.lists(st.floats(0.01, 100), max_size=5))
    def test_one_is_in_the_middle_of_all_ratios(self, ratios: list[float]) -> None:
        axis = axes.around_one(*ratios)
        assert axis.place(1.0) == pytest.approx(0.5)
        assert all(0 < axis.place(ratio) < 1 for ratio in ratios)


class TestPaths:
    def test_stairs_go_level_then_up_and_end_at_the_edge(self) -> None:
        assert drawing.stairs([0.1, 0.1, 0.5], [0.25, 0.5, 1.0]) == "M0 1000h100v-250v-250h400v-500H1000"

    def test_a_span_without_length_is_a_point(self) -> None:
        assert drawing.spans([0.5, 0.5], [0.2, 0.2], [0.2, 0.6]) == "M500 800h0M500 800V400"

    def test_empty_columns_are_not_drawn(self) -> None:
        assert drawing.columns([0.0, 0.5, 1.0], [0.0, 1.0]) == "M500 1000V0H1000V1000"


class TestMarkup:
    @given(st.text())
    def test_text_stays_text(self, text: str) -> None:
        shown = escaped(text)
        assert not re.search("[<>\"'\x00-\x08\x1b\x7f\u202e\ud800-\udfff]", shown)
        assert escaped(text) in element("p", text, title=text)

    def test_markup_is_nested_and_text_is_not(self) -> None:
        inner = element("b", "1 < 2", class_="x")
        assert element("p", inner, None, ["a", ["&"]]) == '<p><b class="x">1 &lt; 2</b>a&amp;</p>'
        assert isinstance(inner, Html)

    def test_attributes_that_are_none_are_left_out(self) -> None:
        assert element("path", d="M0 0", aria_hidden="true", class_=None) == '<path d="M0 0" aria-hidden="true"/>'
