"""What is kept of a short test, and the rule that one which has passed is not run again.

One file a configuration, in ``runs/short_tests/``. Format history of ``npueval/short-test``:

1. first form.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npueval import atomic
from npueval.errors import FormatError, NotExecuted
from npueval.plaindata import from_plain, to_plain
from npueval.plan import Plan
from npueval.runs.conditions import WorkloadFacts
from npueval.training.curves import Curve, of_values
from npueval.training.short import Band, ShortTest
from npueval.workloads.needs import altered

FORMAT = "npueval/short-test"
VERSION = 1
FOLDER = "short_tests"


@dataclass(frozen=True)
class Record:
    """One short test: when, on what, as configured how, every loss (``None``: not finite), and the verdict.

    ``made_with`` names the files that were used, where it is known.
    """

    created: str
    tool: str
    device: str
    simulated: bool
    configuration: Mapping[str, Any]
    losses: tuple[float | None, ...]
    verdict: ShortTest
    made_with: WorkloadFacts | None = None

    @property
    def curve(self) -> Curve:
        """The losses as a curve from step 1."""
        values = [math.nan if loss is None else loss for loss in self.losses]
        return of_values(str(self.configuration["metric"]), values)


def configuration(plan: Plan, device: str, band: Band) -> dict[str, Any]:
    """What makes a short test the same one: code, device, precision, seed, data, steps, band."""
    assert plan.training is not None
    file = plan.root / plan.workload.partition(":")[0]
    return {
        "workload": plan.workload,
        "code_sha256": _code(file.parent),
        "device": device.partition(":")[0],
        "precision": plan.precision,
        "precision_mode": plan.precision_mode,
        "seed": plan.seed,
        "dataset": to_plain(plan.datasets.short_test),
        "metric": plan.training.metric,
        "steps": plan.training.steps,
        "band": to_plain(band),
    }


def _code(folder: Path) -> str:
    """The hash of the Python files beside the workload: model and data as well as the workload itself."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def path_of(plan: Plan, configured: Mapping[str, Any]) -> Path:
    """Where the record of a configuration lies."""
    text = json.dumps(configured, sort_keys=True, ensure_ascii=False)
    return plan.runs / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def refuse_repeat(plan: Plan, path: Path) -> None:
    """:class:`NotExecuted` where the short test of this configuration has passed already, with these very files."""
    if not path.exists() or not (earlier := load(path)).verdict.passed:
        return
    workload = plan.root / plan.workload.partition(":")[0]
    held = earlier.made_with.files(workload.name) if earlier.made_with else {}
    if not any(altered(held, workload.parent)):
        raise NotExecuted(
            f"the short test of this configuration passed on {earlier.created}: {earlier.verdict.reason.en}",
            code="SHORT_TEST_PASSED",
            path=path,
            hint="go on to formal training; --force runs it again",
        )


def save(path: Path, record: Record) -> None:
    """Write a record in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"format": f"{FORMAT}/{VERSION}", **to_plain(record)}
    atomic.write(path, (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())


def load(path: Path) -> Record:
    """Read a record; :class:`FormatError` where it is damaged, none of ours, or newer than this release."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"not the record of a short test: {error}", path=path) from None
    name, _, version = str(data.get("format") if isinstance(data, dict) else "").rpartition("/")
    if name != FORMAT or not version.isdigit():
        raise FormatError("not the record of a short test", path=path, hint=f'it says "format": "{FORMAT}/{VERSION}"')
    if int(version) > VERSION:
        raise FormatError(f"this record has format {version}, this release reads up to {VERSION}", path=path)
    try:
        return from_plain(Record, data)
    except FormatError as error:
        raise FormatError(error.message, path=path) from None
