"""A workload that hangs, dies, exits or prints, in its own process: reported as what it is, the samples so far kept."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from npueval import measuring
from npueval.errors import Exit, MeasurementError, NotExecuted, UnknownDevice, WorkloadError
from npueval.measuring import tape
from support.projects import NUMPY, make_plan

COUNTED = "import time; time.sleep(2e-4); self.calls = getattr(self, 'calls', 0) + 1\n            "
# Call 60 is iteration 48 of the first case's window: one call is cold, ten warm up.
AT_60 = COUNTED + "if self.calls == 60: {}\n            return x @"


def at_60(action):
    return NUMPY.replace("return x @", AT_60.format(action))


def test_a_measurement_in_its_own_process(tmp_path):
    told = []
    run = measuring.measure(make_plan(tmp_path), sampling_s=0, progress=told.append)
    assert told == [
        "opening the device",
        "loading the workload",
        "measuring the harness floor",
        "case 1/2: batch=1 concurrency=1",
        "case 2/2: batch=4 concurrency=1",
        "checking the outputs",
    ]
    assert run.valid
    assert run.complete
    assert [case.n for case in run.cases] == [100, 100]
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("time.sleep(60)", "hangs: not finished after 1.5 s in infer (workload.py:7); ended"),
        ("import os; os._exit(9)", "the process ended by itself with status 9"),
        ("import os; os.kill(os.getpid(), 11)", "the process was ended by SIGSEGV in infer (workload.py:7)"),
    ],
    ids=["hang", "exit", "crash"],
)
def test_what_ends_the_process_ends_one_case(tmp_path, action, error):
    plan = make_plan(tmp_path, at_60(action), case_timeout_s=1.5, iterations=60, batches=(1, 4))
    run = measuring.measure(plan, sampling_s=0)
    first, second = run.cases
    assert first.error == error
    assert (first.n, first.complete) == (48, False)
    assert (first.samples["infer"] > 0).all()
    # The second case runs in a new process, where the calls are counted from the beginning.
    assert (second.n, second.error) == (48, error)
    assert not run.complete
    assert any(f"(48 samples): {error}" in doubt.en for doubt in run.doubts)


def test_a_hang_outside_python_is_ended_too(tmp_path):
    """An endless loop in C that never gives the interpreter a chance."""
    stuck = at_60("import itertools; sum(itertools.repeat(0))")
    run = measuring.measure(make_plan(tmp_path, stuck, case_timeout_s=1.5, batches=(1,), target_batch=1), sampling_s=0)
    assert "hangs: not finished after 1.5 s" in run.cases[0].error
    assert run.cases[0].n == 48


def test_printing_goes_nowhere_and_is_said(tmp_path, capfd):
    loud = NUMPY.replace("return x @", "print('chatter'); return x @")
    run = measuring.measure(make_plan(tmp_path, loud), sampling_s=0)
    assert any("the workload printed" in doubt.en for doubt in run.all_doubts())
    assert "chatter" not in capfd.readouterr().out


def in_load(action: str) -> str:
    return NUMPY.replace("self.weights =", f"{action}; self.weights =")


@pytest.mark.parametrize(
    "source",
    [
        in_load("[os.close(n) for n in (0, 1, 2)]").replace("return x", "os.write(1, b'x' * 999); return x"),
        in_load("import sys; sys.stdout.close()"),
        in_load("import sys; sys.stdout = sys.stderr = None"),
        in_load("os.chdir('/'); os.environ.clear()"),
        in_load("import signal; [signal.signal(n, print) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)]"),
        in_load("import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()"),
    ],
    ids=["closes descriptors", "closes stdout", "no stdout", "elsewhere", "signals", "a thread that stays"],
)
def test_what_a_workload_does_to_its_process_costs_no_figures(tmp_path, source):
    source = source.replace("import numpy as np", "import numpy as np, os")
    run = measuring.measure(make_plan(tmp_path, source, case_timeout_s=300.0, iterations=20), sampling_s=0)
    assert [(case.n, case.error) for case in run.cases] == [(20, None), (20, None)]
    assert run.valid and all((case.samples["infer"] > 0).all() for case in run.cases)
    told = any("the workload printed" in doubt.en for doubt in run.all_doubts())
    assert told == ("os.write" in source)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("import os; os.closerange(3, 256)", "closes file descriptors that it did not open"),
        ("import os; os.fork()", "the workload forks, and the child comes back from its call"),
        (
            "import pathlib, shutil; shutil.rmtree(pathlib.Path(__file__).with_name('runs'))",
            "the measurement's folder was removed while it ran",
        ),
    ],
)
def test_a_workload_that_takes_our_own_from_us_is_refused(tmp_path, action, message):
    with pytest.raises(MeasurementError, match=message):
        measuring.measure(make_plan(tmp_path, in_load(action)), sampling_s=0)


def test_a_tape_that_is_not_as_it_was_made_gives_no_samples(tmp_path):
    path = tmp_path / "tape"
    made = tape.Tape(["infer"], 2, path)
    made.columns["infer"][0] = 7
    assert tape.read(path, ["infer"], 2)["infer"].tolist() == [7]
    path.write_bytes(path.read_bytes() + b"x" * 8)
    assert tape.read(path, ["infer"], 2) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("def load(self, device, precision): raise OSError('no weights')", "Model.load raised OSError: no weights"),
        ("def load(self, device, precision): raise SystemExit(2)", r"Model.load called sys.exit\(2\)"),
        ("def load(self, device, precision): import os; os._exit(7)", "did not load: the process ended .* status 7"),
    ],
)
def test_a_workload_that_does_not_load(tmp_path, change, message):
    source = NUMPY.replace("def load(self, device, precision): self.weights = np.eye(4, dtype=np.float32)", change)
    with pytest.raises((WorkloadError, MeasurementError), match=message) as caught:
        measuring.measure(make_plan(tmp_path, source), sampling_s=0)
    assert caught.value.line == (3 if isinstance(caught.value, WorkloadError) else None)


LOAD = "self.weights = np.eye(4, dtype=np.float32)"


@pytest.mark.parametrize("where", [LOAD, "return np.random"], ids=["load", "inputs"])
def test_a_hang_before_the_first_case_is_ended(tmp_path, where):
    """Preparations have ten times the patience of a case."""
    stuck = NUMPY.replace(where, f"import time; time.sleep(600); {where}")
    told = r"the workload did not load: hangs: not finished after 5 s in \w+ \(workload.py:\d\); ended"
    with pytest.raises(MeasurementError, match=told):
        measuring.measure(make_plan(tmp_path, stuck, case_timeout_s=0.5), sampling_s=0)


def test_a_hang_in_the_check_keeps_the_figures(tmp_path):
    stuck = NUMPY + "        def check(self, outputs): import time; time.sleep(600)\n"
    run = measuring.measure(make_plan(tmp_path, stuck, case_timeout_s=1.5, iterations=20), sampling_s=0)
    assert [case.n for case in run.cases] == [20, 20]
    told = "the outputs are unchecked: hangs: not finished after 1.5 s in check (workload.py:7); ended"
    assert told in [doubt.en for doubt in run.doubts]


def test_no_sample_at_all_is_a_failed_measurement(tmp_path):
    broken = NUMPY.replace("return x @", "raise RuntimeError('no kernel'); return x @")
    with pytest.raises(MeasurementError, match=r"not one sample.*no kernel \(workload.py:6\)") as caught:
        measuring.measure(make_plan(tmp_path, broken), sampling_s=0)
    assert caught.value.status == Exit.MEASUREMENT_FAILED
    assert "\n" not in str(caught.value)
    told = []
    with pytest.raises(MeasurementError):
        measuring.measure(make_plan(tmp_path, broken), sampling_s=0, progress=told.append)
    assert "case 1/2: batch=1 concurrency=1" in told


def test_two_measurements_do_not_write_to_one_journal(tmp_path):
    plan = make_plan(tmp_path)

    def again(line):
        with pytest.raises(MeasurementError, match="under way in another process"):
            measuring.measure(plan, sampling_s=0)

    assert measuring.measure(plan, sampling_s=0, progress=again).complete


def test_a_card_that_is_not_here_is_explained(tmp_path):
    pytest.importorskip("torch")
    with pytest.raises(NotExecuted, match="nothing was measured on npu: torch_npu is not installed") as caught:
        measuring.measure(make_plan(tmp_path), device="npu", sampling_s=0)
    assert caught.value.hint
    assert caught.value.code == "DEVICE_ABSENT"


@pytest.mark.parametrize("name", ["abacus", "npu:x", "cpu:1"])
def test_a_device_that_there_cannot_be_is_a_mistake_not_a_refusal(tmp_path, name):
    with pytest.raises(UnknownDevice) as caught:
        measuring.measure(make_plan(tmp_path), device=name, sampling_s=0)
    assert (caught.value.status, name in caught.value.message) == (Exit.BAD_INPUT, True)


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from support.projects import NUMPY, make_plan
from npueval import measuring
import test_isolation
plan = test_isolation.slow_plan(Path({folder!r}))
measuring.measure(plan, sampling_s=0, progress=lambda line: print(line, flush=True))
"""


