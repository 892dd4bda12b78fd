"""``measure`` and ``smoke`` on the command line: what they print, write and end with."""

import json
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from npueval import environment, gate, measuring, runs, smoke
from npueval.cli import main
from npueval.cli.measure import command as measure
from npueval.cli.smoke import command as smoke_command
from npueval.contracts import violations
from npueval.devices.base import open_error
from npueval.errors import Exit, NotExecuted
from npueval.language import Text, same
from npueval.resources import schema
from npueval.runs.conditions import Operator, Profile
from support.machines import Machine
from support.make_runs import make_case, make_run
from support.projects import NUMPY, make_plan

PLAN = """
format: npueval/plan/1
project: {name: small}
workload: workload.py:Model
device: cpu
precision: fp32
batches: [1, 4]
target_batch: 4
seed: 3
unit: samples/s
segments: [infer]
datasets: {short_test: null, smoke: null, golden: null, full: null, training: null, inference: null}
baseline: {logs: []}
documents: mig_docs
runs: runs
request: {performance: true, accuracy: false, agreed: true}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    make_plan(tmp_path, NUMPY)
    (tmp_path / "npueval.yaml").write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment, "record", lambda root: SimpleNamespace(as_json=dict))
    return tmp_path


@pytest.fixture(scope="module")
def bare_host(tmp_path_factory):
    root = tmp_path_factory.mktemp("bare")
    return gate.examine(root, environment=environment.record(root, host=Machine(root).host))


def invoke(command, *arguments):
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def measured(monkeypatch, run):
    monkeypatch.setattr(measuring, "measure", lambda plan, **options: run)


def test_a_run_is_printed_and_written(project, monkeypatch):
    measured(monkeypatch, make_run(doubts=(same("drift: a little"),)))
    done = invoke(measure)
    assert done.exit_code == Exit.OK
    assert "batch=32 concurrency=1: n=200, mean" in done.stdout
    assert "not measured: h2d (the cpu needs no transfer)" in done.stdout
    assert "warning: drift: a little" in done.stderr
    assert [path.name for path in (project / "runs").iterdir()] == ["20260101T000000Z-cpu-0000.json"]


@pytest.mark.parametrize(
    "changes",
    [
        {"invalid": (same("NaN"),)},
        {"complete": False, "cases": (make_case(complete=False, error="hangs", samples={}),)},
    ],
)
def test_wrong_or_missing_figures_are_a_failed_measurement(project, monkeypatch, changes):
    measured(monkeypatch, make_run(**changes))
    assert invoke(measure, "--gzip").exit_code == Exit.MEASUREMENT_FAILED
    assert runs.load(next((project / "runs").glob("*.json.gz"))).id


def test_the_other_cards_write_nothing(project, monkeypatch):
    measured(monkeypatch, make_run())
    monkeypatch.setattr(measuring, "placed", lambda: (1, 2, 1))
    answer = json.loads(invoke(measure, "--json").stdout)
    assert answer["data"] == {"rank": 1, "ranks": 2, "runs": []}
    assert not (project / "runs").exists()


def test_a_profile_is_summed_up_and_what_it_lost_is_said(project, monkeypatch):
    operators = (Operator("MatMul", 16, 3_000_000), Operator("Cast", 8, 1_000_000))
    made = Profile("profiles/x/trace.json.gz", "torch.profiler", 4, 10, 8, 2, 4_000_000, operators)
    measured(monkeypatch, make_run(profile=made))
    held = "profiles/x/trace.json.gz (8 of 10 iterations whole in the trace, the first 2 lost)"
    assert f"  profile: {held}: MatMul 75% (16 rows), Cast 25% (8 rows)" in invoke(measure, "--profile").stdout
    assert json.loads(invoke(measure, "--profile", "--json").stdout)["data"]["runs"][0]["profile"]["lost_first"] == 2
    measured(monkeypatch, make_run(profile=Profile(reason=Text("无", "none"))))
    assert "  profile: N/A (none)" in invoke(measure, "--profile").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "--", "true"], "--profile means nothing for a COMMAND"),
        (["npueval.yaml", "--device", "cpu", "--", "true"], "PLAN, --device means nothing for a COMMAND"),
        (["--runs", "3", "--batch", "4"], "--runs, --batch means nothing for a PLAN"),
        (["--"], "no COMMAND stands after --"),
    ],
)
def test_a_plan_and_a_foreign_command_have_their_own_options(project, arguments, message):
    done = invoke(measure, *arguments)
    assert done.exit_code == Exit.BAD_INPUT
    assert message in done.stderr


@pytest.mark.parametrize("command", [measure, smoke_command])
@pytest.mark.parametrize("device", ["npu", "cuda"])
def test_without_the_device_the_block_is_the_answer(project, monkeypatch, bare_host, command, device):
    monkeypatch.setattr(gate, "examine", lambda root, environment=None: bare_host)
    absent = open_error(device, "torch sees no such device", "look at the card")
    for verb in (measuring, smoke):
        monkeypatch.setattr(verb, {measuring: "measure", smoke: "run"}[verb], raises(absent))
    done = invoke(command, "--device", device)
    assert done.exit_code == Exit.NOT_EXECUTED
    first = f"1. 要求的设备 {device} 不可用：nothing was measured on {device}: torch sees no such device"
    assert done.stdout.startswith(f"## 未执行原因\n\n{first}\n")
    assert ("2. 门禁" in done.stdout) is (device == "npu")
    assert "| look at the card |" in done.stdout
    block = json.loads(invoke(command, "--device", device, "--json").stdout)["data"]
    assert violations(block, schema("not-executed")) == []


def raises(error):
    def call(*_arguments, **_named):
        raise error

    return call


def test_only_one_of_several_cards_prints_the_block(project, monkeypatch):
    monkeypatch.setattr(measuring, "measure", raises(open_error("npu", "torch sees no such device", "look")))
    monkeypatch.setattr(measuring, "placed", lambda: (1, 2, 1))
    with pytest.raises(NotExecuted):
        invoke(measure)


def test_a_foreign_command_stands_after_two_dashes(project):
    code = "print('Average latency: 15.67 ms, throughput: 63.82 samples/sec')"
    done = invoke(measure, "--runs", "1", "--json", "--", sys.executable, "-c", code)
    (answer,) = json.loads(done.stdout)["data"]["runs"]
    assert 63.82 in [figure["median"] for figure in answer["command"]["figures"]]
    assert (project / answer["path"]).exists()


def test_what_a_foreign_command_printed_is_shown(project):
    code = "print('p50: 3 ms')"
    done = invoke(measure, "--runs", "2", "--batch", "8", "--", sys.executable, "-c", code)
    assert "batch=8 concurrency=1: n=2" in done.stdout
    assert "printed: p50: median 3 ms (min 3, max 3 over 2 runs; last 2" in done.stdout


def test_a_smoke_test_that_fails_ends_with_findings(project):
    done = invoke(smoke_command)
    assert (done.exit_code, done.stdout.count("ok ")) == (Exit.OK, 4)
    assert "N/A    training runs: the workload has no train_step" in done.stdout
    make_plan(project, NUMPY.replace("return x @", "return np.nan * x @"))
    assert invoke(smoke_command).exit_code == Exit.FINDINGS
    assert smoke.load(project / "runs" / "smoke-cpu.json").inference_passed is False


def test_a_workload_that_prints_leaves_stdout_to_the_answer(project, capfd, monkeypatch):
    make_plan(project, NUMPY.replace("return x @", "print('chatter'); return x @"))
    monkeypatch.setattr(sys, "argv", ["npueval", "measure", "--sample", "0", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    answer = json.loads(capfd.readouterr().out)
    assert ended.value.code == 0
    assert answer["data"]["runs"][0]["cases"][0]["n"] == 100
    assert any("the workload printed" in warning for warning in answer["warnings"])
