"""Bounds, directions, and what chance does to a share."""

import math

import numpy as np
import pytest

from npueval.comparing import accuracy
from npueval.plan import AccuracyTarget
from npueval.records import Value
from npueval.statistics.proportions import wilson

NONE = Value(reason="没有基线")


def target(metric="top1", direction="higher", **bounds):
    return AccuracyTarget(metric, direction, **bounds)


def judged(measured, baseline=None, n=None, refusal="", **wishes):
    base = NONE if baseline is None else Value(baseline, n=n)
    return accuracy.judge(target(**wishes), Value(measured, n=n), base, refusal)


def test_wilson_s_interval():
    known = wilson(352 / 360, 360)
    assert (round(known.low, 4), round(known.high, 4)) == (0.9568, 0.9887)
    assert wilson(0, 10).low == 0
    assert wilson(1, 10).high == 1
    assert round(wilson(0, 10).high, 4) == 0.2775
    for wrong in ((-0.1, 5), (1.1, 5), (0.5, 0), (math.nan, 5)):
        with pytest.raises(ValueError, match="not a share"):
            wilson(*wrong)


@pytest.mark.parametrize(("share", "n"), [(0.1, 40), (0.5, 30), (0.978, 360), (0.995, 1000)])
def test_wilson_s_interval_covers(share, n):
    hits = np.random.default_rng(4).binomial(n, share, size=4000)
    intervals = {hit: wilson(hit / n, n) for hit in set(hits.tolist())}
    covered = np.mean([intervals[hit].low <= share <= intervals[hit].high for hit in hits.tolist()])
    assert 0.93 < covered < 0.98


@pytest.mark.parametrize(
    ("measured", "baseline", "wishes", "verdict"),
    [
        (0.97, None, {"minimum": 0.97}, "无法判定"),
        (0.97, 0.98, {"minimum": 0.97}, "达标"),
        (0.969, None, {"minimum": 0.97}, "不达标"),
        (0.97, 0.98, {"min_ratio": 0.99}, "不达标"),
        (0.9703, 0.98, {"min_ratio": 0.99}, "达标"),
        (0.975, 0.98, {"max_drop": 0.005}, "达标"),
        (0.9749, 0.98, {"max_drop": 0.005}, "不达标"),
        (0.99, 0.98, {"max_drop": 0.005, "minimum": 0.995}, "不达标"),
        (0.975, None, {"max_drop": 0.005}, "无法判定"),
        (0.9, None, {"max_drop": 0.005, "minimum": 0.95}, "不达标"),
        (3.2, 3.0, {"metric": "ppl", "direction": "lower", "max_drop": 0.1}, "不达标"),
        (3.1, 3.0, {"metric": "ppl", "direction": "lower", "max_drop": 0.1}, "达标"),
        (3.03, 3.0, {"metric": "ppl", "direction": "lower", "min_ratio": 0.99}, "达标"),
        (3.04, 3.0, {"metric": "ppl", "direction": "lower", "min_ratio": 0.99}, "不达标"),
        (0.2, None, {"metric": "loss", "direction": "lower", "minimum": 0.3}, "无法判定"),
        (0.2, 0.2, {"metric": "loss", "direction": "lower", "minimum": 0.3}, "达标"),
        (0.0, None, {"metric": "loss", "direction": "lower", "minimum": 0.3}, "不达标"),
        (math.nan, 0.98, {"max_drop": 0.5}, "不达标"),
        (math.inf, None, {"metric": "loss", "direction": "lower", "minimum": 0.3}, "不达标"),
    ],
)
def test_every_bound_in_both_directions(measured, baseline, wishes, verdict):
    assert judged(measured, baseline, **wishes)[0] == verdict


