"""What happened to people with logs and comparisons: each entry of the field reports by name, in its least input."""

import json
from dataclasses import replace

import pytest

from npueval import comparing
from npueval.baselines import scan
from npueval.logs.assessing import NoBaseline, assess, is_complete
from npueval.logs.extracting import extract
from npueval.plan import AccuracyTarget, Targets
from npueval.records import Baseline, Citation, Fact, Figure, Grade
from npueval.runs.conditions import DeviceFacts, OutputCheck
from support.make_runs import make_run
from support.projects import make_plan

KV = "epoch 1/1 step {0}/{1} loss {2}\n"
CARD = DeviceFacts("npu:0", "npu", 0, "Ascend910B2")


@pytest.fixture
def runs(tmp_path):
    def of(text):
        (tmp_path / "train.log").write_text(text, encoding="utf-8")
        return extract(tmp_path / "train.log", "train.log").runs

    return of


@pytest.fixture
def baseline(runs):
    def of(text):
        (run,) = runs(text)
        return assess(run)

    return of


def logged(metric, value, unit="ms", **facts):
    known = {"device_kind": "gpu", "device": "V100", "batch": "32", **facts}
    figure = Figure(metric, value, unit, "higher" if unit else "lower", Citation("train.log", 1, "…"), n=1000)
    return Baseline("log", Grade.C, {key: Fact(text) for key, text in known.items()}, (figure,), path="train.log")


def compared(tmp_path, baseline, run, **plan):
    return comparing.compare(make_plan(tmp_path / "p", target_batch=32, batches=(1, 32), **plan), [run], baseline)


def scored(tmp_path, value, other, metric="top1", direction="higher", **changes):
    """The accuracy row of an NPU's Run against a log."""
    wanted = AccuracyTarget(metric, direction, min_ratio=0.98)
    check = OutputCheck(True, result={"metric": metric, "value": value, "n": 1000})
    run = make_run(device=CARD, output_check=check, **changes)
    (row,) = compared(tmp_path, other, run, targets=Targets(accuracy=wanted)).accuracy_rows
    return row


def has(doubts, *words):
    return any(all(word in doubt for word in words) for doubt in doubts)


@pytest.mark.parametrize(
    "line", ["inference time: 68 ms\n", "Average latency: 68.0 ms, throughput: 14.7 samples/sec\n", "FPS: 14.7\n"]
)
def test_no_sync__a_project_s_own_time_is_not_trusted(baseline, line):
    assert has(baseline(line).doubts, "看不出计时前后是否同步了设备")


def test_no_sync__how_a_log_was_timed_is_unknown_to_the_comparison(tmp_path):
    result = compared(tmp_path, logged("latency_mean_ms", 68.0), make_run(device=CARD))
    (point,) = (point for point in result.points["gpu"] if point.name == "同步方式")
    assert (point.agreement, point.other) == ("unknown", "未知")


def test_all_ops_too_fast__what_only_a_launch_takes_is_suspect(tmp_path):
    slow, fast = (
        compared(tmp_path, logged("latency_p50_ms", value), make_run(device=CARD)).doubts for value in (0.3, 0.03)
    )
    assert has(fast, "0.03 ms", "可能没有同步") and not has(slow, "可能没有同步")


def test_jit_first_infer__the_first_call_is_no_part_of_the_figure(baseline):
    found = baseline("".join(f"step {i} - latency: {ms} ms\n" for i, ms in enumerate([5670, 52, 50, 51])))
    (figure,) = found.figures
    assert (figure.metric, figure.value) == ("latency_p50_ms", 51) and "去掉预热 1 个" in figure.original


def test_transfer_to_npu_noise__the_word_cuda_is_no_gpu(runs, tmp_path):
    banner = "[rank0]: The torch.cuda.* and torch.cuda.amp.* are replaced with torch.npu.* now..\n"
    (run,) = runs(banner + "device: cuda:0\nbackend: nccl -> hccl\n" + KV.format(1, 1, 0.5))
    assert (run.fact("device_kind"), run.fact("device")) == ("npu", None)
    (tmp_path / "train.log").write_text("device: cuda:0, using cuda\n" + KV.format(1, 1, 0.5), encoding="utf-8")
    (run,) = extract(tmp_path / "train.log", "train.log").runs
    assert {"device", "device_kind"}.isdisjoint(run.facts)


def test_hccl_timeout__the_last_line_of_rank_0_does_not_finish_what_rank_1_broke(runs):
    dead = "[rank1]: RuntimeError: EI0006: Getting socket times out. error code is 11\n"
    last = "epoch 1/1 done: train_loss 0.4\n"
    (whole,) = runs(KV.format(1, 2, 0.5) + KV.format(2, 2, 0.4) + last)
    (broken,) = runs(KV.format(1, 2, 0.5) + dead + KV.format(2, 2, 0.4) + last)
    steps = " iteration {0}/ 2 | elapsed time per iteration (ms): 9.0 | lm loss: 2.{0} |\n"
    (megatron,) = runs(steps.format(1) + dead + steps.format(2))
    assert (whole.finished, broken.finished, megatron.finished) == (True, False, False)
    assert has(broken.doubts, "日志里有报错", "train.log:2")


