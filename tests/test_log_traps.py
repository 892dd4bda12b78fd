"""Every trap that real logs hold, by its number: what it looks like, and what must be read or refused."""

import bz2
import gzip
import lzma
import tracemalloc

import pytest

from npueval import comparing
from npueval.baselines import scan
from npueval.logs.assessing import NoBaseline, assess
from npueval.logs.extracting import extract
from npueval.logs.numerals import Numeral, read, seconds
from npueval.plan import Targets
from support.make_runs import make_run
from support.projects import make_plan

KV = "epoch {0}/{1} step {2}/{3} loss {4}\n"
MM = "2023-03-01 10:{5:02}:00 - INFO - Epoch(train) [{0}][{1}/{2}]  time: {3}  loss: {4}\n"


@pytest.fixture
def runs(tmp_path):
    def of(text, name="train.log"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return extract(path, name).runs

    return of


@pytest.fixture
def baseline(runs):
    def of(text, name="train.log"):
        (run,) = runs(text, name)
        return assess(run)

    return of


@pytest.fixture
def rejected(tmp_path):
    def of(text, name="train.log"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return extract(tmp_path / name, name).rejected

    return of


def has(doubts, *words):
    return any(all(word in doubt for word in words) for doubt in doubts)


# --- 1: result files of the Ascend ModelZoo -----------------------------------------------------------------------


def test_trap_01_the_host_architecture_is_no_accelerator(baseline):
    found = baseline("Network = resnet\nRankSize = 8\nBatchSize = 256\nDeviceType = aarch64\nActualFPS = 1800.5\n")
    assert found.fact("device") is None and found.fact("host_architecture") == "aarch64"
    assert "环境（设备型号）" in found.missing and has(found.doubts, "aarch64", "uname -m")


def test_trap_01_an_architecture_is_no_device_under_any_key(baseline):
    found = baseline("device: aarch64\nepoch 1/1 step 1/1 loss 0.5\n")
    assert found.fact("device") is None and found.fact("host_architecture") == "aarch64"


def test_trap_01_an_empty_value_is_missing(baseline):
    found = baseline("Network = resnet\nActualFPS = \nActualLoss = 1.25\n")
    assert found.figure("train_throughput") is None and has(found.doubts, "ActualFPS 为空", ":2")


def test_trap_01_a_value_written_twice_may_be_stale(baseline):
    found = baseline("Network = resnet\nActualFPS = 900.0\nActualFPS = 1800.0\n")
    assert has(found.doubts, "ActualFPS 写了多次")


def test_trap_01_a_rate_may_be_multiplied_by_the_script(baseline):
    found = baseline("Network = resnet\nRankSize = 8\nActualFPS = 14400.0\n")
    assert found.figure("train_throughput").per == "?" and has(found.doubts, "乘以固定卡数")


# --- 2: warm-up ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2.1, 17, 230])
def test_trap_02_a_slow_first_step_is_left_out_and_counted(baseline, times):
    steps = [0.1 * times, *([0.1] * 9)]
    figure = baseline("".join(MM.format(1, 10 * (i + 1), 100, t, 0.5, i) for i, t in enumerate(steps))).figure(
        "train_step_time"
    )
    assert figure.value == 100 and "去掉预热 1 个" in figure.original


@pytest.mark.parametrize(
    ("steps", "left_out", "steady"), [([9.0, 0.1], 1, 100), ([9.0, 2.0, 0.9, *([0.1] * 9)], 3, 100)]
)
def test_trap_02_every_slow_step_at_the_start_is_left_out(baseline, steps, left_out, steady):
    text = "".join(MM.format(1, 10 * (i + 1), 200, taken, 0.5, i) for i, taken in enumerate(steps))
    figure = baseline(text).figure("train_step_time")
    assert figure.value == steady and f"去掉预热 {left_out} 个" in figure.original


@pytest.mark.parametrize("first", [0.9, 0.001])
def test_trap_02_the_first_of_an_epoch_may_be_slow_or_too_fast(baseline, first):
    text = "".join(
        MM.format(epoch, step, 100, first if step == 10 else 0.1, 0.5, epoch * 10 + step // 10)
        for epoch in (1, 2, 3)
        for step in (10, 20, 30, 40)
    )
    figure = baseline(text).figure("train_step_time")
    assert figure.value == 100 and "9 个打印值" in figure.original and "去掉预热 3 个" in figure.original


# --- 3: per card or all cards -------------------------------------------------------------------------------------

IPS = "{0}[2021/10/19 09:25:55] root INFO: epoch: [4/9], iter: {1}, loss: 5.0, batch_cost: 0.8 s, ips: 190.5\n"


@pytest.mark.parametrize(("cards", "per"), [("单卡: ", "total"), ("8卡: ", "?"), ("", "?")])
def test_trap_03_ips_is_of_unknown_cards_unless_there_is_only_one(baseline, cards, per):
    assert baseline(IPS.format(cards, 20)).figure("train_throughput").per == per


def test_trap_03_a_table_does_not_say_whose_fps_it_shows(baseline):
    found = baseline("| NAME | Acc@1 | FPS |\n|---|---|---|\n| 8p-竞品A | 76.3 | 9120.5 |\n", "table.md")
    assert found.figure("eval_throughput").per == "?"


def test_trap_03_without_that_flag_there_is_no_ratio(tmp_path, baseline):
    text = "dataset: cifar\ndevice: Tesla V100\nbatch: 4\nAverage latency: 4.0 ms, throughput: 250.0 samples/sec\n"
    found = baseline(text)
    assert found.figure("throughput").per == "?"
    plan = make_plan(tmp_path / "p", targets=Targets(ratio_to_baseline=0.9), target_batch=4)
    (row,) = (
        row
        for row in comparing.compare(plan, npu=[make_run()], baseline=found).rows
        if (row.metric, row.batch) == ("throughput", 4)
    )
    assert row.against_gpu.ratio is None and row.against_gpu.refusal


# --- 4: the Trainer of Hugging Face -------------------------------------------------------------------------------


def test_trap_04_train_loss_is_the_mean_of_the_run(baseline):
    found = baseline(
        "{'loss': 3.0, 'learning_rate': 1e-05, 'epoch': 0.5}\n{'loss': 1.0, 'learning_rate': 0.0, 'epoch': 1.0}\n"
        "{'train_runtime': 9.0, 'train_samples_per_second': 30.0, 'train_loss': 2.0, 'epoch': 1.0}\n"
    )
    assert (found.figure("loss").value, found.figure("mean_train_loss").value) == (1.0, 2.0)


def test_trap_04_the_rate_of_a_resumed_run_is_doubted(baseline):
    found = baseline(
        "{'loss': 0.4, 'learning_rate': 1e-05, 'epoch': 0.9, 'step': 9000}\n"
        "{'loss': 0.3, 'learning_rate': 0.0, 'epoch': 1.0, 'step': 9100}\n"
        "{'train_runtime': 9.0, 'train_samples_per_second': 30000.0, 'train_loss': 0.01, 'epoch': 1.0}\n"
    )
    assert has(found.doubts, "9000", "吞吐会偏高")


def test_trap_04_numbers_may_be_strings(baseline):
    found = baseline("{'loss': '2.5', 'grad_norm': '5.3', 'learning_rate': '0.0002', 'epoch': '1'}\n")
    assert found.figure("loss").value == 2.5


# --- 5: several runs in one file ----------------------------------------------------------------------------------


def test_trap_05_an_appended_restart_is_another_run(runs):
    text = KV.format(1, 2, 1, 2, 0.9) + KV.format(1, 2, 2, 2, 0.8) + KV.format(1, 2, 1, 2, 0.95)
    first, second = runs(text)
    assert (first.restarted, second.restarted, second.first_line) == (False, True, 3)
    assert has(assess(second).doubts, "从第 3 行起")


def test_trap_05_several_finished_runs_follow_each_other(runs):
    one = KV.format(1, 1, 1, 1, 0.9) + "epoch 1/1 done: train_loss 0.9 val_accuracy 0.5 1.0 s\n"
    assert [(run.first_line, run.last_line, run.finished) for run in runs(one * 3)] == [
        (1, 2, True),
        (3, 4, True),
        (5, 6, True),
    ]


def test_trap_05_training_and_inference_in_one_file_are_told_apart(runs):
    config = "2022-04-12 17:05:16,552 - INFO - use_gpu: True, {0}_batch_size: {1}, epochs: 1\n"
    text = (
        config.format("train", 512)
        + "2022-04-12 17:10:00,000 - INFO - epoch: 0 done, AUC: 0.81, loss: 0.3, epoch time: 9.0 s\n"
        + config.format("infer", 64)
        + "2022-04-12 18:10:00,000 - INFO - epoch: 0 done, AUC: 0.84, epoch time: 7.0 s\n"
    )
    training, inference = runs(text)
    assert (training.fact("batch"), inference.fact("batch")) == ("512", "64")
    assert [phase for run in (training, inference) for phase, name in run.series if name == "auc"] == ["train", "infer"]


def test_trap_05_evaluations_stand_between_the_lines_of_training(runs):
    evaluation = "2023-03-01 10:00:30 - INFO - Epoch(val) [1][50/50]  accuracy: 71.5  time: 0.01\n"
    (run,) = runs(MM.format(1, 90, 90, 0.1, 0.9, 0) + evaluation + MM.format(2, 10, 90, 0.1, 0.8, 1))
    assert run.find("loss").count == 2 and run.find("accuracy").phase == "eval"


def test_trap_05_a_loss_that_is_printed_twice_counts_once(runs):
    (run,) = runs(KV.format(1, 1, 1, 2, 0.9) * 2 + KV.format(1, 1, 2, 2, 0.8))
    assert (run.find("loss").count, run.repeats) == (2, 1)


# --- 6: bars, colours, ranks, torn records ------------------------------------------------------------------------


def test_trap_06_a_bar_and_a_record_share_a_line(runs):
    (run,) = runs("  0%| | 0/2\r 50%|# | 1/2\r100%|##| 2/2 [00:01]" + KV.format(1, 1, 1, 1, 0.75))
    assert run.find("loss").last_at == (1, "100%|##| 2/2 [00:01]epoch 1/1 step 1/1 loss 0.75")


def test_trap_06_colours_are_no_part_of_a_number(runs):
    (run,) = runs("\x1b[32mepoch 1/1 step 1/1 loss \x1b[1m0.75\x1b[0m\n")
    assert run.find("loss").last == 0.75


@pytest.mark.parametrize(
    "prefix",
    [
        *("[rank{}]: ", "[default{}]:", "[{}]:", "Rank {}: ", "[1,{}]<stdout>:"),
        *("2023-03-01 10:00:00 [rank{}] ", "2023-03-01 10:00:00,000 - INFO - [Rank {}] "),
        "2023-03-01T10:00:00.000000000Z stdout F [rank{}]: ",
    ],
)
@pytest.mark.parametrize(
    "record", [KV.format(1, 1, "{0}", 40, "0.{0}{1}"), '{{"loss": 0.{0}{1}, "learning_rate": 0.1, "step": {0}}}\n']
)
def test_trap_06_other_ranks_say_the_same(runs, prefix, record):
    """Enough steps for the fast lane; every rank is a step ahead of the one before it; the loss ends with the rank."""
    lines = [prefix.format(rank) + record.format(step + rank, rank) for step in range(10, 40) for rank in range(3)]
    (run,) = runs("".join(lines))
    losses = run.find("loss")
    assert losses.values == [float(f"0.{step}") for step in range(10, 40)]
    assert losses.lines == list(range(1, 91, 3)) and lines[-3].rstrip("\n").endswith(losses.last_at[1])


def test_trap_06_one_record_stands_on_many_lines(runs):
    (run,) = runs("{'train_runtime': 9.0,\n 'train_samples_per_second': 30.5,\n 'train_loss': 2.25,\n 'epoch': 1.0}\n")
    assert run.find("throughput").last_at[0] == 2 and run.find("mean_train_loss").last_at[0] == 3


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("epoch 1/1 step 1/2 loss 0.9\nepoch 1/1 step 2/2 lo", 0.9),
        ('{"loss": 0.9, "learning_rate": 0.1, "epoch": 1}\n{"loss": 0.4, "learni', 0.9),
        (
            " iteration 1/ 9 | elapsed time per iteration (ms): 9.0 | lm loss: 0.9 |\n iteration 2/ 9 | elapsed time",
            0.9,
        ),
    ],
)
def test_trap_06_a_file_that_is_cut_in_a_record_keeps_the_whole_ones(runs, text, last):
    (run,) = runs(text)
    (losses,) = (series for (_, name), series in run.series.items() if "loss" in name)
    assert (losses.count, losses.last) == (1, last)


@pytest.mark.parametrize(
    ("text", "last", "words"),
    [
        ("epoch 1/1 step 1/2 loss 0.9123\nepoch 1/1 step 2/2 loss 0.8", 0.9123, "0.8 不完整，不采用"),
        ("epoch 1/1 step 1/2 loss 0.9123\nepoch 1/1 step 2/2 loss 0.8456", 0.8456, "0.8456 可能不完整"),
        ("epoch 1/1 step 1/1 loss 0.", 0, "0 可能不完整"),
        ("epoch,step,train_loss\n0,1,0.9123\n0,2,0.8", 0.9123, "0.8 不完整，不采用"),
    ],
)
def test_trap_06_a_number_that_a_cut_file_ends_with_is_not_believed(runs, text, last, words):
    (run,) = runs(text)
    (losses,) = (series for (_, name), series in run.series.items() if "loss" in name)
    assert losses.last == last and has(run.doubts, "中途结束", words)
    (whole,) = runs(text + "\n")
    assert not has(whole.doubts, "中途结束")


# --- 7: times -----------------------------------------------------------------------------------------------------


def test_trap_07_a_time_without_a_year_is_no_date(baseline):
    line = "08/18 20:27:22 - mmengine - INFO - Epoch(train) [1][50/90]  time: 0.4  loss: 6.7\n"
    found = baseline(line)
    assert found.fact("date") is None and has(found.doubts, "没有年份")


@pytest.mark.parametrize(
    ("text", "value"), [("56h20m21s", 202821), ("1 day, 2:03", 93780), ("3 days, 22:56:26", 341786), ("0:18:23", 1103)]
)
def test_trap_07_durations(text, value):
    assert seconds(text) == value


# --- 8: what is not a number --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["nan", "NaN", "inf", "-inf"])
def test_trap_08_a_loss_that_is_not_finite_is_no_baseline(baseline, bad):
    with pytest.raises(NoBaseline, match="NaN/Inf"):
        baseline(KV.format(1, 1, 1, 2, 0.9) + KV.format(1, 1, 2, 2, bad))


def test_trap_08_minus_one_means_not_applicable(baseline):
    line = "2023-03-01 10:00:30 - INFO - Epoch(val) [1][5/5]  coco/bbox_mAP: 0.2150  coco/bbox_mAP_s: -1.0000\n"
    found = baseline(line)
    assert [figure.metric for figure in found.figures] == ["coco/bbox_mAP"]
    with pytest.raises(NoBaseline, match="不适用"):
        baseline(line.replace("coco/bbox_mAP: 0.2150  ", ""))


def test_trap_08_a_loss_of_exactly_zero_is_no_baseline(baseline):
    with pytest.raises(NoBaseline, match=r"恒为 0\.0"):
        baseline(KV.format(1, 1, 1, 2, "0.0") + KV.format(1, 1, 2, 2, "0.000"))


def test_trap_08_an_accuracy_beside_a_nan_is_no_baseline(baseline):
    with pytest.raises(NoBaseline, match="NaN"):
        baseline(
            "640/640 [====] - 9s 14ms/step - loss: nan - accuracy: 0.9011 - val_loss: nan - val_accuracy: 0.9020\n"
        )


# --- 9 and 10: numbers and their absence --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numeral"),
    [
        ("1,194", Numeral(1194)),
        ("2.54e+06", Numeral(2_540_000)),
        ("~20s", Numeral(20, "s", approximate=True)),
        ("6w", Numeral(60_000)),
        ("7.078993Epoch", Numeral(7.078993, "Epoch")),
        ("0.647/0.655", Numeral(0.647, of=0.655)),
        ("57/64", Numeral(57, of=64)),
        ("170~210", Numeral(170, high=210)),
    ],
)
def test_trap_09_forms_of_numbers(text, numeral):
    assert read(text) == numeral


