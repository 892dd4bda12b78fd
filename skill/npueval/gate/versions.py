"""Version numbers as Python packages, CANN and drivers write them, and the constraints that files state on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import total_ordering

_VERSION = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[.\-_]?(?P<pre>a|alpha|b|beta|c|rc|t|tr)[.\-_]?(?P<pre_n>\d*)(?P<pre_more>(?:\.\d+)*))?"
    r"(?:[.\-_]?(?P<post>post)(?P<post_n>\d+))?",
    re.I,
)
_CLAUSE = re.compile(r"\s*(?P<operator>===|==|~=|!=|>=|<=|=|>|<)?\s*v?(?P<version>\d[\w.\-]*?(?P<any>\.\*)?)\s*$", re.I)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "t": 2, "tr": 2}
_FINAL = 3
_MANY = 999


@total_ordering
class Version:
    """A parsed version: release, pre-release stage and number, post-release; a local part (``+cpu``) is left out."""

    def __init__(self, text: str) -> None:
        found = _VERSION.match(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is not a version")
        self.text = text.strip()
        self.release = tuple(int(part) for part in found["release"].split("."))
        stage = _STAGES[found["pre"].lower()] if found["pre"] else _FINAL
        more = tuple(int(part) for part in found["pre_more"].split(".")[1:]) if found["pre_more"] else ()
        self.stage = (stage, int(found["pre_n"] or 0), *more)
        self.post = int(found["post_n"] or 0) if found["post"] else 0

    def _key(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        release = list(self.release)
        while len(release) > 1 and release[-1] == 0:
            release.pop()
        return tuple(release), self.stage, self.post

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self.text

    @property
    def public(self) -> str:
        """The release as text: ``2.1.0`` of ``2.1.0.post13+git1``."""
        return ".".join(str(part) for part in self.release)


def read(text: str | None) -> Version | None:
    """The version that ``text`` begins with, or ``None``."""
    try:
        return Version(text) if text else None
    except ValueError:
        return None


def satisfies(version: Version, constraint: str) -> bool | None:
    """Whether ``version`` meets every clause of ``constraint`` (``>=3.8,<3.12``); ``None`` for one we cannot read.

    A bare number means equality as far as it is written: ``3.10`` is met by 3.10.4, ``==2.1.0`` by 2.1.0.post13.
    """
    verdicts = []
    for clause in constraint.split(","):
        found = _CLAUSE.match(clause)
        wanted = read(found["version"]) if found else None
        if found is None or wanted is None:
            return None
        verdicts.append(_holds(version, found["operator"] or "", wanted, loose=bool(found["any"])))
    return all(verdicts)


def compatible(one: str, other: str) -> bool | None:
    """Whether some version could meet both constraints; ``None`` where one of them cannot be read."""
    clauses = [_CLAUSE.match(clause) for clause in f"{one},{other}".split(",")]
    bounds = [read(clause["version"]) if clause else None for clause in clauses]
    if not all(bounds):
        return None
    near = [version for bound in bounds if bound for version in _around(bound)]
    return any(satisfies(version, one) and satisfies(version, other) for version in near)


def _around(bound: Version) -> Iterator[Version]:
    """A version and those next to it: what two constraints share holds one of these, if it holds anything."""
    release, (stage, number) = bound.release, bound.stage[:2]
    yield bound
    yield Version(bound.public)
    for place in range(len(release)):
        yield _numbered((*release[:place], release[place] + 1))
        if release[place]:
            yield _numbered((*release[:place], release[place] - 1, _MANY))
    yield _numbered((*release, 1))
    if stage != _FINAL:
        yield Version(f"{bound.public}.rc{number + 1}")
        yield Version(f"{bound.public}.rc{max(number - 1, 0)}")


def _numbered(release: tuple[int, ...]) -> Version:
    return Version(".".join(map(str, release)))


def _holds(version: Version, operator: str, wanted: Version, *, loose: bool) -> bool:
    if operator in ("==", "===", "!="):
        same = _starts(version, wanted) if loose or not wanted.post else version == wanted
        return same is (operator != "!=")
    if operator in ("", "="):
        return _starts(version, wanted)
    if operator == "~=":
        return version >= wanted and version.release[: len(wanted.release) - 1] == wanted.release[:-1]
    comparisons = {">=": version >= wanted, "<=": version <= wanted, ">": version > wanted, "<": version < wanted}
    return comparisons[operator]


def _starts(version: Version, wanted: Version) -> bool:
    """Equal in every part that ``wanted`` writes, pre-release included."""
    length = len(wanted.release)
    padded = (*version.release, *([0] * length))[:length]
    return padded == wanted.release and (wanted.stage[0] == _FINAL or version.stage == wanted.stage)
