"""The ``__main__`` of a kit. Must run on any Python 3, to say which one it needs; unpacks the kit and starts it."""

import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
import zlib

OLDEST = (3, 10)


def start(archive: str, arguments: "list[str]") -> int:
    """Unpack the archive, measure, return the exit status."""
    problem = _problem()
    if problem:
        sys.stderr.write("kit: " + problem + "\n")
        return 2
    # torch_npu may be installed beside torch: without CANN its autoload breaks the import of torch. No kit needs it.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    folder = tempfile.mkdtemp(prefix="npueval-kit-")
    try:
        problem = _unpacked(archive, folder)
        if problem:
            sys.stderr.write("kit: " + problem + "\n")
            return 2
        sys.path[0] = folder
        from pathlib import Path

        from npueval.kit.host import main

        return main(Path(folder), arguments, Path.cwd())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpacked(archive: str, folder: str) -> str:
    """Unpack; answer what went wrong."""
    try:
        with zipfile.ZipFile(archive) as kit:
            kit.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return "the file is damaged, copy it again (" + str(error) + ")"
    except OSError as error:
        return "cannot be unpacked to " + folder + ": " + str(error) + "; name another place with TMPDIR"
    return ""


def _problem() -> str:
    if sys.version_info < OLDEST:
        return "needs Python 3.10 or newer, this is " + sys.version.split()[0]
    if os.name != "posix":
        return "runs on Linux only (WSL will do)"
    absent = [name for name in ("numpy", "torch") if importlib.util.find_spec(name) is None]
    return "needs " + " and ".join(absent) + " in " + sys.executable if absent else ""


if __name__ == "__main__":
    sys.exit(start(sys.argv[0], sys.argv[1:]))
