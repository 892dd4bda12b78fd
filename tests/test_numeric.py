"""Every figure of a comparison against the plain formula over the whole arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.golden import numeric
from npueval.golden.numeric import Classes, difference
from npueval.tolerances import Tolerance, tolerance

FP32 = tolerance("fp32")


def compared(ref, hyp, limit=FP32, *, chunk=7, **wishes):
    ref, hyp = np.asarray(ref), np.asarray(hyp)
    flat = ref.reshape(-1), hyp.reshape(-1)
    pairs = ((flat[0][i : i + chunk], flat[1][i : i + chunk]) for i in range(0, ref.size, chunk))
    return difference(pairs, limit, ref.shape, **wishes)


@pytest.fixture(params=[3, 65_536], ids=["many blocks", "one block"], autouse=True)
def block(request, monkeypatch):
    monkeypatch.setattr(numeric, "_BLOCK", request.param)


@given(st.integers(1, 60), st.sampled_from([np.float16, np.float32, np.float64]), st.integers(0, 999))
def test_the_plain_formulas_give_the_same(n, dtype, seed):
    random = np.random.default_rng(seed)
    ref = (1e3 + random.normal(size=n)).astype(dtype)
    hyp = (ref + random.normal(scale=0.2, size=n)).astype(dtype)
    found = compared(ref, hyp)
    ref, hyp = ref.astype(float), hyp.astype(float)
    error = np.abs(hyp - ref)
    assert found.max_absolute == error.max()
    assert found.mean_absolute == pytest.approx(error.mean())
    assert found.max_relative == pytest.approx((error / np.maximum(abs(ref), FP32.atol)).max())
    assert found.outside == np.count_nonzero(error > FP32.atol + FP32.rtol * abs(ref))
    assert found.cosine == pytest.approx(ref @ hyp / np.linalg.norm(ref) / np.linalg.norm(hyp))
    assert found.reference.mean == pytest.approx(ref.mean())
    assert found.hypothesis.variance == pytest.approx(hyp.var(), abs=1e-9)
    assert [worst.error for worst in found.worst] == sorted(error[error > 0], reverse=True)[: numeric.WORST]


def test_the_worst_elements_carry_their_index_in_either_order():
    ref = np.arange(24.0).reshape(2, 3, 4)
    hyp = ref.copy()
    hyp[1, 2, 0] += 5
    hyp[0, 1, 3] -= 9
    worst = compared(ref, hyp).worst
    assert [(w.index, w.error) for w in worst] == [((0, 1, 3), 9.0), ((1, 2, 0), 5.0)]
    assert (worst[0].reference, worst[0].hypothesis) == ("7", "-2")
    in_file_order = compared(ref.ravel("F"), hyp.ravel("F")).worst
    pairs = [(ref.ravel("F"), hyp.ravel("F"))]
    assert len(in_file_order) == 2
    assert [w.index for w in difference(pairs, FP32, ref.shape, order="F").worst] == [(0, 1, 3), (1, 2, 0)]


def test_a_large_mean_costs_no_digits():
    ref = 1e9 + np.tile([0.0, 1.0], 500)
    found = compared(ref, ref)
    assert found.reference.variance == pytest.approx(0.25)
    assert found.cosine == 1.0


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("ref", "hyp", "outside", "outside_equal_nan"),
    [
        ([1, NAN], [1, NAN], 1, 0),
        ([1, INF], [1, INF], 0, 0),
        ([1, INF], [1, -INF], 1, 1),
        ([1, 2.0], [1, NAN], 1, 1),
        ([1, NAN], [1, 2.0], 1, 1),
        ([1, INF], [1, NAN], 1, 1),
        ([NAN, NAN], [NAN, NAN], 2, 0),
    ],
)
def test_what_is_not_finite_is_equal_only_to_itself(ref, hyp, outside, outside_equal_nan):
    found = compared(ref, hyp)
    assert found.outside == outside
    assert compared(ref, hyp, equal_nan=True).outside == outside_equal_nan
    assert found.reference.nan + found.reference.inf == np.count_nonzero(~np.isfinite(ref))
    assert found.max_absolute in (0.0, None)
    assert [w.error for w in found.worst] == [None] * outside


def test_only_finite_elements_have_a_mean():
    found = compared([1.0, NAN, 3.0], [1.0, 5.0, INF])
    assert found.reference.mean == 2.0
    assert found.hypothesis.mean == 3.0
    assert found.cosine is None
    assert compared([NAN], [NAN]).reference.mean is None


def test_integers_beyond_the_reach_of_float64_stay_apart():
    exact = FP32.for_integers()
    found = compared(np.array([2**53, -(2**63)]), np.array([2**53 + 1, 2**63 - 1]), exact)
    assert found.outside == 2
    assert found.worst[1].hypothesis == str(2**53 + 1)
    assert compared(np.array([0], np.uint8), np.array([255], np.uint8), exact).max_absolute == 255
    assert compared(np.array([-128], np.int8), np.array([127], np.int8), exact).max_absolute == 255


def test_booleans_and_complex_numbers():
    assert compared([True, False], [True, True], FP32.for_integers()).outside == 1
    found = compared([3 + 4j, 1j], [3 + 4j, 1j + 0.5])
    assert found.max_absolute == pytest.approx(0.5)
    assert found.reference.mean == pytest.approx(3.0)
    assert found.outside == 1
    ref, hyp = np.array([3 + 4j, 1j]), np.array([3 + 4j, 1j + 0.5])
    assert found.cosine == pytest.approx(np.vdot(ref, hyp).real / np.linalg.norm(ref) / np.linalg.norm(hyp))


def test_empty_and_scalar_arrays():
    empty = difference([], FP32, (0, 3))
    assert (empty.elements, empty.outside_share, empty.max_absolute, empty.worst) == (0, 0.0, None, ())
    scalar = compared(np.float32(2), np.float32(3))
    assert scalar.worst[0].index == ()


def test_classes_along_any_axis_and_nan_agrees_with_nothing():
    random = np.random.default_rng(1)
    ref = random.normal(size=(4, 5, 3))
    hyp = ref.copy()
    hyp[0, :, 0] = hyp[0, ::-1, 0] + 1e-9
    hyp[1, 2, 1] = NAN
    expected = np.mean((ref.argmax(1) == hyp.argmax(1)) & ~np.isnan(hyp).any(1))
    assert expected < 1
    assert compared(ref, hyp, chunk=15, classes=Classes(5, 3)).top1 == expected
    assert compared(ref, ref, chunk=30, classes=Classes(5, 3)).top1 == 1.0
    assert compared(ref, ref).top1 is None


def test_a_nan_agrees_where_wished_with_its_like():
    ref = np.array([[NAN, 1, 2], [NAN, 1, 2], [1, 2, 3], [NAN, 1, 2]])
    hyp = np.array([[NAN, 1, 2], [NAN, 2, 1], [1, NAN, 3], [0, 1, 2]])
    assert compared(ref, hyp, classes=Classes(3), chunk=3).top1 == 0.0
    assert compared(ref, hyp, classes=Classes(3), chunk=3, equal_nan=True).top1 == 0.25
    assert compared(ref, ref, classes=Classes(3), chunk=3, equal_nan=True).top1 == 1.0


def test_zero_under_a_zero_tolerance_has_no_relative_error():
    found = compared([0.0, 2.0], [1.0, 3.0], Tolerance(0.0, 0.0, "fp32"))
    assert (found.max_relative, found.outside) == (0.5, 2)


def test_numbers_near_the_end_of_float64():
    found = compared([1e308, 1.0], [-1e308, 1.0])
    assert found.outside == 1
    assert found.reference.variance is None
    assert found.cosine is None
