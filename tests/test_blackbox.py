"""A foreign command is timed from outside; its figures are read; what it does wrong is kept."""

import sys
import time

import pytest

from npueval import runs
from npueval.comparing.comparability import of_runs
from npueval.contracts import violations
from npueval.errors import MeasurementError, NpuevalError
from npueval.measuring import blackbox, printed
from npueval.measuring.blackbox import Times
from npueval.resources import schema

PRINTS = "print('Average latency: 15.67 ms, throughput: 63.82 samples/sec')"
COUNTS = (
    "import pathlib; p = pathlib.Path('n'); n = len(p.read_text()) if p.exists() else 0; p.write_text('x' * (n + 1)); "
)


def timed(tmp_path, code, **options):
    return blackbox.measure([sys.executable, "-c", code], folder=tmp_path / "runs", cwd=tmp_path, **options)


def test_wall_time_and_printed_figures(tmp_path):
    run = timed(tmp_path, f"import time; time.sleep(0.05); {PRINTS}", times=Times(1, 3))
    case = run.cases[0]
    assert (run.scope, run.device.kind, run.segments) == ("command", "command", ("command",))
    assert (case.n, len(case.warmup["command"])) == (3, 1)
    assert case.samples["command"].min() > 50_000_000
    figures = {figure["metric"]: figure for figure in run.command["figures"]}
    assert figures["throughput"]["median"] == 63.82
    assert figures["throughput"]["runs"][-1]["path"] == run.command["logs"][-1]
    assert (tmp_path / "runs" / run.command["logs"][0]).read_text(encoding="utf-8").startswith("Average latency")
    assert violations(runs.to_data(run), schema("run")) == []
    assert "never compares" in run.doubts[0].en


def test_the_printed_figures_of_every_timed_run_are_kept_and_summed_up(tmp_path):
    code = COUNTS + "print(f'batch 32\\niter 1 speed: {10 * n} img/s\\nthroughput: {n}.5 images/s, p95 {7 - n} ms')"
    figures = timed(tmp_path, code, times=Times(1, 3)).command["figures"]
    told = {f["metric"]: (f["unit"], f["n"], f["median"], f["min"], f["max"]) for f in figures}
    assert told == {
        "speed": ("img/s", 3, 20, 10, 30),
        "throughput": ("images/s", 3, 2.5, 1.5, 3.5),
        "p95": ("ms", 3, 5, 4, 6),
    }
    throughput = figures[1]["runs"]
    assert [(run["run"], run["value"], run["line"]) for run in throughput] == [(1, 1.5, 3), (2, 2.5, 3), (3, 3.5, 3)]
    assert throughput[0]["text"] == "throughput: 1.5 images/s, p95 6 ms"


def test_the_batch_is_what_the_user_says_and_nothing_else(tmp_path):
    unknown = timed(tmp_path, PRINTS, times=Times(0, 1))
    assert (unknown.cases[0].batch, unknown.cases[0].name) == (None, "batch=unknown concurrency=1")
    assert runs.load(runs.save(unknown, tmp_path)).cases[0].batch is None
    assert timed(tmp_path, PRINTS, times=Times(0, 1), batch=32).cases[0].batch == 32
    (batch,) = [p for p in of_runs(unknown, unknown.cases[0], unknown, unknown.cases[0]) if p.name == "batch"]
    assert batch.agreement == "unknown"


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        (
            "Latency: min = 1.2 ms, percentile(99%) = 3 ms",
            {"Latency: min": (1.2, "ms"), "Latency: percentile(99%)": (3, "ms")},
        ),
        ("Request throughput (req/s):      3.95", {"Request throughput": (3.95, "req/s")}),
        ("2024-01-01 10:00:03,123 - bench - INFO - p50: 3 ms", {"p50": (3, "ms")}),
        ('{"p50_ms": 5.2, "top1": 0.7, "n": 3}', {"p50_ms": (5.2, "ms"), "top1": (0.7, "")}),
        ("time: 1,234.5 ms", {"time": (1234.5, "ms")}),
        ("平均延迟：3.2 毫秒", {"平均延迟": (3.2, "毫秒")}),
        ("accuracy 76.13%", {"accuracy": (76.13, "%")}),
        (
            "NPU_compute_time (ms): min = 1.2, max = 3.4",
            {"NPU_compute_time: min": (1.2, "ms"), "NPU_compute_time: max": (3.4, "ms")},
        ),
        ("Loading:  50%|███   | 5/10 [00:01<00:01, 4.9it/s], batch 32, version 1.2.3", {}),
    ],
)
def test_a_printed_figure_is_a_label_a_number_and_a_unit(tmp_path, line, figures):
    (tmp_path / "0.log").write_text(line, encoding="utf-8")
    found = printed.figures({0: tmp_path / "0.log"})["figures"]
    assert {f["metric"]: (f["median"], f["unit"]) for f in found} == figures


def test_a_command_without_figures_says_why(tmp_path):
    command = timed(tmp_path, "print('hello')", times=Times(0, 2)).command
    assert command["figures"] == []
    assert command["no_figures"] == {"no labelled figure in its output": [0, 1]}
    binary = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 64); print('throughput: 5 images/s')"
    assert timed(tmp_path, binary, times=Times(0, 1)).command["no_figures"] == {"its output is no text": [0]}


def test_a_run_that_fails_is_kept_beside_those_that_succeed(tmp_path):
    code = COUNTS + f"import sys; {PRINTS}; sys.exit(n == 2)"
    run = timed(tmp_path, code, times=Times(1, 3))
    assert run.cases[0].n == 2
    assert not run.complete
    assert run.cases[0].failures[0].error == "exit status 1"
    assert "run 2: exit status 1" in [doubt.en for doubt in run.doubts]
    assert [each["run"] for each in run.command["figures"][0]["runs"]] == [1, 3]


def test_a_command_that_never_succeeds_or_does_not_exist(tmp_path):
    with pytest.raises(MeasurementError, match="exit status 3"):
        timed(tmp_path, "import sys; sys.exit(3)", times=Times(0, 2))
    with pytest.raises(MeasurementError, match="ended by SIGKILL"):
        timed(tmp_path, "import os; os.kill(os.getpid(), 9)", times=Times(0, 1))
    script = tmp_path / "script"
    script.write_text("print(1)")
    script.chmod(0o755)
    with pytest.raises(NpuevalError, match="cannot be started: Exec format error"):
        blackbox.measure([str(script)], folder=tmp_path)
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


def test_what_a_command_leaves_running_is_ended_and_said(tmp_path):
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    run = timed(tmp_path, code, times=Times(0, 2))
    assert run.cases[0].n == 2
    assert "the command left processes running, which were ended after each run: 0, 1" in [
        doubt.en for doubt in run.doubts
    ]


def test_output_of_any_size_and_a_closed_stdout_do_no_harm(tmp_path):
    code = f"import os; print('x' * 4_000_000); {PRINTS}; import sys; sys.stdout.flush(); os.close(1); os.close(2)"
    assert timed(tmp_path, code, times=Times(0, 1)).command["figures"][1]["median"] == 63.82


def test_secrets_of_the_command_line_are_not_kept(tmp_path):
    run = timed(tmp_path, "print(1)  # --token=ghp_0123456789abcdefghijABCDEFGHIJ012345", times=Times(0, 1))
    assert "ghp_0123456789" not in run.workload.ref
