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
SAID = {"batch": "4", "precision": "fp32", "device": "NVIDIA A100"}


@pytest.fixture
def bring(tmp_path):
    """Take a file in that lies outside the project of a plan."""
    plan = make_plan(tmp_path / "项目 一")

    def take_in(content, facts=None, name="x.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content).replace("Infinity", "1e999")
            path.write_text(text, encoding="utf-8")
        return ingest(path, plan, facts)

    take_in.plan = plan
    return take_in


def query(latency, **changes):
    """What trtexec exports of one query, as its newer versions do."""
    parts = {"startEnqMs": 1.0, "endEnqMs": 1.1, "h2dMs": 0.25, "computeMs": latency - 0.5, "d2hMs": 0.25}
    return {**parts, "latencyMs": latency, **changes}


QUERIES = [query(4 + i % 10 / 10) for i in range(400)]


def test_exported_times_of_trtexec_are_grade_b_with_their_samples_counted(bring):
    done = bring(QUERIES, SAID)
    assert done.grade is Grade.B and done.baseline.fact("device_kind") == "gpu"
    p50 = done.baseline.figure("latency_p50_ms")
    assert (p50.value, p50.n, done.baseline.fact("scope")) == (4.4, 400, "h2d+infer+d2h")
    assert baselines.brought(bring.plan) == done.baseline
    assert done.baseline.doubts == ("batch、precision、device 由用户声明",)
    result = compare(bring.plan, [make_run(device=DeviceFacts("npu:0", "npu", 0, "910B"))], NONE, brought=done.baseline)
    assert result.rows[0].gpu.value == 4.4 and result.baseline_column == "gpu"


def test_the_file_that_figures_were_read_from_is_kept_and_cited(bring):
    done = bring(QUERIES, SAID, "my times.json")
    assert done.baseline.path == "runs/brought/my times.json"
    assert (bring.plan.root / done.baseline.path).read_text(encoding="utf-8") == json.dumps(QUERIES)
    assert str(done.baseline.figures[0].source) == "runs/brought/my times.json:1"
    assert done.baseline.figures[0].source.text.startswith('"latencyMs": 4.0')
    assert baselines.scan(bring.plan.root).files == 0
    inside = bring.plan.root / "logs" / "times.json"
    inside.parent.mkdir()
    inside.write_text(json.dumps(QUERIES), encoding="utf-8")
    assert ingest(inside, bring.plan, SAID).baseline.path == "logs/times.json"


@pytest.mark.parametrize(
    ("facts", "grade", "doubt"),
    [
        ({}, Grade.D, "文件未写明 batch，只能展示，不求比值"),
        ({"precision": "fp16"}, Grade.D, "文件未写明 batch，只能展示，不求比值"),
        ({"batch": "4"}, Grade.C, "文件未写明精度，结论至多为有条件"),
    ],
)
def test_what_is_not_said_lowers_the_grade_and_the_comparison_agrees(bring, facts, grade, doubt):
    done = bring(QUERIES, facts)
    assert done.grade is grade and doubt in done.baseline.doubts
    npu = make_run(device=DeviceFacts("npu:0", "npu", 0, "910B"))
    result = compare(bring.plan, [npu], NONE, brought=done.baseline)
    assert result.performance.verdict != "通过"


def test_without_the_copies_the_scope_is_the_network_alone(bring):
    """Newer trtexec leaves the transfers out unless it is asked for them."""
    done = bring([query(4.0, h2dMs=0, d2hMs=0, computeMs=4.0)] * 100, SAID)
    assert done.baseline.fact("scope") == "infer"
    old = bring([{"inMs": 0.5, "computeMs": 3.0, "outMs": 0.5, "latencyMs": 4.0, "endToEndMs": 7.5}] * 100, SAID)
    assert old.baseline.fact("scope") == "h2d+infer+d2h"


def test_few_exported_times_give_no_p99_and_fewer_than_six_no_ratio(bring):
    some = bring([query(4.0)] * 100, SAID)
    assert [figure.metric for figure in some.baseline.figures] == [
        "latency_p50_ms",
        "latency_p95_ms",
        "latency_mean_ms",
    ]
    assert bring([query(4.0)] * 5, SAID).grade is Grade.D


SERVE = {
    "date": "20260301-101500",
    "model_id": "some/model",
    "num_prompts": 100,
    "request_rate": "inf",
    "max_concurrency": 8,
    "duration": 19.6,
    "completed": 98,
    "request_throughput": 5.0,
    "output_throughput": 133.7,
    "total_token_throughput": 200.0,
    "mean_ttft_ms": 0.0,
    "median_tpot_ms": 9.5,
    "p99_tpot_ms": 12.5,
    "median_e2el_ms": 165.5,
    "p99_e2el_ms": 300.5,
}


def test_a_servers_benchmark_keeps_its_quantities_apart(bring):
    found = bring(SERVE, SAID).baseline
    assert found.grade is Grade.B and found.figure("throughput") is None
    units = {figure.metric: (figure.value, figure.unit, figure.n) for figure in found.figures}
    assert units == {
        "tpot_p50_ms": (9.5, "ms", 98),
        "tpot_p99_ms": (12.5, "ms", 98),
        "latency_p50_ms": (165.5, "ms", 98),
        "latency_p99_ms": (300.5, "ms", 98),
        "request_throughput": (5.0, "requests/s", 98),
        "output_throughput": (133.7, "tokens/s", 98),
        "total_token_throughput": (200.0, "tokens/s", 98),
    }
    assert (found.fact("date"), found.fact("concurrency")) == ("2026-03-01", "8")
    assert "有 2 个失败的请求" in found.doubts
    assert "nothing says which device" in bring(SERVE).notes[0]


def test_seconds_of_an_offline_benchmark_become_milliseconds(bring):
    samples = [1.0 + i / 100 for i in range(100)]
    data = {"avg_latency": sum(samples) / 100, "latencies": samples, "percentiles": {"50": 1.5}}
    found = bring(data, SAID).baseline
    assert (found.grade, found.figure("latency_p50_ms").value, found.figure("latency_p50_ms").n) == (
        Grade.B,
        1490.0,
        100,
    )
    rates = {"elapsed_time": 20.0, "num_requests": 100, "requests_per_second": 5.0, "tokens_per_second": 640.0}
    found = bring(rates, SAID).baseline
    assert found.grade is Grade.C and found.figure("total_token_throughput").value == 640.0


SUMMARY = {
    "Time taken for tests (s)": 20.5,
    "Number of concurrency": 8,
    "Total requests": 102,
    "Succeed requests": 100,
    "Failed requests": 2,
    "Request throughput (req/s)": 4.878,
    "Output token throughput (tok/s)": 500.0,
    "Average latency (s)": 1.625,
    "Average time to first token (s)": -1,
    "Average time per output token (s)": 0.02,
}


def test_evalscope_has_means_in_seconds_and_percentiles_of_an_unknown_number(bring):
    found = bring(SUMMARY, SAID).baseline
    assert (found.grade, found.fact("concurrency")) == (Grade.C, "8") and "有 2 个失败的请求" in found.doubts
    known = {figure.metric: (figure.value, figure.n, figure.original) for figure in found.figures}
    assert known["latency_mean_ms"] == (1625.0, 100, "1.625 s") and "ttft_mean_ms" not in known
    rows = [
        {"Percentiles": "50%", "TTFT (s)": 0.08, "Latency (s)": 1.5},
        {"Percentiles": "75%", "TTFT (s)": 0.09, "Latency (s)": 1.75},
        {"Percentiles": "99%", "TTFT (s)": 0.25, "Latency (s)": 2.5},
    ]
    found = bring(rows, SAID).baseline
    assert {figure.metric: figure.value for figure in found.figures} == {
        "latency_p50_ms": 1500.0,
        "ttft_p50_ms": 80.0,
        "latency_p99_ms": 2500.0,
        "ttft_p99_ms": 250.0,
    }
    assert found.grade is Grade.C and "分位数未写明请求数" in found.doubts


def test_ais_bench_is_an_ascend_card_and_no_gpu_baseline(bring):
    times = {"min": 13.0, "max": 15.0, "mean": 13.6, "median": 13.5, "P99": 14.75, "count": 50}
    done = bring({"filesinfo": {}, "NPU_compute_time": times, "throughput": 4 * 1e3 / 13.6, "pid": 7})
    found = done.baseline
    assert done.path is None and found.fact("device_kind") == "npu" and found.grade is Grade.C
    assert (found.fact("batch"), found.figure("compute_p99_ms").value, found.figure("compute_p99_ms").n) == (
        "4",
        14.75,
        50,
    )
    result = compare(bring.plan, [], NONE, brought=found)
    assert all(row.gpu.value is None for row in result.rows)


HEAD = "format,kind,metric,segment,precision,batch,concurrency,arrival_rate,side,value,unit,direction,n,simulated\n"
LINE = "npueval/comparison-csv/1,performance,latency_p50_ms,end_to_end,{},{},1,,{},{},ms,lower,{},{}\n"


def line(*, precision="fp32", batch=4, side="gpu", value="4.25", n="200", simulated="false"):
    return LINE.format(precision, batch, side, value, n, simulated)


def test_our_own_csv_gives_the_gpu_side_of_the_target_case_without_its_samples(bring):
    others = [line(side="npu"), line(batch=1), line(precision="fp16", value="2.0"), line(side="cpu", value="")]
    found = bring("\ufeff" + HEAD + "".join(others) + line(), name="compare.csv").baseline
    assert found.grade is Grade.B and [(figure.value, figure.n) for figure in found.figures] == [(4.25, 200)]
    assert str(found.figures[0].source) == "runs/brought/compare.csv:6" and "4.25,ms" in found.figures[0].source.text
    assert (found.fact("batch"), found.fact("precision")) == ("4", "fp32")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gbk"])
def test_a_spreadsheet_may_have_saved_it_anew(bring, encoding):
    table = (HEAD + line(simulated="FALSE") + line(side="npu", precision="中文")).replace(",", ";")
    assert bring(table.encode(encoding), name="compare.csv").baseline.figures[0].value == 4.25


def test_figures_of_a_log_that_went_through_our_csv_stay_means(bring):
    assert bring(HEAD + line(n=""), name="compare.csv").grade is Grade.C


def test_a_log_may_be_brought_too(bring):
    text = (
        "device: NVIDIA T4\nbatch_size: 4\ndataset: imagenet\nAverage latency: 15.5 ms, throughput: 258.0 samples/sec\n"
    )
    found = bring(text, name="infer.log").baseline
    assert (found.source, found.grade, found.figure("latency_mean_ms").value) == ("gpu", Grade.C, 15.5)
    assert str(found.figure("latency_mean_ms").source) == "runs/brought/infer.log:4"


def test_of_several_runs_in_a_log_none_is_chosen(bring):
    text = "".join(
        f"===== Serving Benchmark Result =====\nMean E2EL (ms): {mean}\n====================\n" for mean in (10.5, 20.5)
    )
    with pytest.raises(FormatError, match="holds 2 runs"):
        bring(text, SAID, "bench.log")


def test_a_refused_log_is_cited_where_it_lies_and_not_where_it_would_be_kept(bring):
    text = "".join(f"step: {step} loss: nan\n" for step in range(9))
    with pytest.raises(FormatError, match="no baseline: ") as caught:
        bring(text, SAID, "train.log")
    assert "train.log:1" in caught.value.message and "brought" not in caught.value.message


def test_a_second_file_replaces_the_first_and_so_does_it_a_broken_one(bring):
    bring(QUERIES, SAID, "one.json")
    assert bring(QUERIES[:300], SAID, "two.json").notes == ("replaces the figures of runs/brought/one.json",)
    (bring.plan.runs / "gpu_baseline.json").write_text("{", encoding="utf-8")
    assert "could not be read" in bring(QUERIES, SAID).notes[0]


def changed(data, **changes):
    return {**data, **changes}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello\n", "of no known form"),
        ("", "of no known form"),
        ([], "of no known form"),
        ([{"latencyMs": 1.0, "name": "conv1"}], "of no known form"),
        ([{"count": 200}, {"name": "conv1", "timeMs": 3.0}], "of no known form"),
        ({"request_throughput": 1.0, "output_throughput": 2.0, "name": "a package"}, "of no known form"),
        ([query(4.0), query(-1)], "query 1 is -1: zero or less"),
        ([query(4.0, latencyMs="4.0")], "query 0 is '4.0', no number"),
        ([query(4.0, latencyMs=None)], "query 0 is None, no number"),
        ([query(4.0, latencyMs=True)], "query 0 is True, no number"),
        ([query(4.0, latencyMs={})], "query 0 is {}, no number"),
        ([query(4.0, latencyMs=float("inf"))], "1e999 is no number"),
        ([query(4.0, latencyMs=1e300)], "over 30 days"),
        ([query(4.0, latencyMs=1e-320)], "under a nanosecond"),
        ([query(4.0, latencyMs=50.0)], "query 0 is 50, its parts are 4 together"),
        ([query(4.0, computeMs="3.5")], "computeMs of query 0 is '3.5'"),
        (changed(SERVE, completed="98"), "completed is '98', no number"),
        (changed(SERVE, completed=0), "completed is 0: zero or less"),
        (changed(SERVE, completed=97.5), "completed is 97.5, no count"),
        (changed(SERVE, num_prompts=50), "98 requests completed of 50"),
        (changed(SERVE, duration=None), "duration is None"),
        (changed(SERVE, request_throughput=500.0), "request_throughput is 500, the rest of the file says 5"),
        (changed(SERVE, p99_e2el_ms=3.0), "latency_p50_ms 165.5 is above latency_p99_ms 3"),
        (changed(SERVE, output_throughput=[]), "output_throughput is [], no number"),
        (changed(SERVE, output_throughput=1e300), "1e+300 a second"),
        ({"avg_latency": 1.0, "latencies": [], "percentiles": {}}, "latencies holds no samples"),
        ({"avg_latency": 9.0, "latencies": [1.0], "percentiles": {}}, "avg_latency (ms) is 9000, the rest"),
        (changed(SUMMARY, **{"Average latency (s)": "1.6"}), "Average latency (s) is '1.6', no number"),
        (changed(SUMMARY, **{"Succeed requests": -1}), "Succeed requests is -1"),
        (changed(SUMMARY, **{"Request throughput (req/s)": 48.78}), "contradicts itself"),
        ({"NPU_compute_time": {}}, "no figure that can be used"),
        ({"NPU_compute_time": {"mean": [1.0]}}, "NPU_compute_time.mean is [1.0], no number"),
        ({"NPU_compute_time": {"mean": 10.0}, "throughput": 123.4}, "a batch of 1.234"),
        (HEAD, "of no known form"),
        (HEAD + line(batch=8), "no figure of a GPU at batch 4, concurrency 1, fp32"),
        (HEAD + line(side="npu"), "no figure of a GPU"),
        (HEAD + line() + line(), "stands there twice"),
        (HEAD + line(simulated="true"), "simulated device"),
        (HEAD + line(value="4.25 ms"), "value is '4.25 ms', no number"),
        (HEAD + line(value="1,194"), "more or fewer cells than the head"),
        (HEAD + line(value="nan"), "value is 'nan', no number"),
        (HEAD + line(value="-4"), "value is '-4', no number"),
        (HEAD + line(n="1.5"), "n is 1.5, no count"),
        (HEAD + line().replace(",ms,", ",s,"), "latency_p50_ms in 's', the plan counts in ms"),
        (HEAD.replace(",unit", "") + line(), "lacks the column unit"),
        (HEAD + line().replace("csv/1", "csv/9"), "format 9, this release reads 1"),
    ],
)
def test_bad_files_are_one_clear_error_and_leave_nothing(bring, content, words):
    with pytest.raises(FormatError) as caught:
        bring(content, SAID if not isinstance(content, str) else None)
    assert words in str(caught.value) and caught.value.path.endswith("x.json")
    assert not bring.plan.runs.exists()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"bacth": "4"}, "no such fact (did you mean batch?)"),
        ({"colour": "red"}, "known: device, device_kind"),
        ({"batch": "abc"}, "a count from 1 up"),
        ({"batch": "-3"}, "a count from 1 up"),
        ({"batch": "0"}, "a count from 1 up"),
        ({"batch": "4.0"}, "a count from 1 up"),
        ({"precision": "int3"}, "one of fp32, tf32, fp16, bf16, int8"),
        ({"device": "A100\n| x |"}, "more than one line"),
        ({"device": "x" * 300}, "too long"),
        ({"device": "NVIDIA A100", "device_kind": "cpu"}, "a NVIDIA A100 is a gpu"),
        ({"device": "Ascend910B3"}, "--fact says device_kind=npu, the file says gpu"),
    ],
)
def test_the_users_word_is_checked_and_never_against_the_file(bring, facts, words):
    with pytest.raises(FormatError) as caught:
        bring(QUERIES, facts)
    assert words in str(caught.value) and not bring.plan.runs.exists()


def test_the_users_word_may_not_contradict_the_batch_that_a_log_says(bring):
    text = "device: NVIDIA T4\nbatch_size: 4\nAverage latency: 15.5 ms, throughput: 258.0 samples/sec\n"
    with pytest.raises(FormatError, match="--fact says batch=8, the file says 4"):
        bring(text, {"batch": "8"}, "infer.log")
