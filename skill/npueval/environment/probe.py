"""Ask an interpreter, in a child process with a time-out, whether torch, torch_npu and one small operator work.

Never in this process: with torch_npu installed and CANN not loaded, ``import torch`` itself raises, and a broken driver
can hang or crash the interpreter.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

from npueval.environment.host import Host, Ran
from npueval.environment.redaction import redact

_MARK = "npueval-probe:"
_KEPT_STDERR = 4_000
_QUIET = {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
_WRITTEN_TO = ("ASCEND_WORK_PATH", "ASCEND_CACHE_PATH", "ASCEND_PROCESS_LOG_PATH", "ACL_OP_COMPILER_CACHE_DIR")
WRONG_RESULT = "should sum to 8"
"""In the words of ``probe_child``: the operator ended, and its result is wrong."""
_FALLBACK = re.compile(r"operator\s+['`]?([\w:]+)['`]?\s+is not currently supported on the NPU")


@dataclass(frozen=True)
class Stage:
    """How one stage ended. ``ok`` is ``None`` when it was begun and never ended (a hang or a crash)."""

    name: str
    ok: bool | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class Probe:
    """What the child said. ``ended`` is ``finished``, ``timed out``, ``crashed``, or ``not run``."""

    ended: str
    stages: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    stderr: str = ""

    def stage(self, name: str) -> Stage | None:
        """A stage by name (``torch``, ``torch_npu``, ``operator``), or ``None`` where it was not begun."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def worked(self, name: str) -> bool:
        stage = self.stage(name)
        return stage is not None and stage.ok is True

    def fact(self, stage: str, key: str) -> Any:
        """One fact of a stage, or ``None`` where it is unknown."""
        found = self.stage(stage)
        return found.facts.get(key) if found else None


NOT_RUN = Probe("not run")


def ask(host: Host, *, python: str = sys.executable, timeout_s: float = 180.0) -> Probe:
    """Run the stages in ``python``; on an NPU host the first import and operator may take a minute.

    What Python, CANN and its operator compiler write by the way (caches, logs, kernel_meta) goes to a folder that is
    removed again.
    """
    source = (files("npueval.environment") / "probe_child.py").read_text(encoding="utf-8")
    with TemporaryDirectory(prefix="npueval-", ignore_cleanup_errors=True) as folder:
        variables = {**_QUIET, **dict.fromkeys(_WRITTEN_TO, folder)}
        return read(host.run([python, "-c", source], timeout_s=timeout_s, variables=variables, folder=folder))


def read(ran: Ran) -> Probe:
    """The child's lines as a :class:`Probe`."""
    stages = {stage.name: stage for stage in map(_stage, _said(ran.stdout))}
    stderr = redact(ran.stderr)
    return Probe(_ended(ran), tuple(stages.values()), _warnings(stderr), stderr[-_KEPT_STDERR:])


def _said(stdout: str) -> Iterator[dict[str, Any]]:
    """The JSON behind each mark; a library may have printed on the same line, a crash may have cut one short."""
    decoder = json.JSONDecoder()
    for found in re.finditer(re.escape(_MARK), stdout):
        with suppress(ValueError):
            yield decoder.raw_decode(stdout, found.end())[0]


def _ended(ran: Ran) -> str:
    if ran.timed_out:
        return "timed out"
    return "finished" if ran.status == 0 else "crashed"


def _stage(facts: dict[str, Any]) -> Stage:
    name = facts.pop("stage")
    facts.pop("began", None)
    error = facts.pop("error", None)
    return Stage(name, facts.pop("ok", None), facts, redact(error) if error else None)


def _warnings(stderr: str) -> tuple[str, ...]:
    """The lines that change what a measurement means: operators that fall back to the CPU, an unusual task queue."""
    lines = (line.strip() for line in stderr.split("\n"))
    return tuple(dict.fromkeys(line for line in lines if _FALLBACK.search(line) or "TASK_QUEUE_ENABLE" in line))