def test_trap_09_a_malformed_number_is_refused(runs):
    with pytest.raises(ValueError, match="not a number"):
        read("0.94.26")
    (run,) = runs("Total data: 10000, top1 accuracy: 0.94.26, top5 accuracy: 0.9951.\n")
    assert ("eval", "top1") not in run.series and has(run.doubts, "0.94.26", "train.log:1")


@pytest.mark.parametrize(
    ("cell", "value", "words"),
    [
        ("1,194", 1194, ""),
        ("2.54e+06", 2_540_000, ""),
        ("6w", 60_000, ""),
        ("~20", 20, "约数"),
        ("57/64", 57, "斜杠"),
        ("170~210", None, ""),
        ("0.94.26", None, "不是一个数"),
    ],
)
def test_trap_09_what_becomes_of_them_in_a_table(baseline, cell, value, words):
    found = baseline(f"| NAME | Acc@1 | FPS |\n| 8p-竞品A | 76.3 | {cell} |\n", "table.md")
    figure = found.figure("eval_throughput")
    assert (figure and figure.value) == value and has(found.doubts, words)


@pytest.mark.parametrize("mark", ["-", "/", "—", "", "N/A"])
def test_trap_10_marks_of_what_is_missing(baseline, mark):
    assert read(mark) is None
    found = baseline(f"device: {mark}\n| NAME | Acc@1 | FPS |\n| 8p-竞品A | 76.3 | {mark} |\n", "table.md")
    assert found.figure("eval_throughput") is None and found.fact("device") == "8p-竞品A"