def slow_plan(folder):
    """Two cases of a third of a second each."""
    slow = NUMPY.replace("return x @", "import time; time.sleep(0.01); return x @")
    return make_plan(folder, slow, iterations=30)


def test_a_killed_measurement_goes_on_where_it_stopped(tmp_path):
    script = SCRIPT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    lines = iter(process.stdout)
    assert any(line.startswith("case 2/2") for line in lines)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    told = []
    run = measuring.measure(slow_plan(tmp_path), sampling_s=0, progress=told.append)
    assert [line for line in told if line.startswith("case")] == ["case 2/2: batch=4 concurrency=1"]
    assert [case.n for case in run.cases] == [30, 30]
    assert any("more than one process" in doubt.en for doubt in run.doubts)


def test_the_worker_does_not_outlive_its_parent(tmp_path):
    source = NUMPY.replace("def load(self, device, precision):", "def load(self, device, precision): self._note();")
    source += (
        "        def _note(self):\n"
        "            import os, pathlib\n"
        "            pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))\n"
    )
    make_plan(tmp_path, source.replace("return x @", "import time; time.sleep(0.01); return x @"))
    script = SCRIPT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    script = script.replace("test_isolation.slow_plan(", "test_isolation.as_written(")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert any(line.startswith("case 1/2") for line in process.stdout)
    process.kill()
    process.wait()
    process.stdout.close()
    worker = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(worker)


def as_written(folder):
    """The plan of a workload that is in the folder already."""
    source = (folder / "workload.py").read_text(encoding="utf-8")
    return make_plan(folder, source)
