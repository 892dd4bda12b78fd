"""Several cards: the slowest one's latency in each iteration, everybody's items, one window."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from npueval import runs
from npueval.errors import MeasurementError
from npueval.language import same
from npueval.measuring.ranks import Agreement, Ranks, merged, placed
from npueval.possible import impossible
from npueval.runs.cases import Case, Failure, Memory, Reading
from support.make_runs import make_run
from support.projects import TORCH, make_plan


def card(infer, **changes):
    samples = {"infer": np.array(infer), "d2h": np.full(len(infer), 1)}
    known = {"window_ns": sum(infer), "items": 4 * len(infer), "complete": True}
    return Case(4, "fp32", samples=samples, **{**known, **changes})


def test_latency_is_the_slowest_card_and_items_are_everybodys():
    both = merged([card([10, 50, 10], doubts=(same("grouped"),)), card([20, 20, 30])])
    np.testing.assert_array_equal(both.samples["infer"], [20, 50, 30])
    np.testing.assert_array_equal(both.nanoseconds(), [21, 51, 31])
    assert (both.cards, both.items, both.window_ns) == (2, 24, 70)
    assert both.throughput() == pytest.approx(24 / 70e-9)
    assert both.throughput_per_card() == pytest.approx(12 / 70e-9)
    assert "card 0: grouped" in [doubt.en for doubt in both.doubts]


def test_one_card_is_itself():
    alone = card([1, 2])
    assert merged([alone]) is alone


def test_what_a_card_did_not_finish_is_said():
    broken = card([10], complete=False, error="raised OSError", failures=(Failure(1, "raised OSError"),))
    both = merged([card([10, 10, 10]), broken])
    assert both.n == 1
    assert not both.complete
    assert both.error == "card 1: raised OSError"
    assert both.failures == (Failure(1, "card 1: raised OSError"),)
    assert any("finished 3, 1 samples" in doubt.en for doubt in both.doubts)
    assert merged([card([]), card([])]).n == 0


def test_memory_is_that_of_the_fullest_card():
    none = Reading(None, same("no mem_get_info"))
    first, second = Memory(Reading(1), Reading(5), none, Reading(9)), Memory(Reading(3), Reading(2), none, Reading(9))
    assert merged([card([1], memory=first), card([1], memory=second)]).memory == Memory(
        Reading(3), Reading(5), none, Reading(9)
    )


@pytest.mark.parametrize(
    "cards",
    [
        ([10, 50] * 10, [50, 10] * 10),
        ([20] * 20, [20] * 20),
    ],
    ids=["slow in turns", "alike"],
)
def test_what_several_cards_give_together_can_be_true(cards):
    """The slowest card of each iteration may be another each time: together they are slower than any of them."""
    case = merged([card([1_000_000 * each for each in series]) for series in cards])
    assert not [each for each in impossible(make_run(cards=2, cases=(case,))) if "add up" in each or "items" in each]


def test_a_card_that_was_broken_off_leaves_the_items_of_the_others():
    case = merged([card([10, 10, 10, 10]), card([10], complete=False, error="out of memory")])
    assert not [each for each in impossible(make_run(cards=2, cases=(case,))) if "items" in each]


def test_cards_of_unequal_speed_are_said():
    doubts = merged([card([10, 10]), card([20, 20])]).doubts
    assert any("not equally fast" in doubt.en for doubt in doubts)


def test_every_rank_answers_once():
    asked = []
    ranks = Ranks(0, 2, lambda value: asked.append(value) or [value, 3])
    ready = Agreement(ranks)
    assert ready(1) == 3
    ready.settle()
    assert asked == [1]
    failed = Agreement(ranks)
    failed.settle()
    assert asked == [1, None]


def test_half_a_torchrun_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(MeasurementError, match="WORLD_SIZE is set, but not RANK"):
        placed()


SCRIPT = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_ranks
from npueval import measuring, runs
run = measuring.measure(test_ranks.as_written(Path(sys.argv[2])), sampling_s=0)
if measuring.placed()[0] == 0:
    print(json.dumps(runs.to_data(run)))
"""


def as_written(folder):
    return make_plan(folder, (folder / "workload.py").read_text(encoding="utf-8"), iterations=20)


def test_two_processes_over_gloo(tmp_path):
    """The second card takes 6 ms where the first takes 2 ms, and fails on its first inference of batch 1."""
    pytest.importorskip("torch")
    slow = "import os, time; rank = int(os.environ['RANK']); time.sleep(0.002 + 0.004 * rank); "
    slow += "assert len(x) > 1 or not rank, 'this card is broken'; "
    make_plan(tmp_path, TORCH.replace("return self.net(x)", slow + "return self.net(x)"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    together = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path)]
    processes = [
        subprocess.Popen(
            command,
            env={**together, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    (said, complaint), _ = (process.communicate(timeout=240) for process in processes)
    assert said, complaint
    run = runs.from_data(json.loads(said))
    broken, case = run.cases
    assert (
        broken.error == "card 1: outside the timed window: raised AssertionError: this card is broken (workload.py:8)"
    )
    assert run.cards == case.cards == 2
    assert case.n == 20
    assert case.samples["infer"].min() >= 6_000_000
    assert case.items == 2 * 20 * 4
    assert list(impossible(run)) == []
    assert any("not equally fast" in doubt.en for doubt in case.doubts)
