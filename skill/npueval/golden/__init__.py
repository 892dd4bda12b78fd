"""Outputs against their reference: the comparison, and the golden sets that both sides are made of."""

from npueval.golden.setfile import Manifest, changed_members, is_golden_set, read_manifest
from npueval.golden.sets import compare_sets, make
from npueval.golden.verdict import Facts, Golden, Head, compare, compare_files

__all__ = [
    "Facts",
    "Golden",
    "Head",
    "Manifest",
    "changed_members",
    "compare",
    "compare_files",
    "compare_sets",
    "is_golden_set",
    "make",
    "read_manifest",
]
