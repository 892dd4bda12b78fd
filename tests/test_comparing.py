"""Only what is comparable gets a ratio, only what has a baseline a verdict, and each number stays in its column."""

from dataclasses import replace

import numpy as np
import pytest

from npueval import comparing
from npueval.contracts import violations
from npueval.language import same
from npueval.plan import AccuracyTarget, BaselineWish, Dataset, Datasets, Request, Targets
from npueval.records import Baseline, Citation, Fact, Figure, Grade
from npueval.resources import schema
from npueval.runs.cases import Case
from npueval.runs.conditions import ArrayFacts, DeviceFacts, InputFacts, OutputCheck, Protocol, WorkloadFacts
from support.make_runs import make_case, make_run
from support.projects import make_plan

NPU = DeviceFacts("npu:0", "npu", 0, "Ascend910B2")
GPU = DeviceFacts("cuda:0", "cuda", 0, "NVIDIA A100")
NONE = Baseline("none", Grade.NONE, reason="没有日志")
SEGMENTS = ("preprocess", "infer")
PROTOCOL = Protocol(10, 200, SEGMENTS, "each", "nearest-rank", "perf_counter_ns")


def compare(plan, npu, baseline, *, gpu=None, cpu=None, **more):
    """Whatever is compared here, its JSON form keeps to the schema."""
    held = ([run] if run else [] for run in (npu, gpu, cpu))
    columns = dict(zip(("npu", "gpu", "cpu"), held, strict=True))
    result = comparing.compare(plan, baseline=baseline, **columns, **more)
    assert violations(comparing.to_data(result), schema("comparison")) == []
    return result


def plan_of(tmp_path, **changes):
    known = {
        "batches": (1, 32),
        "target_batch": 32,
        "unit": "images/s",
        "segments": SEGMENTS,
        "targets": Targets(latency_p50_ms=20, latency_p95_ms=30, ratio_to_baseline=0.9),
        "request": Request(True, False, True),
    }
    return make_plan(tmp_path, **{**known, **changes})


def run_on(device, infer_ms=8.0, **changes):
    known = {
        "id": f"run-{device.kind}",
        "device": device,
        "protocol": PROTOCOL,
        "inputs": tuple(InputFacts(b, f"{b}" * 64, (ArrayFacts((b, 8), "uint8"),)) for b in (1, 32)),
        "plan_sha256": "a" * 64,
        "cases": (make_case(1, infer_ms / 4), make_case(32, infer_ms)),
    }
    return make_run(**{**known, **changes})


def log(metric="latency_mean_ms", value=10.0, unit="ms", **facts):
    known = {"device_kind": "gpu", "device": "V100", "dataset": "imagenet", "batch": "32", **facts}
    figure = Figure(metric, value, unit, "lower", Citation("train.log", 7, "…"))
    held = {key: Fact(text) for key, text in known.items() if text}
    return Baseline("log", Grade.C, held, (figure,), path="train.log")


def row(comparison, metric, batch=32):
    return next(each for each in comparison.rows if each.metric == metric and each.batch == batch)


def test_the_same_kit_on_both_sides_is_grade_a_and_may_pass(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU, 8.0), NONE, gpu=run_on(GPU, 8.1))
    p50 = row(result, "latency_p50_ms")
    assert result.grade is Grade.A and result.baseline_column == "gpu"
    assert p50.against_gpu.ratio == pytest.approx(8.1 / 8.0, rel=0.01)
    assert p50.against_gpu.low < p50.against_gpu.ratio < p50.against_gpu.high
    assert (p50.judgement, result.performance.verdict, result.total.verdict) == ("达标", "通过", "通过")
    assert {point.agreement for point in result.points["gpu"]} == {"same"}


def test_a_ratio_above_one_is_better_whatever_the_direction(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU, 4.0), NONE, gpu=run_on(GPU, 8.0))
    for metric in ("latency_p50_ms", "latency_p95_ms", "throughput"):
        change = row(result, metric).against_gpu
        assert change.ratio == pytest.approx(2.0, rel=0.05) and change.outcome == "better"
    slower = compare(plan_of(tmp_path), run_on(NPU, 16.0), NONE, gpu=run_on(GPU, 8.0))
    assert {row(slower, metric).against_gpu.outcome for metric in ("latency_p50_ms", "throughput")} == {"worse"}
    assert slower.performance.verdict == "不通过"


