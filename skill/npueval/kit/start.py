"""The ``__main__`` of a kit. Any Python must be able to read it, to be told which one is needed; starts the kit."""

import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import zipfile
import zlib

OLDEST = (3, 10)
MANIFEST = "manifest.json"
_BLOCK = 1 << 20
# What the zip module raises over a damaged file, by the kind of damage.
_DAMAGED = (zipfile.BadZipfile, zlib.error, EOFError, ValueError, LookupError, RuntimeError, OverflowError)


def start(archive, arguments):  # type: (str, list[str]) -> int
    """Unpack the archive, measure, return the exit status."""
    folder = ""
    try:
        problem = _unfit_host()
        if problem:
            return _refuse(problem)
        # torch_npu may lie beside torch: without CANN its autoload breaks the import of torch. No kit needs it.
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        folder = _new_folder()
        problem = _unpacked(archive, folder) if folder else "finds no place to unpack itself; name one with TMPDIR"
        problem = problem or _changed(folder)
        return _refuse(problem) if problem else _measured(folder, archive, arguments)
    except KeyboardInterrupt:
        sys.stderr.write("kit: interrupted; nothing was measured\n")
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(folder, archive, arguments):  # type: (str, str, list[str]) -> int
    sys.path[0] = folder
    import importlib.util
    from pathlib import Path

    from npueval.kit.asking import parser

    parser(Path(archive).name).parse_args(arguments)
    if importlib.util.find_spec("numpy") is None:
        return _refuse("needs numpy in " + sys.executable)
    from npueval.kit.host import main

    return main(Path(folder), arguments, Path.cwd())


def _new_folder():  # type: () -> str
    try:
        return tempfile.mkdtemp(prefix="npueval-kit-")
    except OSError:
        return ""


def _unpacked(archive, folder):  # type: (str, str) -> str
    """Unpack; answer what went wrong."""
    try:
        with zipfile.ZipFile(archive) as kit:
            kit.extractall(folder)
    except _DAMAGED as error:
        return "the file is damaged, copy it again (" + str(error) + ")"
    except OSError as error:
        return "cannot be unpacked to " + folder + ": " + str(error) + "; name another place with TMPDIR"
    return ""


def _changed(folder):  # type: (str) -> str
    """What is not as it was packed; asked before any of it runs."""
    from pathlib import Path

    there = {path.relative_to(folder).as_posix(): path for path in Path(folder).rglob("*") if path.is_file()}
    try:
        packed = dict(json.loads(there.pop(MANIFEST).read_bytes())["files"])
    except (OSError, ValueError, LookupError, TypeError):
        return "its manifest cannot be read; make it anew: npueval baseline kit"
    found = {}
    for name, path in there.items():
        digest = hashlib.sha256()
        with path.open("rb") as file:
            for block in iter(functools.partial(file.read, _BLOCK), b""):
                digest.update(block)
        found[name] = digest.hexdigest()
    wrong = sorted(name for name in set(found) | set(packed) if found.get(name) != packed.get(name))
    if wrong:
        return "was changed after it was made: " + ", ".join(wrong[:5]) + "; make it anew: npueval baseline kit"
    return ""


def _unfit_host():  # type: () -> str
    if sys.version_info < OLDEST:
        return "needs Python 3.10 or newer, this is " + sys.version.split()[0]
    if os.name != "posix":
        return "runs on Linux only (WSL will do)"
    if os.environ.get("WORLD_SIZE", "1") not in ("", "1"):
        return "measures one card, but WORLD_SIZE is " + os.environ["WORLD_SIZE"] + ": start it without torchrun"
    return ""


def _refuse(problem):  # type: (str) -> int
    sys.stderr.write("kit: " + problem + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(start(sys.argv[0], sys.argv[1:]))
