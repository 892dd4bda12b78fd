"""How values are written, and what the bottleneck paragraph may claim."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.reporting.bottleneck import heaviest
from npueval.reporting.cells import missing, number
from support.make_runs import make_case


@given(st.floats(min_value=1e-3, max_value=1e9))
def test_a_number_keeps_its_value_and_is_written_without_an_exponent(value: float) -> None:
    written = number(value)
    assert re.fullmatch(r"\d+(\.\d+)?", written)
    assert float(written) == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0"), (0.04125, "0.04125"), (12.3456, "12.35"), (999.96, "1000"), (20412.4, "20412"), (0.9917, "0.9917")],
)
def test_numbers_have_four_significant_digits(value: float, written: str) -> None:
    assert number(value) == written


def test_a_gap_is_never_without_its_reason() -> None:
    assert missing("缺 GPU") == "N/A（缺 GPU）"


def stages(**milliseconds: float) -> dict[str, np.ndarray]:
    return {name: np.full(200, int(ms * 1e6)) for name, ms in milliseconds.items()}


@pytest.mark.parametrize(
    ("samples", "named"),
    [
        (stages(preprocess=1.0, infer=9.0), ["infer"]),
        (stages(preprocess=4.0, infer=6.0), ["infer", "preprocess"]),
        (stages(preprocess=1.0, h2d=5.0, infer=2.0, postprocess=1.9), ["h2d"]),
        (stages(infer=2.0), ["infer"]),
        (stages(queue=50.0, infer=2.0, postprocess=1.0), ["infer", "postprocess"]),
    ],
)
def test_one_or_two_stages_are_named_and_only_with_a_share_that_counts(
    samples: dict[str, np.ndarray], named: list[str]
) -> None:
    found = heaviest(make_case(samples=samples))
    assert [name for name, _, _ in found] == named
    assert sum(share for _, _, share in found) <= 1.0


def test_the_median_of_the_bottleneck_is_that_of_the_tables() -> None:
    """An even number of samples: the mean of the middle two is a time that no sample took."""
    case = make_case(samples={"infer": np.array([1, 2, 4, 9] * 3, np.int64) * 1_000_000})
    assert heaviest(case)[0][1] == case.summary("infer").p50 == 2.0
