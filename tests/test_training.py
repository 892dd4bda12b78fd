"""Curves of every shape, and what must be said of them."""

import math

import numpy as np
import pytest

from npueval.logs.extracting import extract
from npueval.logs.logged import Column, Series
from npueval.records import Citation
from npueval.training import Band, curves, judge_formal, judge_short
from npueval.training.bounds import bounds
from npueval.training.curves import Curve, of_log, of_values

N = 100
TIME = np.linspace(0, 1, N)
TOOTH = (np.arange(N) % 20) / 20


def falling(share, n=N):
    """From 2.3 down by ``share``, fast at first, as a loss does."""
    return 2.3 * (1 - share * (1 - np.exp(-3 * np.linspace(0, 1, n))) / (1 - np.exp(-3)))


def shaken(curve, noise=0.02):
    return curve * (1 + noise * np.random.default_rng(20).normal(size=curve.size))


def broken_at_90(curve):
    curve[89] = np.nan
    return curve


CURVES = {
    "falling 40 %": (shaken(falling(0.4)), "passed", ""),
    "falling 20 %": (shaken(falling(0.2)), "failed", "less than 30%"),
    "falling 60 %": (shaken(falling(0.6)), "passed", ""),
    "flat": (shaken(np.full(N, 1.7)), "failed", "less than 30%"),
    "constant": (np.full(N, 1.7), "failed", "less than 30%"),
    "rising": (shaken(2.3 + TIME), "failed", "rose from"),
    "noisy but falling": (shaken(falling(0.45), 0.12), "passed", ""),
    "too noisy to tell": (shaken(falling(0.25), 0.2), "undecided", "too noisy"),
    "falling, then rising": (
        shaken(np.where(TIME < 0.5, 2.3 - 2.6 * TIME, 1 + 0.9 * (TIME - 0.5))),
        "failed",
        "rose again",
    ),
    "down and up in waves": (
        shaken(np.where(TIME < 0.9, 2.3 + 0.3 * np.sin(12 * TIME), 1.4)),
        "failed",
        "not steadily",
    ),
    "NaN at step 90": (broken_at_90(falling(0.4)), "failed", "NaN or Inf (first at step 90)"),
    "falling sawtooth by epoch": (shaken(falling(0.45) * (1.2 - 0.4 * TOOTH), 0.005), "passed", ""),
    "flat sawtooth by epoch": (shaken(2.3 - TOOTH, 0.005), "failed", "less than 30%"),
    "12 points only": (falling(0.4)[:12], "undecided", "only 12 points, 20 are needed"),
    "zero throughout": (np.zeros(N), "failed", "0.0 throughout"),
    "negative": (falling(0.4) - 2, "undecided", "not positive"),
    "one spike": (np.where(np.arange(N) == 40, 900.0, falling(0.4)), "passed", ""),
}


@pytest.mark.parametrize("name", CURVES)
def test_the_short_test_s_verdict(name):
    values, status, words = CURVES[name]
    found = judge_short(of_values("loss", values))
    assert (found.status, found.passed) == (status, status == "passed"), found.reason.en
    assert words in found.reason.en
    assert found.reason.zh != found.reason.en


def test_the_exact_drop_is_told():
    found = judge_short(of_values("loss", shaken(falling(0.4), 0.01)))
    assert found.drop == pytest.approx(0.4, abs=0.03)
    assert found.low < found.drop < found.high
    assert f"{found.drop:.1%}" in found.reason.zh


def notes(values):
    return [note.en for note in judge_short(of_values("loss", values)).notes]


def test_what_stands_beside_the_verdict():
    assert notes(falling(0.6)) == ["more than 50%, which passes too"]
    assert notes(falling(0.3)) == ["a little under 30%, which passes"]
    assert "sawtooth of 20 points" in notes(2.3 - TOOTH)[0]
    assert "still falling" in notes(falling(0.15))[0]
    assert "look at the optimiser" in notes(np.full(N, 2.0))[0]
    guessing = np.r_[np.linspace(2.7, 2.303, 20), np.full(80, 2.303)]
    assert "guessing among 10 classes" in notes(shaken(guessing, 0.01))[0]


def test_the_project_s_own_band():
    curve = of_values("loss", falling(0.2))
    assert judge_short(curve, Band(0.15, 0.5)).passed
    assert not judge_short(of_values("loss", falling(0.4)), Band(0.6, 0.8)).passed


FORMAL = {
    "improves": (shaken(falling(0.5, 800)), 1, "fine", "improved by"),
    "flat, early": (shaken(np.full(300, 1.7)), 1, "more", "at most 200"),
    "flat, late": (shaken(np.full(800, 1.7)), 1, "stop", "more than 500 steps"),
    "flat, late, one value in ten steps": (shaken(np.full(100, 1.7)), 10, "stop", "more than 500 steps"),
    "worse": (shaken(np.linspace(1.7, 2.9, 200)), 1, "stop", "gets worse"),
    "broken": (broken_at_90(falling(0.5)), 1, "stop", "NaN or Inf"),
    "zero": (np.zeros(200), 1, "stop", "0.0 throughout"),
    "short": (falling(0.5)[:12], 1, "undecided", "only 12 points"),
}


def every(values, stride, direction="lower", metric="loss"):
    made = of_values(metric, values, direction=direction)
    return Curve(
        metric, made.values, tuple(stride * step for step in made.steps), direction, not_finite=made.not_finite
    )


@pytest.mark.parametrize("name", FORMAL)
def test_the_verdict_on_formal_training(name):
    values, stride, status, words = FORMAL[name]
    found = judge_formal(every(values, stride))
    assert found.status == status, found.reason.en
    assert words in found.reason.en
    assert bool(found.checks) == (status == "stop")