@pytest.mark.parametrize("mark", ["-", "/", "—", "N/A", "无"])
def test_trap_10_such_marks_are_no_condition(baseline, mark):
    found = baseline(f"dataset: {mark}\nseed: 3\nmodel: {mark}\n" + KV.format(1, 1, 1, 1, 0.5))
    assert not {"dataset", "data_path", "model"} & found.facts.keys() and "数据集或划分" in found.missing


# --- 11: percent or fraction --------------------------------------------------------------------------------------

TIMM = "epoch,train_loss,eval_loss,eval_top1,eval_top5\n0,6.8,6.6,0.914,3.34\n"


@pytest.mark.parametrize(
    ("text", "metric", "value", "unit", "why"),
    [
        (TIMM, "top1", 0.00914, "fraction", "该格式按百分数打印"),
        ("Epoch 1: Val acc is 81.25%\n", "Val acc", 0.8125, "fraction", "带百分号"),
        ("Epoch 1: Val acc is 81.25\n", "Val acc", 0.8125, "fraction", "大于 1"),
        ("Epoch 1: Val acc is 0.8125\n", "Val acc", 0.8125, "scale?", "无法区分"),
        ("epoch 1/1 done: val_accuracy 0.9139 (n=360)\n", "val_accuracy", 0.9139, "fraction", "整数个样本"),
        ("epoch 1/1 done: val_accuracy 0.9140 (n=360)\n", "val_accuracy", 0.9140, "scale?", "无法区分"),
    ],
)
def test_trap_11_percent_or_fraction_with_the_reason(baseline, text, metric, value, unit, why):
    figure = baseline(text).figure(metric)
    assert figure.value == pytest.approx(value) and figure.unit == unit and why in figure.original


