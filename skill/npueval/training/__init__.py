"""Does the model learn, and when to stop: the short test and the verdict on formal training."""

from npueval.training.formal import CHECKS, STAGNATION_STEPS, Formal, judge_formal
from npueval.training.live import short_test
from npueval.training.record import Record
from npueval.training.short import BAND, Band, ShortTest, judge_short

__all__ = [
    "BAND",
    "CHECKS",
    "STAGNATION_STEPS",
    "Band",
    "Formal",
    "Record",
    "ShortTest",
    "judge_formal",
    "judge_short",
    "short_test",
]