def test_without_a_baseline_nothing_passes(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU), NONE)
    p95 = row(result, "latency_p95_ms")
    words = "绝对目标已满足，但没有性能基线（待用户按 Mig_Readme §2.6 补采）"
    assert (p95.judgement, p95.reason) == ("无法判定", words)
    assert (result.grade, result.performance.verdict, result.total.verdict) == (Grade.NONE, "待定", "待定")
    assert "没有可比的基线" in result.performance.reason
    assert row(result, "latency_p50_ms").against_gpu.refusal == "N/A（待用户按 Mig_Readme §2.6 补采）"


def test_without_an_npu_run_everything_is_open_and_says_why(tmp_path):
    result = compare(plan_of(tmp_path), None, NONE, gpu=run_on(GPU), reason_no_run="本机没有 NPU")
    assert result.run_id is None
    assert {each.npu.reason for each in result.rows} == {"本机没有 NPU"}
    assert {each.reason for each in result.rows if each.judgement} == {"本机没有 NPU"}
    assert result.total.verdict == "待定" and result.total.reason == "本机没有 NPU"
    alone = compare(plan_of(tmp_path), None, NONE, reason_no_run="本机没有 NPU")
    assert [each.reason for each in alone.rows if each.judgement] == ["本机没有 NPU"] * 3


def test_a_measurement_that_was_broken_off_meets_no_target(tmp_path):
    short = (make_case(1, 2.0), make_case(32, 8.0, n=120, complete=False, error="timed out"))
    whole = {"npu": run_on(NPU), "gpu": run_on(GPU, 8.1)}
    for name, run in (("npu", run_on(NPU, cases=short, complete=False)), ("gpu", run_on(GPU, cases=short))):
        held = {**whole, name: run}
        result = compare(plan_of(tmp_path), held["npu"], NONE, gpu=held["gpu"])
        p50 = row(result, "latency_p50_ms")
        words = f"测量不完整（{name.upper()}：batch=32 concurrency=1 止于 120 个样本）"
        assert getattr(p50, name).value is not None and words in result.doubts
        assert p50.judgement == "无法判定" and words in p50.reason and result.total.verdict == "待定"
    rest = compare(plan_of(tmp_path), run_on(NPU, complete=False), NONE, gpu=run_on(GPU))
    assert row(rest, "latency_p50_ms").reason == "测量不完整（NPU：run-npu 没有测完）"
    slow = compare(plan_of(tmp_path), run_on(NPU, 80.0, complete=False), NONE, gpu=run_on(GPU))
    assert row(slow, "latency_p50_ms").judgement == "不达标" and "不完整" in row(slow, "latency_p50_ms").reason
    score = accurate(NPU, 0.76, complete=False)
    assert compare(accuracy_plan(tmp_path), score, accuracy_log()).accuracy_rows[0].judgement == "无法判定"


def test_a_run_of_another_precision_or_unit_says_so(tmp_path):
    other = compare(plan_of(tmp_path), run_on(NPU, precision="fp16"), NONE, gpu=run_on(GPU))
    assert row(other, "throughput").npu.reason == "该测量的精度为 fp16，与计划 fp32 不同"
    counted = compare(plan_of(tmp_path), run_on(NPU, unit="tokens/s"), NONE, gpu=run_on(GPU))
    rate = row(counted, "throughput")
    assert rate.npu.value is None and rate.judgement == "无法判定"
    assert rate.reason == "该测量的单位为 tokens/s，与计划 images/s 不同"
    assert row(counted, "latency_p50_ms").judgement == "达标"


@pytest.mark.parametrize(
    ("column", "run"),
    [
        ("npu", run_on(GPU)),
        ("npu", run_on(NPU, simulated=True)),
        ("npu", run_on(NPU, invalid=(same("输出含 NaN"),))),
        ("npu", run_on(NPU, precision="fp16")),
        ("gpu", run_on(GPU, precision="fp16")),
        ("gpu", run_on(NPU)),
        ("cpu", run_on(GPU)),
    ],
    ids=[
        "a GPU's Run as NPU",
        "simulated",
        "invalid",
        "npu fp16",
        "gpu fp16",
        "an NPU's Run as GPU",
        "a GPU's Run as CPU",
    ],
)
def test_no_value_reaches_a_column_that_is_not_its_own(tmp_path, column, run):
    sides = {"npu": run_on(NPU), "gpu": run_on(GPU), "cpu": None, column: run}
    result = compare(plan_of(tmp_path), sides["npu"], NONE, gpu=sides["gpu"], cpu=sides["cpu"])
    cells = [getattr(each, column) for each in result.rows]
    assert all(cell.value is None and cell.reason for cell in cells)
    assert (result.total.verdict == "待定") == (column != "cpu")


