"""What a log says beside its records: conditions, warnings, and where another command or heading begins.

Bounded: a warning counts once for each run it can belong to, and what is said again and again only where it changes.
"""

from __future__ import annotations

from bisect import bisect_right

from npueval.logs.logged import LoggedRun
from npueval.records import Fact

USUAL, MOST_OF_A_KIND = 500, 2000
_STEADY = frozenset({"batch", "device", "cards", "precision"})
"""Conditions that do not change within a run: another value in its midst contradicts the first."""


class Statements:
    """The statements of one file that belong to no run as they are read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._facts: list[tuple[int, str, Fact]] = []
        self._said: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._warnings: list[tuple[int, str, bool]] = []
        self._warned: set[tuple[str, int]] = set()
        self._sections: list[int] = [0]

    def fact(self, line: int, key: str, fact: Fact) -> None:
        """A condition. One with thousands of values is a schedule, no condition: then none of them counts."""
        said = self._said[key] = self._said.get(key, 0) + 1
        if said > USUAL and self._latest.get(key) == fact.value:
            self._said[key] -= 1
            return
        self._latest[key] = fact.value
        if said <= MOST_OF_A_KIND:
            self._facts.append((line, key, fact))
        elif said == MOST_OF_A_KIND + 1:
            self._facts = [each for each in self._facts if each[1] != key]

    def warn(self, line: int, text: str, *, broken: bool, runs: int) -> None:
        """A warning that was said when so many runs had begun."""
        if (text, runs) not in self._warned:
            self._warned.add((text, runs))
            self._warnings.append((line, text, broken))

    def section(self, line: int) -> None:
        """Nothing that was stated before holds from here on."""
        self._sections.append(line)

    def all(self) -> list[tuple[str, Fact]]:
        """Every condition, in the order of the file."""
        return [(key, fact) for _, key, fact in self._facts]

    def doubt(self, run: LoggedRun, previous_end: int, following: int) -> None:
        """Errors belong to the run before them, what is only doubtful to the one after or around it."""
        for line, text, broken in self._warnings:
            if (run.first_line if broken else previous_end) <= line < following:
                run.finished = run.finished and not broken
                if not any(doubt.startswith(text) for doubt in run.doubts):
                    run.doubts.setdefault(f"{text}（首次在 {self._path}:{line}）")

    def complete(self, run: LoggedRun, previous_end: int, last: int) -> None:
        """What stands between the run before and this one (a header), else the last earlier statement of a key, else
        what is printed in the midst of the run."""
        section = self._sections[bisect_right(self._sections, run.first_line) - 1]
        known = [(line, key, fact) for line, key, fact in self._facts if section <= line <= run.first_line]
        header = [(key, fact) for line, key, fact in known if line > previous_end]
        stated = {key for key, _ in header}
        earlier = {key: fact for line, key, fact in known if line <= previous_end and key not in stated}
        within = [(key, fact) for line, key, fact in self._facts if run.first_line < line <= last]
        for key, fact in (*header, *earlier.items()):
            run.learn(key, fact)
        for key, fact in within:
            (run.learn if key in _STEADY else run.facts.setdefault)(key, fact)
