"""``baseline`` and ``compare`` on the command line: what they print and what they end with."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from npueval import baselines, runs
from npueval import plan as plans
from npueval.cli.baseline import command as baseline
from npueval.cli.compare import command as compare
from npueval.errors import Exit, FormatError
from npueval.runs.conditions import DeviceFacts
from support.make_runs import make_case, make_run
from support.projects import NUMPY, write_workload

LOG = """\
device: NVIDIA A100
dataset: digits
batch: 4
learning_rate: 0.01
Average latency: 15.50 ms, throughput: 258.06 samples/sec
"""
PLAN = """
format: npueval/plan/1
project: {name: small}
workload: workload.py:Model
device: npu
precision: fp32
batches: [1, 4]
target_batch: 4
seed: 3
unit: samples/s
segments: [infer]
datasets: {short_test: null, smoke: null, golden: null, full: null, training: null, inference: null}
targets: {ratio_to_baseline: 0.9}
baseline: {logs: ["*.log"]}
documents: mig_docs
runs: runs
request: {performance: true, accuracy: false, agreed: true}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_workload(tmp_path, NUMPY)
    (tmp_path / "npueval.yaml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "infer.log").write_text(LOG, encoding="utf-8")
    (tmp_path / "export.log").write_text("Exporting the model to ONNX\nmodel saved\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(command, *arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def data(command, *arguments):
    return json.loads(invoke(command, *arguments, "--json").stdout)["data"]


def test_a_scan_ranks_what_it_found_and_says_why_the_rest_is_none(project):
    done = invoke(baseline, "scan")
    assert done.exit_code == Exit.OK
    assert "1. infer.log:5-5" in done.stdout and "latency_mean_ms = 15.5 ms  [infer.log:5]" in done.stdout
    assert "rejected  export.log" in done.stdout and "2 logs read, 1 candidates" in done.stdout
    assert [item["path"] for item in data(baseline, "scan")["candidates"]] == ["infer.log"]


def test_a_scan_that_finds_nothing_is_a_finding(project):
    assert invoke(baseline, "scan", ".", "--glob", "export.*").exit_code == Exit.FINDINGS
    assert invoke(baseline, "scan", ".", "--glob", "/data/*.log").exit_code == Exit.BAD_INPUT


def test_one_log_is_shown_with_every_place(project):
    done = invoke(baseline, "extract", "infer.log")
    assert done.exit_code == Exit.OK and "dataset: digits  [infer.log:2]" in done.stdout
    assert "last 15.5 [infer.log:5]" in done.stdout
    (run,) = data(baseline, "extract", "infer.log")["runs"]
    throughput = {each["metric"]: each for each in run["series"]}["throughput"]
    assert (throughput["values"], throughput["lines"]) == ([258.06], [5])
    assert throughput["last_source"] == {"path": "infer.log", "line": 5, "text": LOG.splitlines()[4]}


def test_one_log_is_shown_with_its_verdict_and_what_lies_beside_it(project):
    (run,) = data(baseline, "extract", "infer.log")["runs"]
    assert run["verdict"]["baseline"] == "complete" and "推理延迟 p95" in run["verdict"]["missing"]
    (project / "infer.log").write_text(LOG.partition("batch")[0] + LOG.splitlines()[4] + "\n", encoding="utf-8")
    assert "  partial, grade D\n  missing: batch 或超参数" in invoke(baseline, "extract", "infer.log").stdout
    (project / "args.yaml").write_text("model: m\nbatch: 16\n", encoding="utf-8")
    (run,) = data(baseline, "extract", "infer.log")["runs"]
    assert run["facts"]["batch"]["source"]["path"] == "args.yaml"
    assert "batch 取自 args.yaml:2（日志未写）" in run["verdict"]["doubts"]


def test_a_log_that_can_be_no_baseline_is_shown_with_the_reason(project):
    (project / "bad.log").write_text("epoch 1/1 step 1/1 loss nan\n", encoding="utf-8")
    (run,) = data(baseline, "extract", "bad.log")["runs"]
    assert run["verdict"]["baseline"] == "none" and "NaN/Inf" in run["verdict"]["reason"]
    assert "  no baseline: loss 出现 NaN/Inf" in invoke(baseline, "extract", "bad.log").stdout


def test_what_is_no_log_is_shown_with_the_reason(project):
    done = invoke(baseline, "extract", "export.log")
    assert done.exit_code == Exit.FINDINGS and done.stdout.startswith("export.log: ")


def test_the_kit_is_one_file(project):
    done = invoke(baseline, "kit", "npueval.yaml", "-o", "kit.pyz")
    assert done.exit_code == Exit.OK and "there: python kit.pyz" in done.stdout
    assert (project / "kit.pyz").read_bytes().startswith(b"#!")


def test_figures_of_another_tool_are_kept_with_what_the_user_says_of_them(project):
    (project / "times.json").write_text(json.dumps([{"latencyMs": 4.0, "computeMs": 3.0}] * 400), encoding="utf-8")
    said = ("--fact", "device=NVIDIA A100", "--fact", "precision=fp32")
    done = invoke(baseline, "ingest", "times.json", "--fact", "batch=4", *said)
    assert done.exit_code == Exit.OK and "grade B: " in done.stdout and "由用户声明" in done.stderr
    assert baselines.brought(plans.load(project / "npueval.yaml")).fact("device") == "NVIDIA A100"
    without = invoke(baseline, "ingest", "times.json", *said)
    assert without.exit_code == Exit.FINDINGS and "grade D: " in without.stdout
    assert "文件未写明 batch，只能展示，不求比值" in without.stderr
    assert invoke(baseline, "ingest", "times.json", "--fact", "batch").exit_code == 2
    assert invoke(baseline, "ingest", "times.json", "--fact", "batch=4", "--fact", "batch=8").exit_code == 2


def of_the_plan(project, kind, infer_ms):
    """A Run of the project's plan, as a file."""
    device = {"npu": DeviceFacts("npu:0", "npu", 0, "910B"), "cuda": DeviceFacts("cuda:0", "cuda", 0, "A100")}[kind]
    sha256 = plans.load(project / "npueval.yaml").sha256
    cases = (make_case(1, infer_ms / 4), make_case(4, infer_ms))
    run = make_run(id=f"run-{kind}", device=device, unit="samples/s", plan_sha256=sha256, cases=cases)
    run = replace(run, protocol=replace(run.protocol, scope=("infer",)))
    return runs.save(run, project / "runs")


def test_a_run_is_held_against_a_run_that_came_back(project):
    npu, gpu = of_the_plan(project, "npu", 8.0), of_the_plan(project, "cuda", 8.1)
    done = invoke(compare, "npueval.yaml", gpu, npu)
    assert done.exit_code == Exit.OK
    assert "性能：" in done.stdout and "总体：" in done.stdout and "级）" in done.stdout
    assert data(compare, "npueval.yaml", gpu, npu)["format"] == "npueval/comparison/1"


def test_a_clear_miss_of_the_target_is_a_finding(project):
    npu, gpu = of_the_plan(project, "npu", 20.0), of_the_plan(project, "cuda", 8.0)
    done = invoke(compare, "npueval.yaml", gpu, npu)
    assert done.exit_code == Exit.FINDINGS and "性能：不通过" in done.stdout


def test_what_is_neither_baseline_nor_run_is_refused(project):
    npu = of_the_plan(project, "npu", 8.0)
    with pytest.raises(FormatError, match="neither a baseline nor a Run"):
        invoke(compare, "npueval.yaml", "infer.log", npu)
