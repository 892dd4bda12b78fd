"""The one seam between this package and the machine it looks at: files, variables and read-only commands.

Tests put a folder in place of ``/`` and a mapping in place of the process's variables. Nothing here writes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_OUTPUT = 200_000
_LONGEST_FILE = 1_000_000


@dataclass(frozen=True)
class Ran:
    """What a command left behind. ``status`` is ``None`` when it did not end by itself in time."""

    stdout: str
    stderr: str
    status: int | None

    @property
    def timed_out(self) -> bool:
        return self.status is None

    @property
    def output(self) -> str:
        """Both streams, stdout first."""
        return "\n".join(part for part in (self.stdout.rstrip("\n"), self.stderr.rstrip("\n")) if part)


@dataclass(frozen=True)
class Host:
    """A machine as seen from here: the folder that stands for ``/`` and the environment variables."""

    root: Path = Path("/")
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def path(self, absolute: str) -> Path:
        """Where a path of that machine lies for us."""
        return self.root / absolute.lstrip("/")

    def read(self, absolute: str) -> str | None:
        """The text of a file, or ``None`` where it is absent or not ours to read. At most 1 MB is read."""
        try:
            with self.path(absolute).open("rb") as stream:
                return stream.read(_LONGEST_FILE).decode("utf-8", errors="replace")
        except OSError:
            return None

    def glob(self, folder: str, pattern: str) -> tuple[str, ...]:
        """The absolute paths (of that machine) that match ``pattern`` in ``folder``, sorted."""
        base = self.path(folder)
        try:
            found = sorted(base.glob(pattern))
        except OSError:
            return ()
        return tuple(f"{folder.rstrip('/')}/{path.relative_to(base).as_posix()}" for path in found)

    def which(self, program: str, *also: str) -> str | None:
        """The program on that machine's PATH, or at one of the absolute paths ``also``."""
        found = shutil.which(program, path=self.variables.get("PATH", os.defpath))
        if found:
            return found
        candidates = (str(self.path(absolute)) for absolute in also)
        return next((path for path in candidates if os.access(path, os.X_OK) and Path(path).is_file()), None)

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        variables: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> Ran:
        """Run a command with stdin closed, in a process group that ends with the time-out, or with us."""
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.variables, "LC_ALL": "C.UTF-8", **(variables or {})},
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            return Ran("", f"{command[0]}: {error.strerror}", 127)
        return _wait(process, timeout_s)


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> Ran:
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            _end_group(process)
            stdout, stderr = process.communicate()
            status = None
        except BaseException:
            _end_group(process)
            raise
    return Ran(_decode(stdout), _decode(stderr), status)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if not hasattr(os, "killpg"):
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _decode(raw: bytes) -> str:
    return raw[:LONGEST_OUTPUT].decode("utf-8", errors="replace").replace("\r\n", "\n")