@pytest.mark.parametrize(
    ("told", "cards"),
    [
        ("torchrun --nproc_per_node=8 train.py --world_size 8\n", None),
        ("torchrun --nproc_per_node=8 train.py\nDeepSpeed: world_size = 1, rank 0\n", "1"),
        ("worker_id = 0, rank = 0, world_size=4\n", "4"),
    ],
)
def test_hccl_rootinfo__the_number_of_devices_is_the_log_s_not_the_command_s(baseline, told, cards):
    assert baseline(told + KV.format(1, 1, 0.5)).fact("cards") == cards


@pytest.mark.parametrize("losses", [("nan", "nan"), ("2.1", "NaN"), ("0.0", "0.000"), ("inf", "inf")])
def test_fp16_nan_on_npu_only__such_a_loss_is_no_baseline(baseline, losses):
    with pytest.raises(NoBaseline):
        baseline("".join(KV.format(i + 1, 2, loss) for i, loss in enumerate(losses)))


@pytest.mark.parametrize("value", [float("nan"), 0.0])
def test_fp16_nan_on_npu_only__such_a_loss_fails_the_accuracy_line(tmp_path, value):
    row = scored(tmp_path, value, logged("eval_loss", 2.0, ""), metric="eval_loss", direction="lower")
    assert row.judgement == "不达标"


def test_loss_2_percent__the_rule_is_stated_and_proves_no_gradients(tmp_path):
    row = scored(tmp_path, 2.03, logged("eval_loss", 2.0, ""), metric="eval_loss", direction="lower")
    assert (row.judgement, row.target) == ("达标", "≤ 基线 ÷ 0.98") and "不能证明梯度一致" in row.reason
    assert scored(tmp_path, 2.05, logged("eval_loss", 2.0, ""), metric="eval_loss", direction="lower").judgement == (
        "不达标"
    )


def test_accuracy_drop__other_parallelism_and_precision_are_said_before_the_verdict(tmp_path):
    same = logged("top1", 0.6, "fraction", precision="fp32", cards="1")
    other = logged("top1", 0.6, "fraction", precision="bf16", cards="4")
    assert scored(tmp_path, 0.6, same).reason.startswith("n=1000")
    for value, judgement in ((0.6, "达标"), (0.5, "不达标")):
        row = scored(tmp_path, value, other)
        assert row.judgement == judgement and "两侧条件不同：精度 fp32 与 bf16、卡数 1 与 4" in row.reason


def test_ips_per_card__whose_rate_it_is_stands_beside_it_and_unknown_blocks_the_ratio(tmp_path, baseline):
    line = "8卡: [2021/10/19 09:25:55] root INFO: epoch: [4/9], iter: 20, loss: 5.0, batch_cost: 2.6 s, ips: 191.79\n"
    assert baseline(line).figure("train_throughput").per == "?"
    ratios = {}
    for per in ("total", "?"):
        told = logged("throughput", 191.79, "images/s", cards="1")
        told = replace(told, figures=(replace(told.figures[0], per=per),))
        rows = compared(tmp_path, told, make_run(device=CARD), unit="images/s").rows
        (row,) = (row for row in rows if (row.metric, row.batch) == ("throughput", 32))
        ratios[per] = row.against_gpu.ratio, row.against_gpu.refusal
    assert ratios["total"][0] and ratios["?"][0] is None and "卡" in ratios["?"][1]


def test_tflops_accounting__the_time_of_a_step_counts_and_not_its_flops(baseline):
    line = (
        " iteration {0}/ 2 | elapsed time per iteration (ms): {1} | throughput per GPU (TFLOP/s/GPU): {2} | "
        "global batch size:  8 | lm loss: 2.5E+00 |\n"
    )
    before, after = (baseline(line.format(1, 900.0, flops) + line.format(2, 812.0, flops)) for flops in (9.330, 1.423))
    told = [[(figure.metric, figure.value, figure.unit) for figure in each.figures] for each in (before, after)]
    assert told[0] == told[1] and ("train_step_time", 812.0, "ms") in told[0]


def test_mmdet_resume_files__parts_of_one_run_are_no_whole_ones(tmp_path):
    record = {"mode": "train", "iter": 50, "lr": 0.1, "data_time": 0.1, "loss": 0.5, "time": 0.3}
    for part in range(3):
        lines = [json.dumps({**record, "epoch": 4 * part + epoch}) for epoch in range(1, 5)]
        if part < 2:
            lines.append(json.dumps({"mode": "val", "epoch": 4 * part + 4, "iter": 9, "lr": 0.1, "bbox_mAP": 0.2}))
        (tmp_path / f"2022030{part + 1}_100000.log.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = scan(tmp_path).candidates
    assert len(found) == 3 and all(has(each.baseline.doubts, "同目录有 3 个同类日志", "续训") for each in found)
    newest = next(each.baseline for each in found if each.path.startswith("20220303"))
    assert newest.figure("bbox_mAP") is None and not is_complete(newest)
    assert found[0].path != "20220303_100000.log.json", "one without a score does not come first"


def test_fallback_cpu__what_ran_on_the_host_is_told(baseline):
    warned = (
        "[W] The operator torchvision::nms is not currently supported on the NPU backend and will fall back to run "
        "on the CPU.\n[W] result is untrustworthy1\n"
    )
    found = baseline(warned + "mean latency: 9.0 ms\n")
    assert has(found.doubts, "回退到 CPU") and has(found.doubts, "结果不可信")
