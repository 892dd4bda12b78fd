"""May tests run on this machine's NPU? AUTO, MANUAL_STOP or UNKNOWN, by the machine facts and the project's demands.

AUTO: what is missing can be had with pip or a virtual environment. MANUAL_STOP: a person has to download, install or
replace something. UNKNOWN: something that decides is not known; treated like MANUAL_STOP until it is. Nothing is
installed or changed, ever.
"""

from __future__ import annotations

import json
from pathlib import Path

from npueval.environment import Environment, record
from npueval.errors import FormatError
from npueval.gate import merging, needs, snapshot
from npueval.gate.checks import Facts
from npueval.gate.diagnosis import Diagnosis, from_json
from npueval.gate.judging import judge
from npueval.records import Edit


def examine(project_root: Path, *, environment: Environment | None = None) -> Diagnosis:
    """Hold this machine (or the given reading of one) against the project's demands."""
    return judge(Facts(environment or record(project_root), needs.find(project_root)))


def against(project_root: Path, reading: Diagnosis) -> Diagnosis:
    """Hold a stored reading against the project's demands as they are now, and against its own where the project has
    no such file. What the file says of the verdict is not believed: it is found again.
    """
    demands = needs.find(project_root).completed(reading.needs)
    if reading.other is None:
        return judge(Facts(reading.environment, demands))
    pair = (reading.environment, reading.other)
    inside, outside = pair if reading.adopted == "inside" else pair[::-1]
    return merging.join(inside, outside, demands)


def merge(inside: Diagnosis, outside: Diagnosis, project_root: Path) -> Diagnosis:
    """Join the reading inside a sandbox with the one outside it, and hold both against the project's demands."""
    demands = needs.find(project_root).completed(inside.needs).completed(outside.needs)
    return merging.join(inside.environment, outside.environment, demands)


def load(path: Path) -> Diagnosis:
    """Read what ``doctor --json --output FILE`` wrote. Raises :class:`FormatError` naming the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return from_json(data.get("data", data))
    except OSError as error:
        raise FormatError(f"cannot read it: {error.strerror}", path=path) from None
    except (ValueError, AttributeError, RecursionError):
        raise FormatError("not a reading of `npueval doctor --json`", path=path) from None
    except FormatError as error:
        raise FormatError(error.message, path=path) from None


def edits(diagnosis: Diagnosis, *, data_dir: str | None = None) -> tuple[Edit, ...]:
    """What environment.md is to say after this diagnosis, in Chinese; ``data_dir`` comes from the plan."""
    return snapshot.edits(diagnosis, data_dir=data_dir)
