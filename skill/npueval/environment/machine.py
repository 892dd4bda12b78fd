"""The machine and the interpreter, apart from Ascend: system, container signs, variables, packages, project commit."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from npueval.environment.host import Host
from npueval.environment.redaction import redact

PACKAGES = ("numpy", "torch", "torch_npu", "torchvision", "torchaudio", "mindspore", "paddlepaddle", "transformers")
_VARIABLES = re.compile(
    r"(ASCEND|HCCL|ACL|NPU|PTA|ATB|TORCH|PYTORCH|CUDA_VISIBLE|NCCL)_\w+|ASCEND_\w+|TASK_QUEUE_ENABLE|COMBINED_ENABLE"
    r"|CPU_AFFINITY_CONF|MULTI_STREAM_MEMORY_REUSE|OMP_NUM_THREADS|MKL_NUM_THREADS|CUDA_VISIBLE_DEVICES"
    r"|LD_PRELOAD|WORLD_SIZE|KMP_AFFINITY|GOMP_CPU_AFFINITY"
)
_SHOWN_IN_PART = re.compile(r"[^:]*Ascend[^:]*", re.I)


@dataclass(frozen=True)
class System:
    """Operating system, libc, processor and memory."""

    os: str
    kernel: str
    architecture: str
    libc: str
    cpu: str
    cpus: int
    memory_mb: int | None


@dataclass(frozen=True)
class Python:
    """The interpreter that runs this, and the one its virtual environment was made from."""

    version: str
    executable: str
    prefix: str
    base: str

    @property
    def virtual(self) -> bool:
        return self.prefix != self.base


@dataclass(frozen=True)
class Commit:
    """The project's commit; ``dirty`` when tracked files differ from it."""

    sha: str
    dirty: bool


def system(host: Host) -> System:
    """Read ``/etc/os-release`` and ``/proc``; what a system does not tell is ``unknown``."""
    release = re.search(r'^PRETTY_NAME="?([^"\n]+)', host.read("/etc/os-release") or "", re.M)
    memory = re.search(r"^MemTotal:\s+(\d+)", host.read("/proc/meminfo") or "", re.M)
    cpuinfo = host.read("/proc/cpuinfo") or ""
    return System(
        os=release[1] if release else platform.platform(terse=True),
        kernel=platform.release(),
        architecture=platform.machine(),
        libc=" ".join(platform.libc_ver()).strip() or "unknown",
        cpu=_cpu(cpuinfo),
        cpus=len(re.findall(r"^processor\s*:", cpuinfo, re.M)),
        memory_mb=int(memory[1]) // 1024 if memory else None,
    )


def _cpu(cpuinfo: str) -> str:
    model = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", cpuinfo, re.M)
    if model:
        return model[1].strip()
    implementer = re.search(r"^CPU implementer\s*:\s*(\S+)", cpuinfo, re.M)
    part = re.search(r"^CPU part\s*:\s*(\S+)", cpuinfo, re.M)
    if implementer and part:
        known = {("0x48", "0xd01"): "Kunpeng-920", ("0x48", "0xd02"): "Kunpeng-920 (TSV200)"}
        return known.get((implementer[1], part[1]), f"implementer {implementer[1]} part {part[1]}")
    return platform.processor() or "unknown"


def sandbox_signs(host: Host) -> tuple[str, ...]:
    """What says that this process sees only a part of the machine. No sign does not prove that it sees all of it."""
    return tuple(sign for sign, present in _signs(host).items() if present)


def _signs(host: Host) -> dict[str, bool]:
    cgroup = host.read("/proc/1/cgroup") or ""
    status = host.read("/proc/self/status") or ""
    return {
        "/.dockerenv": host.path("/.dockerenv").exists(),
        "/run/.containerenv": host.path("/run/.containerenv").exists(),
        "cgroup of a container": bool(re.search(r"docker|kubepods|containerd|lxc|libpod", cgroup)),
        "KUBERNETES_SERVICE_HOST": "KUBERNETES_SERVICE_HOST" in host.variables,
        "container variable": "container" in host.variables,
        "Apptainer or Singularity": bool({"APPTAINER_NAME", "SINGULARITY_NAME"} & set(host.variables)),
        "gVisor": "gvisor" in (host.read("/proc/version") or "").lower(),
        "seccomp filter": bool(re.search(r"^Seccomp:\s*2", status, re.M)),
        "no new privileges": bool(re.search(r"^NoNewPrivs:\s*1", status, re.M)),
    }


def variables(host: Host) -> dict[str, str]:
    """The variables that change what runs on a device, redacted; of library paths only the Ascend entries."""
    kept = {name: redact(value) for name, value in host.variables.items() if _VARIABLES.fullmatch(name)}
    for name in ("LD_LIBRARY_PATH", "PYTHONPATH"):
        entries = [redact(entry) for entry in _SHOWN_IN_PART.findall(host.variables.get(name, "")) if entry]
        if entries:
            kept[name] = ":".join(entries)
    return dict(sorted(kept.items()))


def python() -> Python:
    """This interpreter."""
    return Python(
        version=platform.python_version(),
        executable=redact(sys.executable),
        prefix=redact(sys.prefix),
        base=redact(sys.base_prefix),
    )


def packages() -> dict[str, str]:
    """Installed versions, from metadata: nothing is imported."""
    versions = ((name, _installed(name)) for name in PACKAGES)
    return {name: version for name, version in versions if version}


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit(host: Host, project: Path) -> Commit | None:
    """The project's commit, or ``None`` outside a repository or without git. The index is not refreshed."""
    git = host.which("git")
    if git is None:
        return None
    command = [git, "--no-optional-locks", "-C", str(project)]
    head = host.run([*command, "rev-parse", "HEAD"], timeout_s=20)
    if head.status != 0:
        return None
    status = host.run([*command, "status", "--porcelain", "--untracked-files=no"], timeout_s=60)
    return Commit(head.stdout.strip(), dirty=bool(status.stdout.strip()))


def load() -> tuple[float, ...]:
    """The load averages of 1, 5 and 15 minutes; empty where the system has none."""
    try:
        return tuple(round(value, 2) for value in os.getloadavg())
    except (AttributeError, OSError):
        return ()