def test_a_simulated_run_is_refused_every_verdict(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU, simulated=True), NONE, gpu=run_on(GPU))
    assert "模拟" in result.total.reason and not any(each.npu.value for each in result.rows)


def changed_case(**changes):
    return (make_case(1, 2.0), replace(make_case(32, 8.0), **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": replace(PROTOCOL, precision_mode="autocast")}, "精度 fp32/cast 与 fp32/autocast"),
        ({"workload": WorkloadFacts("w.py:M", "1" * 64, 99)}, "模型 10010 个参数 与 99 个参数"),
        ({"scope": "command"}, "测量方式 in-process 与 command"),
        (
            {"cases": changed_case(samples={"infer": make_case(32, 8.0).samples["infer"]})},
            "测量范围 preprocess+infer 与 infer",
        ),
    ],
    ids=["precision mode", "model", "a foreign command", "segments"],
)
def test_a_difference_that_counts_refuses_the_ratio_in_the_cells_words(tmp_path, changes, words):
    result = compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run_on(GPU, **changes))
    change = row(result, "latency_p50_ms").against_gpu
    assert change.ratio is None and change.refusal == f"不可比：{words}"
    assert result.performance.verdict == "待定"


def test_cards_forbid_the_ratio_of_a_throughput_only(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run_on(GPU, cases=changed_case(cards=8)))
    assert row(result, "throughput").against_gpu.refusal == "不可比：卡数 1 与 8"
    assert row(result, "latency_p50_ms").against_gpu.ratio is not None


def test_what_differs_without_counting_is_named_and_lowers_the_grade(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run_on(GPU, 9.0, seed=4, plan_sha256=""))
    assert result.grade is Grade.B
    assert "随机种子" in result.performance.reason and result.performance.verdict == "通过"
    agreements = {point.name: point.agreement for point in result.points["gpu"]}
    assert (agreements["随机种子"], agreements["计划"]) == ("differs", "unknown")


def test_the_cpu_lacks_transfers_by_nature_and_is_compared_without_them(tmp_path):
    with_transfer = changed_case(samples={**make_case(32, 8.0).samples, "h2d": make_case(32, 0.5).samples["infer"]})
    cpu = run_on(DeviceFacts("cpu", "cpu", None, "EPYC"), 80.0)
    plan = plan_of(tmp_path, baseline=BaselineWish((), cpu=True))
    result = compare(plan, run_on(NPU, cases=with_transfer), NONE, cpu=cpu)
    assert row(result, "latency_p50_ms").against_cpu.ratio > 5
    assert result.baseline_column is None and result.performance.verdict == "待定"


def test_too_few_samples_give_no_p95_and_no_ratio(tmp_path):
    few = (make_case(1, 2.0, n=50), make_case(32, 8.0, n=50))
    result = compare(plan_of(tmp_path), run_on(NPU, cases=few), NONE, gpu=run_on(GPU))
    p95 = row(result, "latency_p95_ms")
    assert p95.npu.reason == "样本不足 (n=50)" and p95.judgement == "无法判定"
    assert row(result, "latency_p50_ms").npu.value is not None
    three = (make_case(1, 2.0, n=3), make_case(32, 8.0, n=3))
    refused = row(compare(plan_of(tmp_path), run_on(NPU, cases=three), NONE, gpu=run_on(GPU)), "throughput")
    assert refused.npu.value is not None and refused.against_gpu.refusal == "不可比：样本不足 (n=3)"


def test_an_interval_across_the_target_is_undecided(tmp_path):
    plan = plan_of(tmp_path, targets=Targets(latency_p50_ms=10.0))
    result = compare(plan, run_on(NPU, 8.0, cases=(make_case(1, 2), make_case(32, 8.0, n=30))), NONE)
    p50 = row(result, "latency_p50_ms")
    assert p50.npu.low < 10 < p50.npu.high and p50.judgement == "无法判定" and "跨过目标" in p50.reason


