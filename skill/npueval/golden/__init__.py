"""Outputs against their reference: the comparison, and the golden sets that both sides are made of."""

from npueval.golden.setfile import Manifest, changed_members, is_golden_set, read_manifest
from npueval.golden.sets import Checked, check, compare_sets, conditions, make
from npueval.golden.verdict import Facts, Golden, Head, compare, compare_files
from npueval.golden.words import BOX, edits, outdated_edits, summary

__all__ = [
    "BOX",
    "Checked",
    "Facts",
    "Golden",
    "Head",
    "Manifest",
    "changed_members",
    "check",
    "compare",
    "compare_files",
    "compare_sets",
    "conditions",
    "edits",
    "is_golden_set",
    "make",
    "outdated_edits",
    "read_manifest",
    "summary",
]
