"""The ``__main__`` of a kit. Must run on any Python 3, to say which one it needs; unpacks the kit and starts it."""

import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile

OLDEST = (3, 10)


def start(archive: str, arguments: "list[str]") -> int:
    """Unpack the archive, measure, return the exit status."""
    problem = _problem()
    if problem:
        sys.stderr.write("kit: " + problem + "\n")
        return 2
    # torch_npu may be installed beside torch: without CANN its autoload breaks the import of torch.
    os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    folder = tempfile.mkdtemp(prefix="npueval-kit-")
    try:
        with zipfile.ZipFile(archive) as kit:
            kit.extractall(folder)
        sys.path[0] = folder
        from pathlib import Path

        from npueval.kit.host import main

        return main(Path(folder), arguments, Path.cwd())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _problem() -> str:
    if sys.version_info < OLDEST:
        return "needs Python 3.10 or newer, this is " + sys.version.split()[0]
    if os.name != "posix":
        return "runs on Linux only (WSL will do)"
    absent = [name for name in ("numpy", "torch") if importlib.util.find_spec(name) is None]
    return "needs " + " and ".join(absent) + " in " + sys.executable if absent else ""


if __name__ == "__main__":
    sys.exit(start(sys.argv[0], sys.argv[1:]))