def test_every_case_has_rows_the_target_first_and_only_it_is_judged(tmp_path):
    plan = plan_of(tmp_path, concurrency=(1, 4), arrival_rates=(50.0,))
    result = compare(plan, run_on(NPU), NONE)
    labels = [each.label for each in result.rows if each.metric == "latency_p50_ms"]
    assert labels[:2] == ["延迟 p50 (ms)", "延迟 p50 (ms)（batch=32，并发=4）"]
    assert labels[2] == "延迟 p50 (ms)（batch=32，并发=4，50 请求/s）" and len(labels) == 6
    assert {each.label for each in result.rows if each.judgement} == {
        "延迟 p50 (ms)",
        "延迟 p95 (ms)",
        "吞吐 (images/s)",
    }
    assert row(compare(plan, run_on(NPU), NONE), "latency_p50_ms", 1).npu.value is not None


def test_a_log_of_means_gives_a_ratio_of_means_and_a_conditional_verdict_at_best(tmp_path):
    plan = plan_of(tmp_path, targets=Targets(latency_p50_ms=20))
    result = compare(plan, run_on(NPU), log(value=20.0))
    mean = row(result, "latency_mean_ms")
    assert mean.against_gpu.ratio == pytest.approx(2.0, rel=0.02) and mean.against_gpu.low is None
    assert mean.against_gpu.grade is Grade.C
    assert row(result, "latency_p95_ms").against_gpu.refusal == "N/A（日志 train.log 没有这一项）"


def test_figures_carry_no_more_than_their_grade(tmp_path):
    """B: p95 and a verdict, the unknown named. What does not state its scope or precision falls to C: means, no p95."""
    plan = plan_of(tmp_path, targets=Targets(latency_p50_ms=20, ratio_to_baseline=0.9))
    figures = (*(_figure(name, v) for name, v in (("p50", 12.0), ("p95", 13.0))), _rate(3000.0, "total"))
    stated = replace(log(precision="fp32", scope="preprocess+infer", cards="1"), grade=Grade.B, figures=figures)
    result = compare(plan, run_on(NPU), stated)
    p95 = row(result, "latency_p95_ms").against_gpu
    assert p95.grade is Grade.B and p95.ratio > 1 and p95.no_interval == "基线没有原始样本，无区间"
    assert result.performance.verdict == "通过" and "未知：同步方式、模型、负载方式" in result.performance.reason
    vague = replace(stated, facts={key: fact for key, fact in stated.facts.items() if key != "precision"})
    lowered = compare(plan, run_on(NPU), vague)
    assert row(lowered, "latency_p50_ms").against_gpu.grade is Grade.C
    assert row(lowered, "latency_p95_ms").against_gpu.refusal.startswith("不可比：C 级证据不支持 p95")
    assert lowered.performance.verdict == "有条件通过"


def test_a_rate_per_card_is_held_against_the_npus_rate_per_card(tmp_path):
    cards = replace(log(cards="8"), figures=(_rate(500.0, "card"),))
    run = run_on(NPU, cards=8, cases=changed_case(cards=8, items=8 * 32 * 200))
    whole = run.cases[1].throughput()
    found = row(compare(plan_of(tmp_path), run, cards), "throughput").against_gpu
    assert found.ratio == pytest.approx(whole / 8 / 500)


def test_a_quoted_number_is_shown_and_no_more(tmp_path):
    quoted = replace(log(), grade=Grade.D)
    mean = row(compare(plan_of(tmp_path), run_on(NPU), quoted), "latency_mean_ms")
    assert mean.gpu.value == 10.0 and mean.against_gpu.refusal == "不可比：train.log 只是引用的数字，只能展示（D 级）"


def test_times_without_spread_give_a_ratio_that_says_why_it_has_no_interval(tmp_path):
    still = changed_case(samples={name: np.full(200, 4_000_000) for name in SEGMENTS}, window_ns=200 * 8_000_000)
    result = compare(plan_of(tmp_path), run_on(NPU, cases=still), NONE, gpu=run_on(GPU, cases=still))
    p50 = row(result, "latency_p50_ms")
    assert (p50.npu.low, p50.npu.high, p50.against_gpu.interval, p50.against_gpu.outcome) == (None, None, None, None)
    assert p50.against_gpu.ratio == 1 and p50.against_gpu.no_interval.startswith("重采样的结果全部相同")


