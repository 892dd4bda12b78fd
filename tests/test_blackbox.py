"""A foreign command is timed from outside; its figures are read; what it does wrong is kept."""

import sys
import time

import pytest

from npueval import runs
from npueval.contracts import violations
from npueval.errors import MeasurementError, NpuevalError
from npueval.measuring import blackbox
from npueval.measuring.blackbox import Times
from npueval.resources import schema

PRINTS = "print('Average latency: 15.67 ms, throughput: 63.82 samples/sec')"


def timed(tmp_path, code, **options):
    return blackbox.measure([sys.executable, "-c", code], folder=tmp_path / "runs", cwd=tmp_path, **options)


def test_wall_time_and_printed_figures(tmp_path):
    run = timed(tmp_path, f"import time; time.sleep(0.05); {PRINTS}", times=Times(1, 3))
    case = run.cases[0]
    assert (run.scope, run.device.kind, run.segments) == ("command", "command", ("command",))
    assert (case.n, len(case.warmup["command"])) == (3, 1)
    assert case.samples["command"].min() > 50_000_000
    figures = {figure["metric"]: figure for figure in run.command["figures"]}
    assert figures["throughput"]["value"] == 63.82
    assert figures["throughput"]["path"] == run.command["logs"][-1]
    assert (tmp_path / "runs" / run.command["logs"][0]).read_text(encoding="utf-8").startswith("Average latency")
    assert violations(runs.to_data(run), schema("run")) == []
    assert "never compares" in run.doubts[0]


def test_a_command_without_figures_says_why(tmp_path):
    command = timed(tmp_path, "print('hello')", times=Times(0, 1)).command
    assert command["figures"] == []
    assert command["no_figures"]


def test_a_run_that_fails_is_kept_beside_those_that_succeed(tmp_path):
    code = "import pathlib, sys; p = pathlib.Path('n'); n = len(p.read_text()) if p.exists() else 0; "
    code += "p.write_text('x' * (n + 1)); sys.exit(n == 2)"
    run = timed(tmp_path, code, times=Times(1, 3))
    assert run.cases[0].n == 2
    assert not run.complete
    assert run.cases[0].failures[0].error == "exit status 1"
    assert "run 2: exit status 1" in run.doubts


def test_a_command_that_never_succeeds_or_does_not_exist(tmp_path):
    with pytest.raises(MeasurementError, match="exit status 3"):
        timed(tmp_path, "import sys; sys.exit(3)", times=Times(0, 2))
    with pytest.raises(NpuevalError, match="no such program: does-not-exist"):
        blackbox.measure(["does-not-exist"], folder=tmp_path)
    with pytest.raises(NpuevalError, match="no such program"):
        blackbox.measure([], folder=tmp_path)


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    before = time.monotonic()
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with pytest.raises(MeasurementError, match=r"not finished after 0\.5 s"):
        timed(tmp_path, code, times=Times(0, 1, timeout_s=0.5))
    assert time.monotonic() - before < 30


def test_secrets_of_the_command_line_are_not_kept(tmp_path):
    run = timed(tmp_path, "print(1)  # --token=ghp_0123456789abcdefghijABCDEFGHIJ012345", times=Times(0, 1))
    assert "ghp_0123456789" not in run.workload.ref