# --- 12: names lie ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("V100_train.log", "## reading V100_features.csv\n"),
        ("train.log", "GPU: V100-features.csv\n"),
        ("ascend/config_A100x1x8/train.log", "config: configs/config_A100x1x8.py\n"),
        ("runs/train3/train.log", "save_dir: D:\\runs\\detect\\train3\n"),
    ],
)
def test_trap_12_names_of_files_and_folders_are_no_evidence(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + KV.format(1, 1, 1, 1, 0.5), encoding="utf-8")
    (found,) = scan(tmp_path).candidates
    facts = found.baseline.facts
    assert not {"device", "device_kind", "cards", "split", "dataset"} & facts.keys() and not found.complete


# --- 13: logs without a metric ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Loading weights\nExporting to ONNX opset 11, accuracy checks off\nONNX export done: a.onnx\n", "导出"),
        (
            "usage: train.py [-h] [--loss {l1,l2}] [--accuracy ACC] [--batch_size N]\n"
            "train.py: error: argument --lr: invalid float value: 'fast'\n",
            "argparse",
        ),
        ("".join(f"city_{i:06}_leftImg8bit.png\n" for i in range(20)), "文件名清单"),
        ("runner:\n  train_batch_size: 8\n  epochs: 3\n  lr: 0.1\n  loss: focal\n  use_gpu: True\n", "配置文件"),
        ("hello\nworld\n", "没有认得的指标"),
    ],
)
def test_trap_13_a_log_without_a_metric_is_rejected_with_the_reason(rejected, text, reason):
    assert reason in rejected(text)