def test_other_weights_of_the_same_size_are_named(tmp_path):
    known = run_on(NPU).workload
    npu, gpu = (run_on(d, workload=replace(known, needs={"w.pt": h * 64})) for d, h in ((NPU, "1"), (GPU, "2")))
    result = compare(plan_of(tmp_path), npu, NONE, gpu=gpu)
    assert result.grade is Grade.B and "差异：权重与依赖文件" in result.performance.reason


def test_the_data_set_of_a_log_is_the_same_where_its_words_are(tmp_path):
    used = Dataset("ImageNet-1k", "val 50000", "data")
    plan = plan_of(tmp_path, datasets=Datasets(None, None, None, used, None, None))
    points = {point.name: point.agreement for point in compare(plan, run_on(NPU), log(split="val")).points["gpu"]}
    assert (points["数据集"], points["数据集划分"], points["输入形状"]) == ("same", "same", "unknown")
    other = {point.name: point.agreement for point in compare(plan, run_on(NPU), log(split="验证集")).points["gpu"]}
    assert other["数据集划分"] == "unknown"


def test_a_whole_command_and_a_kit_never_meet(tmp_path):
    outside = run_on(GPU, scope="command", cases=(make_case(1, 2.0), make_case(32, 8.0)))
    unsynchronised = run_on(GPU, protocol=replace(PROTOCOL, synchronisation="none"))
    for run, words in ((outside, "测量方式 in-process 与 command"), (unsynchronised, "同步方式 each 与 none")):
        change = row(compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run), "latency_p50_ms").against_gpu
        assert change.ratio is None and change.refusal == f"不可比：{words}"
    batches = run_on(GPU, cases=(make_case(1, 2.0), make_case(16, 8.0)))
    other = row(compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=batches), "latency_p50_ms")
    assert other.gpu.value is None and other.against_gpu.refusal == "N/A（没有测 batch=32 并发=1）"


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        (log(batch="8"), "不可比：batch 32 与 8"),
        (log(batch=""), "不可比：train.log 未写明 batch，只能展示（D 级）"),
        (log(precision="float16"), "不可比：精度 fp32 与 fp16"),
        (log(scope="h2d+infer+d2h"), "不可比：测量范围 preprocess+infer 与 h2d+infer+d2h"),
    ],
)
def test_a_log_under_other_conditions_is_shown_without_a_ratio(tmp_path, baseline, words):
    mean = row(compare(plan_of(tmp_path), run_on(NPU), baseline), "latency_mean_ms")
    assert mean.gpu.value == 10.0 and mean.against_gpu.refusal == words


def test_a_log_stands_in_the_row_of_its_batch_and_in_no_other(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU), replace(log(), figures=(_figure("p50", 9.0),)))
    assert row(result, "latency_p50_ms").gpu.value == 9.0
    assert row(result, "latency_p50_ms", 1).gpu.value is None
    assert all(stage.gpu.value is None for stage in result.stages)


def test_a_throughput_of_unknown_cards_blocks_the_ratio(tmp_path):
    figure = Figure("throughput", 900.0, "images/s", "higher", per="?")
    baseline = replace(log(), figures=(figure,))
    assert "单卡还是总和" in row(compare(plan_of(tmp_path), run_on(NPU), baseline), "throughput").against_gpu.refusal


def test_a_log_of_no_known_device_fills_no_column(tmp_path):
    result = compare(plan_of(tmp_path), run_on(NPU), log(device_kind="", device=""))
    assert all(each.gpu.value is None and each.cpu.value is None for each in result.rows)


def test_a_cpu_log_with_latencies_is_the_baseline_of_its_project(tmp_path):
    baseline = log(device_kind="cpu", device="EPYC")
    result = compare(plan_of(tmp_path), run_on(NPU), baseline)
    assert result.baseline_column == "cpu" and row(result, "latency_mean_ms").against_cpu.ratio is not None
    assert all(each.gpu.value is None for each in result.rows)


ACCURACY = AccuracyTarget("top1", "higher", max_drop=0.01)


def accurate(device, value, n=10_000, metric="top1", **changes):
    return run_on(device, **changes, output_check=OutputCheck(True, result={"metric": metric, "value": value, "n": n}))


