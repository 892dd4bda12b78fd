"""Figures of other tools, each at the grade that its form deserves, in its own units."""

import json

import pytest

from npueval import baselines
from npueval.comparing import compare
from npueval.errors import FormatError
from npueval.kit.ingest import ingest
from npueval.records import Baseline, Grade
from npueval.runs.conditions import DeviceFacts
from support.make_runs import make_run
from support.projects import make_plan

NONE = Baseline("none", Grade.NONE, reason="没有日志")


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_exported_times_of_trtexec_are_grade_b_with_their_samples_counted(tmp_path):
    plan = make_plan(tmp_path)
    times = [{"latencyMs": 4 + i % 10 / 10, "computeMs": 3.0} for i in range(400)]
    done = ingest(write(tmp_path, "times.json", times), plan, {"batch": "4", "device": "NVIDIA A100"})
    assert done.grade is Grade.B and done.baseline.fact("device_kind") == "gpu"
    p50 = done.baseline.figure("latency_p50_ms")
    assert (p50.value, p50.n) == (4.4, 400)
    assert baselines.brought(plan) == done.baseline
    assert any("由用户声明" in doubt for doubt in done.baseline.doubts)
    result = compare(plan, [make_run(device=DeviceFacts("npu:0", "npu", 0, "910B"))], NONE, brought=done.baseline)
    assert result.rows[0].gpu.value == 4.4 and result.baseline_column == "gpu"


def test_few_exported_times_give_no_p99(tmp_path):
    done = ingest(write(tmp_path, "times.json", [{"latencyMs": 4.0}] * 100), make_plan(tmp_path))
    assert {figure.metric for figure in done.baseline.figures} == {
        "latency_p50_ms",
        "latency_p95_ms",
        "latency_mean_ms",
    }


def test_a_servers_benchmark_keeps_its_quantities_apart(tmp_path):
    data = {"completed": 98, "num_prompts": 100, "request_throughput": 0.5, "output_throughput": 133.7}
    found = ingest(write(tmp_path, "vllm.json", data | {"median_e2el_ms": 165.5}), make_plan(tmp_path)).baseline
    assert found.grade is Grade.B and found.figure("throughput") is None
    assert (found.figure("output_throughput").value, found.figure("latency_p50_ms").n) == (133.7, 98)
    assert "有 2 个失败的请求" in found.doubts


def test_ais_bench_is_an_ascend_card_and_no_gpu_baseline(tmp_path):
    data = {"NPU_compute_time": {"mean": 13.6, "median": 13.5}, "throughput": 73.0}
    found = ingest(write(tmp_path, "summary.json", data), make_plan(tmp_path)).baseline
    assert found.fact("device_kind") == "npu" and found.grade is Grade.C
    result = compare(make_plan(tmp_path), [], NONE, brought=found)
    assert all(row.gpu.value is None for row in result.rows)


def test_our_own_csv_gives_the_gpu_side_without_its_samples(tmp_path):
    head = "format,kind,metric,batch,concurrency,arrival_rate,side,value,unit,direction,n\n"
    line = "npueval/comparison-csv/1,performance,latency_p50_ms,{},1,,{},4.25,ms,lower,200\n"
    path = write(tmp_path, "compare.csv", "\ufeff" + head + line.format(4, "gpu") + line.format(4, "npu"))
    found = ingest(path, make_plan(tmp_path)).baseline
    assert found.grade is Grade.B and [figure.value for figure in found.figures] == [4.25]


def test_a_log_may_be_brought_too(tmp_path):
    text = (
        "device: NVIDIA T4\nbatch_size: 4\ndataset: imagenet\nAverage latency: 15.5 ms, throughput: 258.0 samples/sec\n"
    )
    found = ingest(write(tmp_path, "infer.log", text), make_plan(tmp_path)).baseline
    assert (found.source, found.grade, found.figure("latency_mean_ms").value) == ("gpu", Grade.C, 15.5)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello\n", "of no known form"),
        ('[{"latencyMs": -1}]', "zero or less"),
        ("", "of no known form"),
    ],
)
def test_bad_files_are_one_clear_error(tmp_path, content, words):
    with pytest.raises(FormatError) as caught:
        ingest(write(tmp_path, "bad.json", content), make_plan(tmp_path))
    assert words in str(caught.value)
