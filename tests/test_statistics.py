"""Known distributions are drawn, and what is said of them must be true of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval import statistics
from npueval.statistics.autocorrelation import autocorrelation_time, effective_samples

TRUTH_DRAWS = 400_000
REPEATS = 240
# Of 240 intervals of 95 % coverage, fewer than 213 (88.8 %) hold the truth once in 25,000 times.
LEAST_COVER = 0.887


def normal(generator, n):
    return 100 + 3 * generator.normal(size=n)


def log_normal(generator, n):
    return 100 * np.exp(0.3 * generator.normal(size=n))


def bimodal(generator, n):
    return np.where(generator.random(n) < 0.8, 100.0, 150.0) + generator.normal(size=n)


def autocorrelated(generator, n):
    """First-order autoregressive with coefficient 0.5: the same marginal as ``normal``, a third of its news."""
    noise = generator.normal(size=n + 64) * np.sqrt(1 - 0.25)
    weights = 0.5 ** np.arange(64)
    return 100 + 3 * np.convolve(noise, weights)[64 : n + 64]


DISTRIBUTIONS = [normal, log_normal, bimodal, autocorrelated]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.sampled_from([0.5, 0.9, 0.95, 0.99, 1.0]))
def test_a_percentile_is_the_smallest_sample_with_enough_below_it(samples, p):
    found = statistics.percentile(samples, p)
    assert found in samples
    assert sum(s <= found for s in samples) >= p * len(samples) - 1e-9
    assert sum(s < found for s in samples) < p * len(samples)


def test_no_samples_have_no_percentile():
    with pytest.raises(ValueError, match="no samples"):
        statistics.percentile([], 0.5)
    with pytest.raises(ValueError, match="no samples"):
        statistics.summarise([])


@pytest.mark.parametrize(("p", "least"), [(0.50, 6), (0.95, 72), (0.99, 368)])
def test_an_interval_exists_only_from_enough_samples(p, least):
    series = np.random.default_rng(0).normal(size=(20, least))
    assert statistics.least_samples(p) == least
    # By chance a few of twenty look autocorrelated and count as fewer.
    assert sum(statistics.interval(samples, p) is not None for samples in series) > 15
    assert all(statistics.interval(samples[:-1], p) is None for samples in series)


def test_a_summary_withholds_what_n_does_not_allow():
    samples = np.random.default_rng(0).normal(size=100)
    assert statistics.summarise(samples).p99 is None
    assert statistics.summarise(samples).p95 is not None
    few = statistics.summarise(samples[:5])
    assert (few.n, few.p50, few.p95, few.intervals) == (5, None, None, {})
    assert few.mean == pytest.approx(samples[:5].mean())
    assert statistics.summarise([7]).std == 0


def test_outliers_are_counted_and_kept():
    samples = np.concatenate([np.random.default_rng(1).normal(100, 1, size=200), [1000.0, 2000.0]])
    summary = statistics.summarise(samples)
    assert (summary.outliers, summary.max, summary.n) == (2, 2000.0, 202)
    assert statistics.summarise([5] * 20).outliers == 0


@pytest.mark.parametrize("p", [0.50, 0.95])
@pytest.mark.parametrize("draw", DISTRIBUTIONS)
def test_the_interval_of_a_percentile_covers(draw, p):
    generator = np.random.default_rng(7)
    truth = statistics.percentile(draw(generator, TRUTH_DRAWS), p)
    intervals = [statistics.interval(draw(generator, 400), p) for _ in range(REPEATS)]
    found = [i for i in intervals if i]
    assert len(found) > 0.95 * REPEATS
    assert np.mean([i.low <= truth <= i.high for i in found]) >= LEAST_COVER


@pytest.mark.parametrize("draw", DISTRIBUTIONS)
def test_the_interval_of_p99_covers(draw):
    generator = np.random.default_rng(8)
    truth = statistics.percentile(draw(generator, TRUTH_DRAWS), 0.99)
    intervals = [statistics.interval(draw(generator, 1500), 0.99) for _ in range(REPEATS)]
    found = [i for i in intervals if i]
    assert len(found) > 0.9 * REPEATS
    assert np.mean([i.low <= truth <= i.high for i in found]) >= LEAST_COVER


@pytest.mark.parametrize("statistic", ["p50", "p95", "throughput"])
@pytest.mark.parametrize("draw", DISTRIBUTIONS)
def test_the_interval_of_a_ratio_covers(draw, statistic):
    generator = np.random.default_rng(9)
    truth = 1 / 1.25 if statistic == "throughput" else 1.25
    ratios = [
        statistics.ratio(1.25 * draw(generator, 240), draw(generator, 160), statistic, resamples=600)
        for _ in range(REPEATS)
    ]
    # A block bootstrap of a few dozen blocks is known to be a little too narrow.
    assert np.mean([r.low <= truth <= r.high for r in ratios]) >= LEAST_COVER - 0.04 * (draw is autocorrelated)


def test_ignoring_autocorrelation_would_not_cover():
    """The reason why the effective number of samples is used at all."""
    generator = np.random.default_rng(10)

    def slow(n):
        noise = generator.normal(size=n + 256)
        return np.convolve(noise, 0.9 ** np.arange(256))[256 : n + 256]

    series = [slow(2000) for _ in range(REPEATS)]
    ours = [statistics.interval(s, 0.5) for s in series]
    shuffled = [statistics.interval(generator.permutation(s), 0.5) for s in series]
    assert np.mean([i.low <= 0 <= i.high for i in ours]) >= LEAST_COVER
    assert np.mean([i.low <= 0 <= i.high for i in shuffled]) < 0.6


def test_autocorrelation_time_of_known_series():
    generator = np.random.default_rng(11)
    independent = generator.normal(size=100_000)
    assert autocorrelation_time(independent) == 1
    assert effective_samples(independent) == 100_000
    # A first-order autoregressive series has (1 + φ) / (1 - φ).
    assert autocorrelation_time(autocorrelated(generator, 200_000)) == pytest.approx(3, rel=0.1)
    assert autocorrelation_time([4.0] * 1000) == 1
    assert autocorrelation_time(np.arange(1000)) > 100


def test_a_hundred_independent_samples_count_as_a_hundred():
    generator = np.random.default_rng(12)
    lessened = [effective_samples(generator.normal(size=100)) < 100 for _ in range(400)]
    assert np.mean(lessened) < 0.08


def test_a_ratio_is_reproducible_and_reads_both_ways():
    generator = np.random.default_rng(13)
    a, b = normal(generator, 200), normal(generator, 200)
    first = statistics.ratio(a, b, "p50")
    assert first == statistics.ratio(a, b, "p50")
    assert first.value == pytest.approx(statistics.percentile(a, 0.5) / statistics.percentile(b, 0.5))
    assert first.inverse().inverse().low == pytest.approx(first.low)
    assert first.scaled(2).high == pytest.approx(2 * first.high)
    assert statistics.ratio(a[:71], b, "p95") is None


def test_what_chance_does_to_one_side_it_does_not_do_to_the_other():
    """Were both sides resampled alike, a series over itself would be 1.0 without any doubt."""
    series = log_normal(np.random.default_rng(14), 200)
    for statistic in ("p50", "p95", "throughput"):
        found = statistics.ratio(series, series, statistic)
        assert found.value == 1 and found.low < 0.99 and found.high > 1.01


def test_samples_without_spread_have_no_width():
    """Nothing can be said of their chance: whoever shows the ratio must say so instead of an interval."""
    found = statistics.ratio([4] * 100, [8] * 100, "p50")
    assert found.low == found.high == found.value == 0.5


def test_both_ends_of_an_interval_are_told_apart():
    assert statistics.apart(0.39312, 0.39338) == ("0.3931", "0.3934")
    assert statistics.apart(0.39312, 0.39338, "%", 1) == ("39.31%", "39.34%")
    assert statistics.apart(1.2, 3.4) == ("1.2", "3.4")


def test_blocks_of_a_long_series_cover_as_single_samples_do():
    generator = np.random.default_rng(15)
    pairs = [(log_normal(generator, 3000), log_normal(generator, 3000)) for _ in range(60)]
    ratios = [statistics.ratio(a, b, "throughput", resamples=1000) for a, b in pairs]
    assert np.mean([r.low <= 1 <= r.high for r in ratios]) >= 0.85
    exact = np.mean([2 * 1.96 * np.hypot(a.std() / a.mean(), b.std() / b.mean()) / 3000**0.5 for a, b in pairs])
    assert np.mean([r.high - r.low for r in ratios]) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(
    ("low", "high", "direction", "verdict"),
    [
        (1.03, 1.05, "higher", "better"),
        (1.03, 1.05, "lower", "worse"),
        (0.90, 0.95, "lower", "better"),
        (0.99, 1.01, "higher", "same"),
        (1.01, 1.05, "higher", "undecided"),
        (0.90, 1.10, "lower", "undecided"),
    ],
)
def test_a_verdict_needs_the_whole_interval(low, high, direction, verdict):
    ratio = statistics.Ratio((low * high) ** 0.5, low, high, "p50")
    assert statistics.verdict(ratio, direction, margin=0.02) == verdict


def test_drift_compares_the_last_third_with_the_first():
    assert statistics.drift([10] * 30 + [11] * 30 + [12] * 30) == pytest.approx(1.2)
