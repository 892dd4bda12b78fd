"""The journal of a measurement: a folder to which the worker writes each case as it is done.

It is the only way from the worker to its parent, so a measurement that was killed goes on where it stopped, and the
samples of the case that was under way are there too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from npueval.errors import MeasurementError
from npueval.measuring import loops, tape
from npueval.measuring.case_work import CaseSpec
from npueval.runs import case_from_data, to_data
from npueval.runs.cases import Case
from npueval.sessions import Setup

HEAD = "head.json"
COLD = "cold.json"
TAIL = "tail.json"
PROFILE = "profile.json"


@dataclass(frozen=True)
class Job:
    """What a worker is told: everything of the plan that bears on the figures; ``machine`` is its digest."""

    workload: str
    root: str
    device: str
    precision: str
    precision_mode: str
    cases: tuple[CaseSpec, ...]
    target_batch: int
    seed: int
    scope: tuple[str, ...]
    warmup: int
    iterations: int
    timeout_s: float
    sampling_s: float = 0.0
    profiled: bool = False
    rank: int = 0
    ranks: int = 1
    machine: str = ""

    @property
    def key(self) -> str:
        """The same for the same job on the same workload file: where a broken-off measurement is found again."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode())
        file = Path(self.root, self.workload.partition(":")[0])
        digest.update(file.read_bytes() if file.is_file() else b"")
        return digest.hexdigest()[:16]

    @property
    def setup(self) -> Setup:
        """Which workload is to be loaded where."""
        return Setup(
            self.workload,
            self.root,
            self.device,
            self.precision,
            self.precision_mode,
            self.seed,
            self.target_batch,
        )

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Job:
        """The job of its JSON form."""
        cases = tuple(CaseSpec(**item) for item in data["cases"])
        return Job(**{**data, "cases": cases, "scope": tuple(data["scope"])})


@dataclass(frozen=True)
class Journal:
    """The folder of one job."""

    folder: Path

    @staticmethod
    def open(folder: Path, job: Job) -> Journal:
        """The journal of a job below ``folder``: that of an earlier attempt where there is one."""
        journal = Journal(folder / job.key)
        journal.folder.mkdir(parents=True, exist_ok=True)
        return journal

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Only one measurement at a time writes here; the system lets go when the process is gone."""
        import fcntl

        with (self.folder / "lock").open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise MeasurementError(
                    "the same measurement is under way in another process", hint=f"its journal is {self.folder}"
                ) from None
            yield

    @property
    def profile_folder(self) -> Path:
        """Where the profiler leaves its trace."""
        return self.folder / "profile"

    def job(self) -> Job:
        """The job as it was written."""
        return Job.from_data(self._read("job.json"))

    def begin(self, job: Job) -> None:
        """Write down what is to be done."""
        self._write("job.json", asdict(job))

    def put(self, name: str, data: Any) -> None:
        """Write the head (before the cases) or the tail (after them), whole or not at all."""
        self._write(name, data)

    def get(self, name: str) -> Any | None:
        """What was put under a name, or ``None``."""
        return self._read(name) if (self.folder / name).exists() else None

    def start(self, head: Mapping[str, Any]) -> None:
        """Go on with the cases that are done, unless they were measured on other code, weights or inputs."""
        held = self.get(HEAD)
        if held is not None and any(held[name] != head[name] for name in ("workload", "inputs")):
            self.forget_cases()
            for pattern in (COLD, TAIL, PROFILE, "tape-*"):
                for path in self.folder.glob(pattern):
                    path.unlink()
            held = None
        if held is None:
            self.put(HEAD, head)

    def put_case(self, number: int, case: Case) -> None:
        """Write a finished case; its tape is no longer needed."""
        self._write(f"case-{number}.json", to_data(case))
        self.forget_tape(number)

    def case(self, number: int) -> Case | None:
        """A finished case, or ``None``."""
        data = self.get(f"case-{number}.json")
        return None if data is None else case_from_data(data)

    def tape_at(self, number: int, columns: list[str], rows: int, group: int) -> Path:
        """Where the samples of a case lie while they are taken."""
        self._write(f"tape-{number}.json", {"columns": columns, "rows": rows, "group": group})
        return self.folder / f"tape-{number}.bin"

    def unfinished(self, number: int, spec: CaseSpec, error: str) -> Case:
        """The case that was under way when its worker ended: the samples so far, marked incomplete, with the reason."""
        case = replace(spec.empty(), error=error)
        meta, path = self.get(f"tape-{number}.json"), self.folder / f"tape-{number}.bin"
        if meta is None or not path.exists():
            return case
        series = tape.read(path, meta["columns"], meta["rows"])
        return replace(
            case,
            group=meta["group"],
            samples={name: column for name, column in series.items() if loops.is_sample(name)},
            events=series.get(loops.EVENTS),
            enqueue=series.get(loops.ENQUEUE),
        )

    def forget_tape(self, number: int) -> None:
        """Remove the tape of a case, where there is one."""
        for path in (self.folder / f"tape-{number}.json", self.folder / f"tape-{number}.bin"):
            path.unlink(missing_ok=True)

    def forget_cases(self) -> None:
        """Measure everything anew next time; the worker's output stays to be looked at."""
        for path in self.folder.glob("case-*.json"):
            path.unlink()

    def remove(self) -> None:
        """The measurement is over: the Run holds everything. An emptied folder of journals goes too."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.folder.parent.rmdir()

    def _write(self, name: str, data: Any) -> None:
        staged = self.folder / f".{name}"
        staged.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8", newline="\n")
        staged.replace(self.folder / name)

    def _read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))
