import pytest

from npueval.tolerances import DEFAULTS, ToleranceError, tolerance


def test_each_precision_has_its_own_and_each_part_can_be_overridden():
    assert {name: (t.rtol, t.atol) for name, t in DEFAULTS.items()} == {
        "fp16": (1e-2, 1e-3),
        "bf16": (1e-2, 1e-2),
        "fp32": (1e-4, 1e-5),
    }
    changed = tolerance("fp16", atol=5e-3)
    assert (changed.rtol, changed.atol) == (1e-2, 5e-3)
    assert str(changed) == "rtol 0.01, atol 0.005 (FP16)"
    assert tolerance("fp32", rtol=0, atol=0).rtol == 0


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
@pytest.mark.parametrize("parts", [{"atol": 1e-5}, {"rtol": 1e-4}, {"rtol": 1e-6, "atol": 0.0}])
def test_half_precision_is_not_held_to_fp32_tolerances(precision, parts):
    with pytest.raises(ToleranceError, match="FP32-grade") as caught:
        tolerance(precision, **parts)
    assert precision.upper() in caught.value.hint


def test_int8_needs_the_plan_s_word_and_nothing_is_negative():
    with pytest.raises(ToleranceError, match="no default"):
        tolerance("int8", rtol=0.1)
    assert tolerance("int8", rtol=0.1, atol=1.0).atol == 1.0
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ToleranceError, match="finite"):
            tolerance("fp32", rtol=wrong)


def test_integers_are_equal_or_wrong_unless_they_are_quantised_values():
    assert (tolerance("fp16").for_integers().rtol, tolerance("fp16").for_integers().atol) == (0, 0)
    quantised = tolerance("int8", rtol=0.0, atol=1.0)
    assert quantised.for_integers() is quantised
