"""What is said of a noisy series must be true of the curve beneath it."""

import numpy as np
import pytest

from npueval.statistics import trends

REPEATS = 300


def noisy(curve, noise, random, memory=0.0):
    shocks = random.normal(size=curve.size)
    for i in range(1, curve.size):
        shocks[i] = memory * shocks[i - 1] + (1 - memory**2) ** 0.5 * shocks[i]
    return curve + noise * shocks


def test_change_covers_the_true_change():
    random = np.random.default_rng(5)
    curve = np.r_[np.full(60, 2.0), np.linspace(2.0, 1.2, 80), np.full(60, 1.2)]
    hits = 0
    for _ in range(REPEATS):
        found = trends.change(noisy(curve, 0.1, random))
        hits += found.interval.low <= -0.4 <= found.interval.high
    assert hits / REPEATS > 0.88


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_slope_covers_the_true_slope(memory):
    random = np.random.default_rng(6)
    curve = np.linspace(3, 2, 150)
    hits = 0
    for _ in range(REPEATS):
        _, bounds = trends.slope(noisy(curve, 0.3, random, memory))
        hits += bounds.low <= -1 / 149 <= bounds.high
    assert hits / REPEATS > 0.88


def test_outliers_move_nothing():
    series = np.linspace(2, 1, 100)
    spoiled = series.copy()
    spoiled[[1, 50, 98]] = 1e6
    assert trends.change(spoiled).relative == pytest.approx(trends.change(series).relative, abs=0.05)
    assert trends.slope(spoiled)[0] == pytest.approx(trends.slope(series)[0], rel=0.05)


def test_the_window_is_as_short_as_the_noise_allows():
    random = np.random.default_rng(7)
    curve = np.linspace(2, 1, 200)
    assert trends.change(curve).window == 3
    assert trends.change(noisy(curve, 0.2, random)).window > 8
    assert trends.change(noisy(curve, 5.0, random)).window == 20


def test_a_long_series_is_judged_in_bounded_time_by_all_of_it():
    found, bounds = trends.slope(np.linspace(0, 1, 100_000))
    assert found == pytest.approx(1e-5, rel=1e-4)
    assert bounds.low <= found <= bounds.high


def test_steadiness():
    falling = trends.steadiness(np.linspace(2, 1, 50))
    assert (falling.tau, falling.rebound) == (-1.0, 0.0)
    assert trends.steadiness(np.r_[np.linspace(2, 1, 50), np.linspace(1, 1.5, 50)]).rebound == pytest.approx(
        0.47, abs=0.1
    )
    assert trends.steadiness(np.linspace(1, 2, 50)).tau == 1.0
    assert trends.steadiness(np.ones(50)).rebound == 0.0


def test_teeth_are_found_only_where_they_are():
    random = np.random.default_rng(8)
    saw = 2 - (np.arange(90) % 15) / 15
    assert trends.teeth(noisy(saw, 0.01, random)) == (0, 15)
    assert trends.teeth(saw[4:]) == (11, 15)
    for other in (random.normal(size=200), np.linspace(2, 1, 100), np.r_[np.linspace(2, 1, 50), np.linspace(2, 1, 50)]):
        assert trends.teeth(other) is None
    assert trends.teeth(saw[:10]) is None


def test_a_series_that_starts_at_zero():
    assert trends.change(np.r_[np.zeros(10), np.full(30, 0.7)]).relative == 1.0
    assert trends.change(np.zeros(30)).relative == 0.0