def test_sampling_error_stands_beside_the_verdict():
    verdict, reason = judged(352 / 360, 353 / 360, n=360, max_drop=0.005)
    assert verdict == "达标"
    assert reason.startswith("n=360，95% 区间 [0.9568, 0.9887]；与基线相差 -1 个样本，未超出抽样误差；")
    assert reason.endswith("阈值落在区间内：换一批样本，结论可能不同")
    assert "，超出抽样误差" in judged(0.90, 0.98, n=360, minimum=0.8)[1]
    assert accuracy.interval("mAP50", Value(0.5, n=100)) is None
    assert accuracy.interval("top1", Value(0.5)) is None
    assert accuracy.interval("val_accuracy", Value(0.5, n=100)) is not None


def test_a_figure_at_the_level_of_guessing_is_called_that():
    verdict, reason = judged(37 / 360, 0.98, n=360, max_drop=0.005)
    assert verdict == "不达标"
    assert "在 10 类中猜测" in reason
    assert "猜测" not in judged(0.9, 0.98, n=360, max_drop=0.005)[1]


def test_what_does_not_compare_is_open():
    assert judged(0.97, 0.98, refusal="不可比：样本数 360 与 10000", max_drop=0.05) == (
        "无法判定",
        "不可比：样本数 360 与 10000",
    )
    assert accuracy.judge(target(minimum=0.5), Value(reason="未测"), NONE) == ("无法判定", "未测")
    assert judged(0.97, None, n=None, max_drop=0.05) == ("无法判定", "没有基线")


def test_an_absolute_bound_alone_is_not_met_without_a_baseline():
    assert judged(0.97, minimum=0.9) == ("无法判定", "绝对目标已满足，但没有精度基线（没有基线）")
    refused = judged(0.97, 0.96, refusal="不可比：样本数 360 与 10000", minimum=0.9)
    assert refused == ("无法判定", "绝对目标已满足，但不可比：样本数 360 与 10000")
    assert judged(0.8, minimum=0.9)[0] == "不达标"


def test_conditions_that_differ_are_said_before_anything_else():
    found = accuracy.judge(
        target(min_ratio=0.99), Value(0.98), Value(0.98), differences=("并行度 tp1/dp4 与 tp4", "精度")
    )
    assert found == ("达标", "两侧条件不同：并行度 tp1/dp4 与 tp4、精度")


def test_a_target_on_another_scale_is_neither_met_nor_missed():
    words = "不可比：一侧是百分数，一侧是小数"
    assert judged(0.761, 0.76, minimum=75) == ("无法判定", f"{words}（75 与 0.761）")
    assert judged(76.1, 76.0, minimum=0.75) == ("无法判定", f"{words}（76.1 与 0.75）")
    assert judged(0.2, 0.9, max_drop=1) == ("无法判定", f"{words}（容许下降 1，实测 0.2）")
    assert judged(76.1, 76.5, max_drop=0.5)[0] == "达标"
    assert judged(0.0, 0.9, minimum=0.75)[0] == "不达标"
    assert accuracy.scales("ppl", 3.2, 0.9) == ""


def test_a_percent_has_its_interval_and_its_guesses_in_percent():
    percent, share = (accuracy.interval("top1", Value(value, n=360)) for value in (97.5, 0.975))
    assert (percent.low, percent.high) == pytest.approx((100 * share.low, 100 * share.high))
    assert "在 10 类中猜测" in judged(1000 / 99, 98.0, n=360, max_drop=0.5)[1]


def test_a_matching_loss_proves_no_gradients():
    assert "梯度" in judged(0.31, 0.30, metric="loss", direction="lower", max_drop=0.02)[1]


def test_the_bounds_in_words():
    assert accuracy.target_text(target(minimum=0.9, min_ratio=0.99, max_drop=0.005)) == (
        "≥ 0.9；≥ 基线 × 0.99；≥ 基线 − 0.005"
    )
    assert accuracy.target_text(target("ppl", "lower", min_ratio=0.99, max_drop=0.1)) == "≤ 基线 ÷ 0.99；≤ 基线 + 0.1"