# --- 14: contradictions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "log", "config"),
    [
        ("设备类别", "use_gpu: True", "use_gpu: False"),
        ("epochs", "max_epochs: 3", "epochs: 10"),
        ("batch", "batch_size: 32", "train_batch_size: 1024"),
        ("模型", "model: resnet18", "arch: resnet50"),
    ],
)
def test_trap_14_a_contradiction_is_quoted_from_both_sides_and_not_settled(tmp_path, key, log, config):
    (tmp_path / "train.log").write_text(f"{log}\nstep 1: loss 0.5\n", encoding="utf-8")
    (tmp_path / "config.yaml").write_text(f"seed: 1\n{config}\n", encoding="utf-8")
    (found,) = scan(tmp_path).candidates
    assert has(found.baseline.doubts, f"{key} 有矛盾", "train.log:1", "config.yaml:2", "未作取舍")


def test_trap_14_names_of_one_model_do_not_contradict(tmp_path):
    (tmp_path / "train.log").write_text("model: yolov8n\nstep 1: loss 0.5\n", encoding="utf-8")
    (tmp_path / "args.yaml").write_text("model: weights/YOLOv8n.pt\n", encoding="utf-8")
    (found,) = scan(tmp_path).candidates
    assert not has(found.baseline.doubts, "矛盾")


