"""Versions as packages, CANN and drivers write them; the published pairs of torch, torch_npu and CANN."""

from itertools import pairwise

import pytest

from npueval.gate import compatibility
from npueval.gate.versions import Version, read, satisfies

ASCENDING = (
    ("7.0.RC1", "7.0.0", "8.0.RC1.alpha003", "8.0.RC2", "8.0.RC3", "8.0.0", "8.1.RC1", "9.0.0"),
    ("2.1.0.rc1", "2.1.0", "2.1.0.post2", "2.1.0.post10", "2.2.0"),
    ("23.0.3", "24.1.rc2", "24.1.rc2.2", "24.1.rc3", "24.1.0", "24.1.0.1", "25.2.0"),
)


@pytest.mark.parametrize("series", ASCENDING, ids=["CANN", "torch_npu", "driver"])
def test_order(series: tuple[str, ...]) -> None:
    versions = [Version(text) for text in series]
    assert all(earlier < later for earlier, later in pairwise(versions))
    assert len(set(versions)) == len(versions)


@pytest.mark.parametrize(
    ("one", "other"), [("8.0.0", "8.0"), ("8.0.RC2", "8.0.rc2"), ("2.1.0+cpu", "2.1.0"), ("v2.1", "2.1.0")]
)
def test_spellings_of_the_same(one: str, other: str) -> None:
    assert Version(one) == Version(other)
    assert hash(Version(one)) == hash(Version(other))


@pytest.mark.parametrize("text", ["", "latest", None, "<8"])
def test_no_version(text: str | None) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("version", "constraint", "met"),
    [
        ("3.10.4", "3.10", True),
        ("3.1.0", "3.10", False),
        ("3.11.2", ">=3.8,<3.12", True),
        ("3.12.0", ">=3.8,<3.12", False),
        ("2.1.0.post6", "==2.1.0", True),
        ("2.1.0.post6", "==2.1.0.post6", True),
        ("2.1.0.post8", "==2.1.0.post6", False),
        ("2.13.0", "==2.1.*", False),
        ("2.1.7", "==2.1.*", True),
        ("2.1.0", "!=2.1.0", False),
        ("2.4.1", "~=2.1", True),
        ("3.0.0", "~=2.1", False),
        ("2.1.0", "=2.1", True),
        ("8.0.RC2", ">=8.0.RC1", True),
        ("8.0.RC2", "8.0.RC3", False),
        ("8.0.RC2", "8.0", True),
        ("2.1.0", "^2.1", None),
        ("2.1.0", "latest", None),
    ],
)
def test_constraints(version: str, constraint: str, met: bool | None) -> None:
    assert satisfies(Version(version), constraint) is met


@pytest.mark.parametrize(
    ("torch_npu", "cann"),
    [
        ("2.1.0.post6", "8.0.RC2"),
        ("2.9.0", "8.5.0"),
        ("2.6.0", "8.2.RC1"),
        ("2.1.0.post99", None),
        ("9.9.0", None),
        ("?", None),
    ],
)
def test_cann_of_a_package(torch_npu: str, cann: str | None) -> None:
    assert compatibility.cann_for(torch_npu) == cann


def test_packages_of_a_cann() -> None:
    assert [pair.torch_npu for pair in compatibility.packages_for("8.0.rc2")][:1] == ["2.3.1"]
    assert [pair.torch_npu for pair in compatibility.packages_for("8.0.RC2", "2.1.0")] == ["2.1.0.post6"]
    assert compatibility.packages_for("5.0") == ()


def test_the_table_is_consistent() -> None:
    assert len(set(compatibility.PAIRS)) == len(compatibility.PAIRS)
    assert all(compatibility.torch_matches(pair.torch, pair.torch_npu) for pair in compatibility.PAIRS)
    assert {pair.torch for pair in compatibility.PAIRS} - {"2.0.1"} <= compatibility.PYTHONS.keys()


@pytest.mark.parametrize(
    ("python", "torch", "suits"),
    [("3.10.4", "2.1.0+cpu", True), ("3.12.0", "2.1.0", False), ("3.12", "2.9.0", True), ("3.10", "1.4.0", None)],
)
def test_python_of_a_torch(python: str, torch: str, suits: bool | None) -> None:
    assert compatibility.python_suits(python, torch) is suits
