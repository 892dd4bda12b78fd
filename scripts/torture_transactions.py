#!/usr/bin/env python3
"""Kill the writing process at every step of transactions over five documents, and look what is left.

Each round forks a child that patches, takes back or moves the documents and kills itself (SIGKILL) just before its n-th
system call that touches a file, or halfway through a write. Right after it every document must be wholly old or wholly
new; after the next command the whole set must be. Prints a table; exit status 1 where anything was lost.

    .venv/bin/python scripts/torture_transactions.py [--kills 500]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npueval import patching
from npueval.documents import layout, transactions
from npueval.records import Edit

STEPS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir", "chmod", "utime")
State = dict[str, bytes]


def edits(run: str) -> list[Edit]:
    """One figure of a run into each of the five documents, and a new row."""
    return [
        Edit("Compare#4/延迟 p50 (ms)/NPU（迁移后）", f"12.3（{run}）", source=run),
        Edit(f"Compare#4/{run}", (run, "1", "2"), source=run, after="延迟 p50 (ms)"),
        Edit("Mig_Readme#4.1/code[1]", f"python infer.py --run {run}\n" * 50, source=run),
        Edit("Mig_report#3/OS / 容器镜像（如有）", run, source=run),
        Edit("environment#Python/venv_python", run, source=run),
        Edit("Summary#总览/一句话结论", run, source=run),
    ]


def fill(folder: Path) -> None:
    patching.patch(folder, edits("run-2"))


def take_back(folder: Path) -> None:
    patching.undo(folder)


def upgrade(folder: Path) -> None:
    layout.upgrade(folder)


def fresh(folder: Path) -> None:
    layout.create(folder)


def filled(folder: Path) -> None:
    layout.create(folder)
    patching.patch(folder, edits("run-1"))


def linked(folder: Path) -> None:
    """Two of the documents are links to files in another folder."""
    filled(folder)
    for name in ("working/Compare.md", "Summary.md"):
        real = folder.parent / "elsewhere" / Path(name).name
        real.parent.mkdir(exist_ok=True)
        (folder / name).rename(real)
        (folder / name).symlink_to(real)


def flat(folder: Path) -> None:
    filled(folder)
    for path in (folder / "working").iterdir():
        path.rename(folder / path.name)


SCENES: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "patch blank documents": (fresh, fill),
    "patch filled documents": (filled, fill),
    "patch through links": (linked, fill),
    "take a patch back": (filled, take_back),
    "move an old layout": (flat, upgrade),
}


@dataclass
class Tally:
    """What was seen in one scene."""

    kills: int = 0
    after: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def read(folder: Path) -> State:
    """Every file that is not the transaction's own, the ledger among them."""
    own = folder / transactions.STATE
    files = (path for path in folder.rglob("*") if path.is_file() and own not in path.parents)
    state = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    ledger = own / "ledger.json"
    return state | ({"ledger": ledger.read_bytes()} if ledger.exists() else {})


def arm(step: int, *, halfway: bool) -> None:
    """Let this process die at its ``step``-th call; ``halfway`` through it where it is a write."""
    left = step

    def deadly(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                if halfway and name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                elif halfway:
                    real(*arguments, **named)
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return real(*arguments, **named)

        return call

    for name in STEPS:
        setattr(os, name, deadly(name, getattr(os, name)))


def killed(act: Callable[[Path], None], folder: Path, step: int, *, halfway: bool) -> bool:
    child = os.fork()
    if child == 0:
        arm(step, halfway=halfway)
        act(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def torture(scene: str, prepared: Path, tally: Tally, *, halfway: bool) -> None:
    """Kill at every step of a scene until the child lives to its end."""
    act = SCENES[scene][1]
    old = read(prepared / "mig_docs")
    new = state_after(prepared, act)
    step = 0
    while True:
        with tempfile.TemporaryDirectory() as room:
            folder = copied(prepared, Path(room)) / "mig_docs"
            if not killed(act, folder, step, halfway=halfway):
                return
            tally.kills += 1
            left = read(folder)
            torn = [
                name for name, data in left.items() if data not in (old.get(name), new.get(name)) and name[0] != "."
            ]
            torn = [name for name in torn if not name.endswith(".npueval-new")]
            with transactions.exclusive(folder):
                pass
            settled = read(folder)
            verdict = "old" if settled == old else "new" if settled == new else "mixed"
            tally.after[verdict] += 1
            if torn or verdict == "mixed":
                tally.faults.append(f"step {step}{' (halfway)' if halfway else ''}: {torn or verdict}")
        step += 1


def state_after(prepared: Path, act: Callable[[Path], None]) -> State:
    with tempfile.TemporaryDirectory() as room:
        folder = copied(prepared, Path(room)) / "mig_docs"
        act(folder)
        return read(folder)


def copied(prepared: Path, room: Path) -> Path:
    """A copy of the prepared project in which links lead to the copy's own files."""
    shutil.copytree(prepared, room / "project", symlinks=True)
    for path in (room / "project").rglob("*.md"):
        if path.is_symlink():
            target = room / "project" / path.readlink().relative_to(prepared)
            path.unlink()
            path.symlink_to(target)
    return room / "project"


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=500, help="go on until so many processes were killed")
    wanted = parser.parse_args().kills
    started, tallies = time.monotonic(), {scene: Tally() for scene in SCENES}
    while sum(tally.kills for tally in tallies.values()) < wanted:
        for scene, tally in tallies.items():
            with tempfile.TemporaryDirectory() as room:
                prepared = Path(room).resolve() / "prepared"
                (prepared / "mig_docs").mkdir(parents=True)
                SCENES[scene][0](prepared / "mig_docs")
                for halfway in (False, True):
                    torture(scene, prepared, tally, halfway=halfway)
    print(f"{'scene':28}{'kills':>7}{'then old':>10}{'then new':>10}{'lost':>6}")
    for scene, tally in tallies.items():
        print(f"{scene:28}{tally.kills:7}{tally.after['old']:10}{tally.after['new']:10}{len(tally.faults):6}")
        print(*(f"  {fault}" for fault in tally.faults), sep="\n", end="\n" if tally.faults else "")
    kills, lost = (sum(counts) for counts in zip(*((t.kills, len(t.faults)) for t in tallies.values()), strict=True))
    print(f"{kills} kills, {lost} losses, {time.monotonic() - started:.0f} s")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
