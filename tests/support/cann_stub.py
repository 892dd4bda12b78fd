"""Libraries that stand for CANN's: every function that torch_npu's libraries need from them, returning 0."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

WHEEL = Path(sys.prefix) / "torch_npu"
LIBRARIES = ("libhccl", "libascendcl", "libacl_op_compiler", "libge_runner", "libgraph", "libacl_tdt_channel")
SYSTEM = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1")


def missing() -> str | None:
    """Why the wheel cannot be tried here, or ``None``."""
    if not (WHEEL / "torch_npu").is_dir():
        return f"torch-npu is not in {WHEEL}: scripts/setup puts it there"
    absent = [tool for tool in ("gcc", "nm") if shutil.which(tool) is None]
    return f"{' and '.join(absent)} not found" if absent else None


def build(folder: Path) -> Path:
    """Compile the libraries into ``folder`` and return it, for LD_LIBRARY_PATH."""
    ours = [*(WHEEL / "torch_npu" / "lib").glob("*.so"), *(WHEEL / "torch_npu").glob("_C*.so")]
    ours = [path for path in ours if "atb" not in path.name]
    torchs = (Path(find_spec("torch").origin).parent / "lib").glob("*.so*")
    known = _symbols([*ours, *torchs, *_system()], "--defined-only")
    needed = {name for name in _symbols(ours, "--undefined-only") - known if not re.match("_?Py", name)}
    source = folder / "stub.c"
    lines = [f"long {name}() {{ return 0; }}" for name in sorted(needed | {"aclGetRecentErrMsg"})]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    first, *others = (folder / f"{name}.so" for name in LIBRARIES)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", first, source], check=True)
    for other in others:
        shutil.copy(first, other)
    return folder


def _symbols(libraries: Iterable[Path], kind: str) -> set[str]:
    command = ["nm", "-D", "-P", kind, *map(str, libraries)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return {line.split()[0].partition("@")[0] for line in listed.splitlines() if line and not line.endswith(":")}


def _system() -> list[Path]:
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    places = {line.split()[0]: line.split()[-1] for line in known.splitlines() if "=>" in line}
    return [Path(places[name]) for name in SYSTEM if name in places]
