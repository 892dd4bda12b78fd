"""Being asked to end: every process that a command started ends with it, and the exit status is 130."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from npueval.errors import Exit
from support import small_project

CHILD = "import os, time; open('pid.new', 'w').write(str(os.getpid())); os.rename('pid.new', 'pid'); time.sleep(600)"
STARTS_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"
PLAN = small_project.PLAN.replace("device: npu", "device: cpu")
WORKLOAD = small_project.WORKLOAD.replace("return x @", f"{STARTS_A_CHILD}; return x @")


def interrupted(folder, number, *arguments, **variables):
    """Start a command, ask it to end once what it started stands; its status, its stdout, and the process."""
    command = [sys.executable, "-m", "npueval", *arguments]
    # A shell's background job ignores Ctrl-C, and so would everything below it.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(signal.SIGINT, previous)
    started = _started(folder / "pid", process)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    return process.returncode, said, started


def _started(path: Path, process) -> psutil.Process:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    return psutil.Process(int(path.read_text()))


def has_ended(process) -> bool:
    gone, _ = psutil.wait_procs([process], timeout=10)
    return bool(gone) or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_command_that_is_timed_ends_with_us(tmp_path, number):
    status, _, child = interrupted(tmp_path, number, "measure", "--", sys.executable, "-c", STARTS_A_CHILD)
    assert status == Exit.INTERRUPTED
    assert has_ended(child)


def test_what_a_workload_started_ends_with_us(tmp_path):
    small_project.write(tmp_path, plan=PLAN, workload=WORKLOAD)
    status, said, child = interrupted(tmp_path, signal.SIGTERM, "measure", "--json")
    assert status == Exit.INTERRUPTED
    assert json.loads(said)["error"]["code"] == "INTERRUPTED"
    assert has_ended(child)


def test_what_a_workload_started_ends_even_where_nothing_can_be_done_any_more(tmp_path):
    small_project.write(tmp_path, plan=PLAN, workload=WORKLOAD)
    status, _, child = interrupted(tmp_path, signal.SIGKILL, "measure")
    assert status == -signal.SIGKILL
    assert has_ended(child)


def test_a_reading_of_the_machine_ends_with_us(tmp_path):
    program = tmp_path / "npu-smi"
    program.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{CHILD}"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    status, _, child = interrupted(tmp_path, signal.SIGTERM, "doctor", PATH=path)
    assert status == Exit.INTERRUPTED
    assert has_ended(child)


def test_a_request_that_the_user_has_ignored_stays_ignored():
    """As under ``nohup``."""
    code = (
        "import os, signal; from npueval import interruption; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
        "interruption.listen(); os.kill(os.getpid(), signal.SIGHUP); print('goes on')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "goes on\n"
