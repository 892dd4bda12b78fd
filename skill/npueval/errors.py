"""The one exception that a user can meet, and the exit statuses.

An :class:`NpuevalError` says what is wrong, where, and what to do. Doors (CLI, MCP) turn it into one line or one
JSON object; anything else that escapes is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from os import PathLike


class Exit(IntEnum):
    """Exit status of every command."""

    OK = 0
    FINDINGS = 1
    BAD_INPUT = 2
    NOT_EXECUTED = 3
    MEASUREMENT_FAILED = 4
    INTERRUPTED = 130


@dataclass(frozen=True)
class Problem:
    """One mistake in an input, with its place."""

    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None
    key: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class NpuevalError(Exception):
    """Base of everything this package raises on purpose.

    ``code`` is stable and machine-readable (``PLAN_INVALID``); ``hint`` says what to do; ``problems`` holds every
    mistake that was found, not only the first; ``status`` is the exit status that a command ends with.
    """

    code = "ERROR"
    status = Exit.BAD_INPUT

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint
        self.path = None if path is None else str(path)
        self.line = line
        self.problems = tuple(problems)

    def __str__(self) -> str:
        head = str(Problem(self.message, path=self.path, line=self.line, hint=self.hint))
        return "\n".join([head, *(f"  {problem}" for problem in self.problems)])


class PlanError(NpuevalError):
    """The plan cannot be used as it stands."""

    code = "PLAN_INVALID"


class WorkloadError(NpuevalError):
    """The user's workload file cannot be loaded or breaks its contract."""

    code = "WORKLOAD_INVALID"


class UnknownDevice(NpuevalError):
    """No device could have the name that was asked for; one that could and is not there is :class:`NotExecuted`."""

    code = "DEVICE_UNKNOWN"


class DocumentError(NpuevalError):
    """A migration document cannot be read, addressed or safely changed."""

    code = "DOCUMENT_INVALID"


class FormatError(NpuevalError):
    """A file of ours has a shape or a format version that this release does not read."""

    code = "FORMAT_INVALID"


class MeasurementError(NpuevalError):
    """A measurement was started and failed."""

    code = "MEASUREMENT_FAILED"
    status = Exit.MEASUREMENT_FAILED


class NotExecuted(NpuevalError):
    """Nothing was measured, and the reason is known (a trigger, the gate, an absent device)."""

    code = "NOT_EXECUTED"
    status = Exit.NOT_EXECUTED
