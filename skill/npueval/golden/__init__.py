"""Outputs against their reference: the comparison, and the golden sets that both sides are made of."""

from npueval.golden.verdict import Facts, Golden, Head, compare, compare_files

__all__ = ["Facts", "Golden", "Head", "compare", "compare_files"]
