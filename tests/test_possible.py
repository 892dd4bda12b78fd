"""Whatever we measure ourselves can be true, under every load and protocol: no honest Run is passed over."""

import pytest

from npueval import measuring
from npueval.possible import unbelievable
from support.projects import NUMPY, make_plan

SLOW = NUMPY.replace("return x @", "__import__('time').sleep(0.002); return x @")


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        (NUMPY, {}),
        (NUMPY, {"warmup": 1, "iterations": 7, "batches": (1,), "target_batch": 1}),
        (NUMPY, {"warmup": 0, "iterations": 7}),
        (NUMPY, {"concurrency": (1, 3), "iterations": 20}),
        (SLOW, {"concurrency": (2,), "iterations": 9}),
        (SLOW, {"arrival_rates": (400.0,), "iterations": 20}),
        (SLOW, {"segments": ("infer",), "iterations": 20}),
        (NUMPY.replace("return x @", "assert len(x) < 2, 'too large'; return x @"), {"iterations": 20}),
    ],
    ids=["plain", "short", "no warm-up", "closed", "closed and slow", "open", "one segment", "a case that fails"],
)
def test_an_honest_run_is_believed(tmp_path, source, changes):
    run = measuring.measure(make_plan(tmp_path, source, **changes), sampling_s=0)
    assert run.cases and unbelievable(run) == ""