def test_the_project_s_own_threshold():
    curve = every(shaken(np.full(300, 1.7)), 1)
    assert judge_formal(curve, 200).status == "stop"
    assert judge_formal(curve, 2000).status == "more"


def test_a_flat_curve_is_not_taken_for_an_improvement():
    statuses = []
    for seed in range(100):
        values = 1.7 * (1 + 0.03 * np.random.default_rng(seed).normal(size=600))
        statuses.append(judge_formal(every(values, 1)).status)
    assert statuses.count("stop") >= 95


def test_a_score_is_better_when_higher():
    assert judge_formal(every(np.linspace(0.1, 0.8, 60), 20, "higher", "top1")).status == "fine"
    assert judge_formal(every(np.linspace(0.8, 0.1, 60), 20, "higher", "top1")).status == "stop"
    assert judge_formal(every(np.linspace(0.0, 0.7, 60), 20, "higher", "top1")).status == "fine"


def test_what_has_settled_is_said_to_have():
    settled = np.r_[falling(0.5, 300), np.full(900, 1.15)]
    assert "no change in the last 500 steps" in judge_formal(every(shaken(settled), 1)).notes[0].en
    assert judge_formal(every(falling(0.5, 1200), 1)).notes == ()


def series(*pieces, path="train.log", lost=None):
    """Series as the log reader makes them, from pieces of (epoch, step, value)."""
    made = []
    for piece in pieces:
        one = Series(Column("loss"), "train")
        for line, (epoch, step, value) in enumerate(piece, start=1):
            one.add(value, (epoch, step), line, "")
        made.append(one)
    if lost is not None:
        made[lost].refuse(Citation(path, 97, "loss nan"))
    return made


def steps(first, last, epoch=-1.0, value=1.0):
    return [(epoch, float(step), value) for step in range(first, last + 1)]


def test_two_restarts_in_one_log_leave_the_last_attempt():
    curve = of_log(series(steps(1, 30), steps(1, 40, value=2.0), steps(1, 25, value=3.0), lost=0))
    assert (len(curve.values), curve.left_out, curve.not_finite) == (25, 2, None)
    assert set(curve.values) == {3.0}
    assert "2 earlier attempts" in judge_short(curve).notes[0].en
    assert "2 earlier attempts" in judge_formal(curve).notes[0].en
    assert of_log(series(steps(1, 30), steps(1, 40), lost=1)).not_finite == "train.log:97"


@pytest.mark.parametrize(
    ("lines", "metric", "steps"),
    [
        (["step {0}: loss 2.{0}"], "loss", (1, 2, 3)),
        (["step {0}/100 loss 2.{0}"], "loss", (1, 2, 3)),
        (["step {0}: train loss 3.{0}, val loss 4.{0}"], "train_loss", (1, 2, 3)),
        (["step {0}: train loss 3.{0}, val loss 4.{0}", "iter {0}: loss 2.{0}, time 12.3ms"], "loss", (1, 2, 3)),
        (["2023-01-01 10:00:00 - INFO - Iter [{0}/9]  task0.loss_xy: 1.{0}, loss: 2.{0}"], "loss", (1, 2, 3)),
    ],
)
def test_the_training_loss_of_a_log_is_the_total_at_every_step(lines, metric, steps, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"{line.format(step)}\n" for step in (1, 2, 3) for line in lines), encoding="utf-8")
    curve = curves.of_runs(extract(log).runs)
    assert (curve.metric, curve.steps, curve.numbered) == (metric, steps, True)


def test_a_resume_continues_the_curve_where_it_began():
    curve = of_log(series(steps(1, 400), steps(351, 800, value=2.0)))
    assert (len(curve.values), curve.span, curve.left_out) == (800, 800, 0)
    assert curve.values[349:351] == (1.0, 2.0)


def test_steps_that_begin_anew_in_each_epoch_are_added_up():
    curve = of_log(series(steps(1, 45, 1.0) + steps(1, 45, 2.0) + steps(1, 45, 3.0)))
    assert curve.steps == tuple(map(float, range(1, 136)))
    going_on = of_log(series(steps(1, 45, 1.0) + steps(46, 90, 2.0)))
    assert going_on.span == 90


def test_a_log_without_steps():
    curve = of_log(series([(float(epoch), -1.0, 1.0) for epoch in range(1, 31)]))
    assert (curve.numbered, curve.steps[-1]) == (False, 30)
    assert "prints no steps" in judge_formal(curve).notes[0].en
    assert curves.of_values("loss", []).span == 0


def test_a_curve_that_left_the_level_of_guessing_is_not_said_to_guess():
    """Flat at ln 7 and gone from there in the last steps: the end is what the hint speaks of."""
    told = judge_short(of_values("loss", [math.log(7)] * 95 + [1.0] * 5))
    assert not any("guessing" in note.en for note in told.notes)
    stuck = judge_short(of_values("loss", [math.log(7) + 0.01 * (-1) ** n for n in range(100)]))
    assert any("guessing" in note.en for note in stuck.notes)


def test_a_curve_without_noise_says_so_instead_of_an_interval_of_no_width():
    smooth = judge_short(of_values("loss", [2.0] * 30 + [1.0] * 30))
    assert "故无区间" in smooth.reason.zh and "so no interval" in smooth.reason.en
    nearly = bounds(0.39312, 0.39338)
    assert (nearly.zh, nearly.en) == ("95% 区间 39.31% 至 39.34%", "95 % interval 39.31% to 39.34%")
