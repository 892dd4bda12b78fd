"""The gate's answer for a pretended machine."""

from __future__ import annotations

from dataclasses import replace

from npueval import environment, gate
from npueval.environment import Environment
from npueval.gate.diagnosis import Diagnosis
from support.machines import Machine

PAIRED = {"torch": "2.6.0", "torch_npu": "2.6.0", "numpy": "1.26.4"}


def read(machine: Machine, packages: dict[str, str] | None = None) -> Environment:
    seen = environment.record(machine.root, host=machine.host, probe_timeout_s=20)
    interpreter = replace(seen.python, version="3.11.9")
    return replace(seen, packages=PAIRED if packages is None else packages, python=interpreter)


def examine(machine: Machine, packages: dict[str, str] | None = None, files: dict[str, str] | None = None) -> Diagnosis:
    project = machine.root / "project"
    project.mkdir(exist_ok=True)
    for name, text in (files or {}).items():
        (project / name).write_text(text, encoding="utf-8")
    return gate.examine(project, environment=read(machine, packages))


def said(found: Diagnosis, key: str) -> str:
    evidence = found.found(key)
    assert evidence is not None, f"no evidence {key}"
    return evidence.finding.en
