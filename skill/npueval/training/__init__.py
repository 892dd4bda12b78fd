"""Does the model learn, and when to stop: the short test and the verdict on formal training."""

from npueval.training.formal import CHECKS, STAGNATION_STEPS, Formal, judge_formal
from npueval.training.live import short_test
from npueval.training.record import FOLDER, Record, configuration, load
from npueval.training.short import BAND, Band, ShortTest, judge_short
from npueval.training.words import (
    formal_edits,
    formal_statement,
    outdated_edits,
    short_edits,
    short_statement,
    threshold_edits,
)

__all__ = [
    "BAND",
    "CHECKS",
    "FOLDER",
    "STAGNATION_STEPS",
    "Band",
    "Formal",
    "Record",
    "ShortTest",
    "configuration",
    "formal_edits",
    "formal_statement",
    "judge_formal",
    "judge_short",
    "load",
    "outdated_edits",
    "short_edits",
    "short_statement",
    "short_test",
    "threshold_edits",
]