# --- 15: runs that prove little -----------------------------------------------------------------------------------


def test_trap_15_a_run_shorter_than_configured(baseline):
    assert has(baseline(KV.format(3, 90, 10, 10, 0.5)).doubts, "只到 epoch 3", "90")
    assert has(baseline("step 3/90 loss 2.0\n").doubts, "只到第 3 次迭代", "90")


def test_trap_15_a_finished_run_is_not_doubted(baseline):
    assert baseline(KV.format(1, 1, 1, 1, 0.9) + "epoch 1/1 done: train_loss 0.9\n").doubts == ()


def test_trap_15_another_model(tmp_path):
    (tmp_path / "train.log").write_text("model: tiny-2L\nstep 1: loss 0.5\n", encoding="utf-8")
    (tmp_path / "config.yaml").write_text("model: large-24L\n", encoding="utf-8")
    (found,) = scan(tmp_path).candidates
    assert has(found.baseline.doubts, "模型 有矛盾", "tiny-2L", "large-24L")


def test_trap_15_a_debugging_run_of_five_iterations(baseline):
    assert has(baseline(MM.format(1, 5, 5, 0.1, 6.7, 0)).doubts, "5 次迭代", "调试")


def test_trap_15_a_first_epoch_that_was_interrupted(baseline):
    text = MM.format(1, 50, 3862, 0.1, 6.7, 0) + MM.format(1, 100, 3862, 0.1, 6.5, 1)
    assert has(baseline(text).doubts, "第一个 epoch 就中断了", "100", "3862")


# --- 16: encodings and sizes --------------------------------------------------------------------------------------

CHINESE = "数据集: 花卉\n设备: Tesla V100\n批次说明：无\n" + KV.format(1, 1, 1, 1, 0.5)


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (CHINESE.encode("utf-8-sig"), "utf-8"),
        (CHINESE.encode("gbk"), "gb18030"),
        (CHINESE.encode("utf-16"), "utf-16"),
        (CHINESE.replace("\n", "\r\n").encode("utf-16-le"), "utf-16"),
        (gzip.compress(CHINESE.encode()), "utf-8"),
        (bz2.compress(CHINESE.encode("gbk")), "gb18030"),
        (lzma.compress(CHINESE.encode()), "utf-8"),
    ],
)
def test_trap_16_encodings_and_archives(tmp_path, raw, encoding):
    (tmp_path / "a.log").write_bytes(raw)
    found = extract(tmp_path / "a.log")
    (run,) = found.runs
    assert (run.fact("dataset"), run.fact("device"), run.find("loss").last) == ("花卉", "Tesla V100", 0.5)
    assert run.facts["dataset"].source.line == 1 and found.encoding.startswith(encoding)


def test_trap_16_what_was_spoilt_before_it_was_written_is_doubted(tmp_path):
    (tmp_path / "a.log").write_text("训练 鹈佲攣鈹佲攣 20/20\n" + KV.format(1, 1, 1, 1, 0.5), encoding="utf-8")
    assert has(extract(tmp_path / "a.log").doubts, "乱码")


def test_trap_16_memory_does_not_grow_with_the_file(tmp_path):
    line = "some words that say nothing, over and over, as programs like to print them\n"

    def peak(count):
        (tmp_path / "a.log").write_text((line * 99 + KV.format(1, 1, 1, 1, 0.5)) * count, encoding="utf-8")
        tracemalloc.start()
        extract(tmp_path / "a.log")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(2000) < min(2 * peak(400), 16 << 20)


# --- 17: names of baselines in tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["竞品A", "竞品V", "标杆", "基线", "1p-竞品V", "8p-竞品A"])
def test_trap_17_names_of_baselines_in_tables(baseline, label):
    found = baseline(f"| 名称 | 精度 | 性能(FPS) |\n|---|---|---|\n| {label} | 76.3 | 865 |\n", "t.md")
    assert (found.fact("device_kind"), found.figure("eval_throughput").value) == ("gpu", 865)
    assert found.fact("cards") == (label[0] if label[0].isdigit() else None)
    assert found.grade.value == "D" and has(found.doubts, "没有写明设备型号")
