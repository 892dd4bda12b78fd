"""Which torch_npu release goes with which torch, CANN and Python, as its maintainers publish it.

What the table does not hold is *unknown*, never assumed. A CANN other than the published one is a difference to
report: some pairs work across neighbouring releases, and only a run on the device can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from npueval.gate.versions import Version, read

SOURCE = "https://gitcode.com/Ascend/pytorch/blob/master/COMPATIBILITY.md"
AS_OF = "2026-11-30"
"""The day on which the table was read."""

_PAIRS = """
9.1.0    2.12.0 2.11.0 2.10.0.post4 2.9.0.post6 2.7.1.post8
9.0.0    2.10.0 2.9.0.post2 2.8.0.post4 2.7.1.post4
8.5.0    2.9.0 2.8.0.post2 2.7.1.post2 2.6.0.post5
8.3.RC1  2.8.0 2.7.1 2.6.0.post3 2.1.0.post17
8.2.RC1  2.6.0 2.5.1.post1 2.1.0.post13
8.1.RC1  2.5.1 2.4.0.post4 2.3.1.post6 2.1.0.post12
8.0.0    2.4.0.post2 2.3.1.post4 2.1.0.post10
8.0.RC3  2.4.0 2.3.1.post2 2.1.0.post8
8.0.RC2  2.3.1 2.2.0.post2 2.1.0.post6 1.11.0.post14
8.0.RC1  2.2.0 2.1.0.post4 1.11.0.post11
7.0.0    2.1.0 2.0.1.post1 1.11.0.post8
7.0.RC1  2.1.0.rc1 2.0.1 1.11.0.post4
"""
"""CANN, then the torch_npu packages published for it; the torch of a package is its release number."""

_PYTHONS = """
2.13.0 3.10 3.11 3.12 3.13 3.14
2.12.0 3.10 3.11 3.12 3.13 3.14
2.11.0 3.10 3.11 3.12 3.13 3.14
2.10.0 3.10 3.11 3.12 3.13
2.9.0  3.10 3.11 3.12 3.13
2.8.0  3.9 3.10 3.11 3.12 3.13
2.7.1  3.9 3.10 3.11 3.12 3.13
2.6.0  3.9 3.10 3.11
2.5.1  3.9 3.10 3.11
2.4.0  3.8 3.9 3.10 3.11
2.3.1  3.8 3.9 3.10 3.11
2.2.0  3.8 3.9 3.10
2.1.0  3.8 3.9 3.10 3.11
1.11.0 3.7 3.8 3.9 3.10
"""


@dataclass(frozen=True)
class Pair:
    """One row of the published table."""

    torch_npu: str
    torch: str
    cann: str


def _pairs() -> tuple[Pair, ...]:
    rows = (line.split() for line in _PAIRS.strip().splitlines())
    return tuple(Pair(package, Version(package).public, cann) for cann, *packages in rows for package in packages)


PAIRS = _pairs()
PYTHONS = {torch: tuple(pythons) for torch, *pythons in (line.split() for line in _PYTHONS.strip().splitlines())}


def cann_for(torch_npu: str) -> str | None:
    """The CANN that a torch_npu package was published for, or ``None`` where the table does not say."""
    wanted = read(torch_npu)
    return next((pair.cann for pair in PAIRS if Version(pair.torch_npu) == wanted), None)


def packages_for(cann: str, torch: str | None = None) -> tuple[Pair, ...]:
    """The published packages for a CANN (and a torch, where given), newest torch first; empty: unknown."""
    return tuple(pair for pair in PAIRS if same_cann(pair.cann, cann) and torch in (None, pair.torch))


def same_cann(one: str, other: str) -> bool:
    """Whether two spellings (``8.0.RC2``, ``8.0.rc2.beta1``) name the same CANN release."""
    first, second = read(one), read(other)
    if first is None or second is None:
        return False
    return (Version(first.public), first.stage[:2]) == (Version(second.public), second.stage[:2])


def other_cann(one: str | None, other: str | None) -> bool:
    """Whether two spellings certainly name different releases; builds (``7.0.0.1``) are of the same one."""
    first, second = read(one), read(other)
    if first is None or second is None or min(len(first.release), len(second.release)) < 2:
        return False
    numbers = [(*version.release, 0, 0)[:3] for version in (first, second)]
    return numbers[0] != numbers[1] or first.stage[:2] != second.stage[:2]


def torch_matches(torch: str, torch_npu: str) -> bool:
    """torch_npu runs with the torch of the same release number only."""
    first, second = read(torch), read(torch_npu)
    return first is not None and second is not None and first.release == second.release


def python_suits(python: str, torch: str) -> bool | None:
    """Whether torch_npu is published for this Python; ``None`` beyond the table."""
    version, wanted = read(torch), read(python)
    pythons = PYTHONS.get(version.public) if version else None
    if pythons is None or wanted is None:
        return None
    return ".".join(str(part) for part in wanted.release[:2]) in pythons