def accuracy_log(value=0.76, unit="fraction", n=10_000, metric="eval/acc@1"):
    figure = Figure(metric, value, unit, "higher", Citation("train.log", 90, "…"), n=n)
    return replace(log(), figures=(figure,))


def accuracy_plan(tmp_path):
    return plan_of(tmp_path, targets=Targets(accuracy=ACCURACY), request=Request(False, True, True))


@pytest.mark.parametrize(
    ("value", "judgement", "verdict"), [(0.755, "达标", "通过"), (0.70, "不达标", "不通过")], ids=["holds", "fell"]
)
def test_accuracy_is_held_against_the_log_under_any_of_its_names(tmp_path, value, judgement, verdict):
    result = compare(accuracy_plan(tmp_path), accurate(NPU, value), accuracy_log())
    (score,) = result.accuracy_rows
    assert score.difference == pytest.approx(value - 0.76) and score.judgement == judgement
    assert score.baseline.source == "train.log:90"
    assert (result.accuracy.verdict, result.total.verdict) == (verdict, verdict)


def test_an_accuracy_of_unknown_scale_or_of_other_samples_is_not_compared(tmp_path):
    plan = accuracy_plan(tmp_path)
    (unknown,) = compare(plan, accurate(NPU, 0.76), accuracy_log(unit="scale?")).accuracy_rows
    assert unknown.difference is None and "刻度" in unknown.baseline.reason and unknown.judgement == "无法判定"
    (fewer,) = compare(plan, accurate(NPU, 0.76, n=500), accuracy_log()).accuracy_rows
    assert fewer.refusal == "不可比：样本数 500 与 10000" and fewer.judgement == "无法判定"


def test_an_accuracy_is_never_taken_from_another_device(tmp_path):
    cpu = accurate(DeviceFacts("cpu", "cpu", None, "EPYC"), 0.76)
    (score,) = compare(accuracy_plan(tmp_path), None, accuracy_log(), cpu=cpu).accuracy_rows
    assert score.npu.value is None and score.baseline.value == 0.76


def test_a_percent_and_a_fraction_do_not_meet(tmp_path):
    result = compare(accuracy_plan(tmp_path), accurate(NPU, 76.2), accuracy_log())
    (score,) = result.accuracy_rows
    assert (score.npu.value, score.baseline.value, score.difference) == (76.2, 0.76, None)
    assert score.refusal == "不可比：一侧是百分数，一侧是小数（76.2 与 0.76）"
    assert score.judgement == "无法判定" and result.total.verdict == "待定"


def test_percents_are_compared_as_they_are(tmp_path):
    plan = plan_of(tmp_path, targets=Targets(accuracy=AccuracyTarget("top1", "higher", minimum=75, max_drop=1.0)))
    run, gpu = accurate(NPU, 76.1), accurate(GPU, 76.5)
    (score,) = compare(plan, run, NONE, gpu=gpu).accuracy_rows
    assert (score.npu.value, score.judgement) == (76.1, "达标")
    assert 75 < score.npu.low < 76.1 < score.npu.high < 77
    assert "与基线相差 -40 个样本，未超出抽样误差" in score.reason


def test_implausible_figures_are_doubted(tmp_path):
    fast = Case(32, "fp32", samples={"infer": np.full(200, 3_000)}, window_ns=200 * 3_000, items=6400)
    slipped = replace(make_case(32, 8.0), window_ns=2_000_000)
    for case, words in ((fast, "短于一次内核下发"), (slipped, "1000 倍")):
        doubts = compare(plan_of(tmp_path), run_on(NPU, cases=(case,)), NONE).doubts
        assert any(words in doubt for doubt in doubts)
    crossed = replace(log(), figures=tuple(_figure(name, v) for name, v in (("p50", 9.0), ("p95", 5.0))))
    assert any("p95 < p50" in doubt for doubt in compare(plan_of(tmp_path), run_on(NPU), crossed).doubts)


def test_nothing_is_met_by_figures_that_cannot_be(tmp_path):
    """A launch timed for a run is fast: it must not pass for it."""
    launch = Case(32, "fp32", samples={"infer": np.full(200, 3_000)}, window_ns=200 * 3_000, items=6400)
    slipped = replace(make_case(32, 8.0), window_ns=2_000_000)
    for case, words in ((launch, "短于一次内核下发"), (slipped, "1000 倍")):
        result = compare(plan_of(tmp_path), run_on(NPU, cases=(case,)), NONE, gpu=run_on(GPU, 8.1))
        p50 = row(result, "latency_p50_ms")
        assert p50.judgement == "无法判定" and words in p50.reason and result.total.verdict == "待定"
    other = compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run_on(GPU, cases=(replace(launch, batch=32),)))
    assert other.total.verdict != "通过"


def test_no_target_is_met_where_the_baseline_does_not_compare(tmp_path):
    """All rows alike, whether their target is absolute or a ratio."""
    smaller = WorkloadFacts("workload.py:Digits", "0" * 64, 999)
    result = compare(plan_of(tmp_path), run_on(NPU), NONE, gpu=run_on(GPU, 8.1, workload=smaller))
    judged = [each for each in result.rows if each.judgement]
    assert {each.judgement for each in judged} == {"无法判定"} and all("不可比：模型" in each.reason for each in judged)


def test_the_accuracy_of_another_model_is_no_bound(tmp_path):
    smaller = WorkloadFacts("workload.py:Digits", "0" * 64, 999)
    result = compare(accuracy_plan(tmp_path), accurate(NPU, 0.76), NONE, gpu=accurate(GPU, 0.76, workload=smaller))
    (score,) = result.accuracy_rows
    assert score.difference is None and score.refusal.startswith("不可比：模型") and result.accuracy.verdict == "待定"


def test_a_check_that_failed_makes_the_run_invalid_whatever_else_it_says(tmp_path):
    failed = OutputCheck(False, same("top1 低于下限"), result={"metric": "top1", "value": 0.76, "n": 10_000})
    result = compare(accuracy_plan(tmp_path), run_on(NPU, output_check=failed), accuracy_log())
    assert result.total.verdict == "待定"
    assert {each.npu.reason for each in result.rows} == {"run-npu 无效：top1 低于下限"}


def _rate(value, per):
    return Figure("throughput", value, "images/s", "higher", per=per)


def _figure(name, value):
    return Figure(f"latency_{name}_ms", value, "ms", "lower")


def test_each_precision_has_its_rows_and_only_the_first_is_judged(tmp_path):
    plan = replace(accuracy_plan(tmp_path), precisions=("fp32", "fp16"))
    half = replace(accurate(NPU, 0.5), id="half", precision="fp16")
    columns = {"npu": [accurate(NPU, 0.9), half], "gpu": [accurate(GPU, 0.9), run_on(GPU, 4.0, precision="fp16")]}
    result = comparing.compare(plan, baseline=accuracy_log(0.9), **columns)
    assert violations(comparing.to_data(result), schema("comparison")) == []
    cases = [(entry.precision, entry.batch) for entry in result.rows if entry.metric == "latency_p50_ms"]
    assert cases == [("fp32", 32), ("fp32", 1), ("fp16", 32), ("fp16", 1)]
    further = [entry for entry in result.rows if entry.precision == "fp16"]
    assert [entry.label for entry in further][:2] == [
        "延迟 p50 (ms)（fp16，batch=32）",
        "延迟 p95 (ms)（fp16，batch=32）",
    ]
    assert {entry.judgement for entry in further} == {None}
    assert further[0].against_gpu.ratio == pytest.approx(0.5, rel=0.05)
    scores = [(score.label, score.npu.value, score.judgement) for score in result.accuracy_rows]
    assert scores == [("top1", 0.9, "达标"), ("top1（fp16）", 0.5, None)]
    assert result.accuracy.passed


def test_one_precision_is_never_held_against_another(tmp_path):
    plan = replace(plan_of(tmp_path), precisions=("fp32", "fp16"))
    runs = {"npu": [run_on(NPU), run_on(NPU, precision="fp16")], "gpu": [run_on(GPU)]}
    result = comparing.compare(plan, baseline=NONE, **runs)
    (entry,) = [e for e in result.rows if (e.metric, e.precision, e.batch) == ("latency_p50_ms", "fp16", 32)]
    assert entry.gpu.reason == "该测量的精度为 fp32，与计划 fp16 不同"
    assert entry.against_gpu.ratio is None
    logged = comparing.compare(plan, runs["npu"], log())
    means = {e.precision: e.gpu.value for e in logged.rows if e.metric == "latency_mean_ms"}
    assert means == {"fp32": 10.0}
