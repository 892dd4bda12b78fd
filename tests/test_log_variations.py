"""The same log as users have it: other line ends, colours, prefixes, bars, cut anywhere; and sentences of their own."""

import re
from pathlib import Path

import pytest

from npueval.logs.assessing import assess
from npueval.logs.extracting import extract
from npueval.logs.timings import timings

DATA = Path(__file__).parent / "data" / "logs"
LOGS = sorted(
    path
    for path in DATA.iterdir()
    if not path.name.endswith(".expected.json") and path.suffix != ".gz" and b"\0" not in path.read_bytes()
)
DOCUMENTS = {path.name for path in LOGS if path.suffix in (".json", ".md", ".csv")}
DATED = {"deepspeed.log"}
"""Two runs that only their dates part: another date before them hides it."""
HOLDING_PREFIXES = {"ais_bench.log", "megatron.log", "ranks_and_fallback.log", "verl.log"}
"""What these hold of prefixes (a rank's, a quotation's) says nothing behind another prefix."""


def each_line(change):
    return lambda raw: b"\n".join(change(line) if line else line for line in raw.split(b"\n"))


VARIATIONS = {
    "Windows line ends": (lambda raw: raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), set()),
    "blanks at the end": (each_line(lambda line: line + b"   "), set()),
    "nohup's first line": (lambda raw: b"nohup: ignoring input\n" + raw, {"mindspeed.json", "wandb-summary.json"}),
    "colours": (each_line(lambda line: b"\x1b[32m" + line + b"\x1b[0m"), DOCUMENTS),
    "rank 0": (each_line(lambda line: b"[rank0]: " + line), DOCUMENTS | DATED | HOLDING_PREFIXES),
    "torchrun": (each_line(lambda line: b"[default0]:" + line), DOCUMENTS | DATED | HOLDING_PREFIXES),
    "a container's time": (
        each_line(lambda line: b"2024-05-06T07:08:09.123456789Z stdout F " + line),
        DOCUMENTS | DATED,
    ),
}


def values(path):
    """Every series of every run: its values, and the last with its line."""
    runs = extract(path, path.name).runs
    return [
        {key: (series.values, series.not_finite, series.last_at[0]) for key, series in run.series.items()}
        for run in runs
    ]


@pytest.mark.parametrize("name", VARIATIONS)
def test_what_a_log_goes_through_changes_none_of_its_values(tmp_path, name):
    change, without = VARIATIONS[name]
    added = change(b"") != b""
    for log in LOGS:
        if log.name in without:
            continue
        (tmp_path / log.name).write_bytes(change(log.read_bytes()))
        expected = [
            {key: (numbers, bad, line + added) for key, (numbers, bad, line) in run.items()} for run in values(log)
        ]
        found = values(tmp_path / log.name)
        unplaced = [{key: value[:2] for key, value in run.items()} for run in expected]
        assert [{key: value[:2] for key, value in run.items()} for run in found] == unplaced, log.name


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_a_log_that_is_cut_anywhere_gives_no_number_that_it_does_not_hold_without_a_word(tmp_path, log):
    raw, whole = log.read_bytes(), {}
    for run in extract(log, log.name).runs:
        for (_, metric), series in run.series.items():
            whole.setdefault((run.format, metric), set()).update(series.values)
    digits = [found.end() for found in re.finditer(rb"\d(?=[\d.])", raw)]
    for end in digits[:: len(digits) // 12 + 1]:
        (tmp_path / log.name).write_bytes(raw[:end])
        found = extract(tmp_path / log.name, log.name)
        for run in found.runs:
            for (_, metric), series in run.series.items():
                known = whole.get((run.format, metric), set(series.values))
                told = any("中途结束" in doubt for doubt in run.doubts)
                assert told or set(series.values) <= known, (metric, raw[max(0, end - 40) : end])


def test_a_table_whose_lines_end_twice_is_read(tmp_path):
    (tmp_path / "metrics.csv").write_bytes(b"epoch,step,train_loss,val_acc\r\r\n0,10,0.5,\r\r\n0,20,0.4,0.8\r\r\n")
    (run,) = extract(tmp_path / "metrics.csv", "metrics.csv").runs
    assert run.find("train_loss").values == [0.5, 0.4] and run.find("val_acc").last == 0.8


def test_a_bar_glued_to_a_record_is_no_step_of_it(tmp_path):
    bar = "100%|###| 5/10 [00:02<00:00,  4.5it/s]"
    record = "[2022/05/01 10:00:{0}] ppcls INFO: [Train][Epoch 3/120][Iter: {0}/500]lr: 0.09, loss: 2.{0}, ips: 205.1\n"
    (tmp_path / "a.log").write_text(f"{bar}{record.format(10)}{bar}{record.format(20)}", encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert (run.find("loss").values, run.find("loss").steps) == ([2.10, 2.20], [10, 20])


def test_every_state_of_a_bar_is_a_value(tmp_path):
    bars = "".join(f"\rEpoch 3: {i}%|##| {i}/99 [00:12<00:00, 38.2it/s, loss=0.{500 - i}, acc=0.4]" for i in range(99))
    (tmp_path / "a.log").write_text(f"{bars}\n", encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert (run.find("loss").count, run.find("loss").last, list(run.doubts)) == (99, 0.402, [])


def test_many_malformed_numbers_are_one_doubt_and_a_count(tmp_path):
    text = "".join(f"Epoch {i}: loss: 0.{i}.26\n" for i in range(100)) + "Epoch 100: loss: 0.5\n"
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert run.find("loss").values == [0.5]
    assert list(run.doubts) == ["loss 的值 '0.0.26' 不是一个数，不采用（a.log:1）", "loss 共有 100 个值不是一个数"]


def test_processes_that_write_into_one_file_without_their_names_are_noticed(tmp_path):
    text = "".join(f"epoch 1/1 step {i}/9 loss 0.{i}{rank}\n" for i in range(1, 10) for rank in range(4))
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert any("几个进程写进了同一个文件" in doubt for doubt in assess(run).doubts)


def test_a_step_in_brackets_is_no_rank(tmp_path):
    (tmp_path / "a.log").write_text("[0]: loss: 0.9\n[1]: loss: 0.8\n[2]: loss: 0.7\n", encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert run.find("loss").values == [0.9, 0.8, 0.7]


# --- sentences ----------------------------------------------------------------------------------------------------


def figures(tmp_path, text):
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    return assess(run)


@pytest.mark.parametrize(
    ("line", "metric", "value"),
    [
        ("第 1 轮，训练损失：0.523，验证准确率：81.2%", "验证准确率", 0.812),
        ("最终测试集准确率为：93.5%", "最终测试集准确率为", 0.935),
        ("Final test accuracy: 93.5%", "Final test accuracy", 0.935),
        ("Test accuracy: 93.5%.", "Test accuracy", 0.935),
        ("Epoch 3 train loss 0.51, avg_val_acc = 81%", "avg_val_acc", 0.81),
        ("Epoch 3: loss=0.51,acc=81%", "train_acc", 0.81),
    ],
)
def test_a_score_is_of_the_set_that_its_sentence_names(tmp_path, line, metric, value):
    found = figures(tmp_path, line + "\n")
    assert found.figure(metric).value == pytest.approx(value)
    assert not any("没有写明取自" in doubt for doubt in found.doubts)


@pytest.mark.parametrize(
    ("line", "metric", "value", "words"),
    [
        ("Val accuracy: 4931/5000 (98.6%)", "Val accuracy", 0.9862, "4931/5000 个样本"),
        ("Val accuracy: 4931/5000", "Val accuracy", 0.9862, "4931/5000 个样本"),
        ("Val accuracy: 0.647/0.655", "Val accuracy", 0.647, ""),
        ("Val accuracy: 0.64~0.66", "Val accuracy", None, ""),
        ("mAP@0.5: 0.65, mAP@0.5:0.95: 0.43", "mAP@0.5", 0.65, ""),
        ("mAP@0.5: 0.65, mAP@0.5:0.95: 0.43", "mAP@0.5-0.95", 0.43, ""),
        ("Test: [ 10/196]  Loss: 5.1 (4.2)  Accuracy: 81.2 (76.4)", "test_Accuracy", None, ""),
    ],
)
def test_what_a_sentence_writes_as_two_numbers(tmp_path, line, metric, value, words):
    found = figures(tmp_path, line + "\nTest loss: 0.5\n")
    figure = found.figure(metric)
    assert (figure and figure.value) == value and words in (figure.original if figure else "")
    assert any("斜杠" in doubt for doubt in found.doubts) == ("0.655" in line)
    assert any("范围" in doubt for doubt in found.doubts) == ("~" in line)
    assert (figure.n if figure else None) == (5000 if "5000" in line else None)


@pytest.mark.parametrize("line", ["Accuracy: 91.2%", "train_loss: 0.3 | test_loss: 0.4 | Accuracy: 91.2%"])
def test_a_score_of_no_named_set_is_not_called_one_of_training(tmp_path, line):
    found = figures(tmp_path, line + "\n")
    assert found.figure("Accuracy").value == pytest.approx(0.912)
    assert "Accuracy 没有写明取自训练集还是验证集" in found.doubts


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("P99 latency: 12.5 ms", [("latency_p99_ms", "ms", "12.5")]),
        ("latency_p95_us=1,250", [("latency_p95_ms", "us", "1,250")]),
        ("平均推理耗时：12.5毫秒", [("latency_mean_ms", "ms", "12.5")]),
        ("端到端时延(ms)：7.25", [("latency_ms", "ms", "7.25")]),
        ("mean latency per batch: 3 ms, max latency: 9 ms", [("latency_mean_ms", "ms", "3")]),
        ("吞吐量：80.5 张/秒", [("throughput", "images/s", "80.5")]),
        ("Throughput (samples/s): 1,194.5", [("throughput", "samples/s", "1,194.5")]),
        ("FPS: 36", [("throughput", "frames/s", "36")]),
        ("Token latency: 5 ms; H2D latency: 3 ms; 首字延迟: 30 ms", []),
        ("latency: 170~210 ms", []),
        ("latency: 0.94.26 ms", []),
        ("latency: 12.5", []),
    ],
)
def test_times_and_rates_say_which_statistic_they_are(line, expected):
    assert [(each.metric, each.unit, each.value) for each in timings(line)] == expected


def test_single_latencies_are_taken_by_their_median_and_one_alone_is_doubted(tmp_path):
    many = figures(tmp_path, "".join(f"step {i} - latency: {i} ms\n" for i in (3, 4, 5, 6)))
    assert many.figure("latency_p50_ms").value == 5 and any("取中位数作 p50" in doubt for doubt in many.doubts)
    one = figures(tmp_path, "inference time: 12.5ms per image\n")
    assert one.figure("latency_mean_ms").value == 12.5
    assert any("没有写明是平均还是分位数" in doubt for doubt in one.doubts)
    assert "延迟按每个样本打印，不是每个 batch" in one.doubts


def test_measurements_with_several_batches_are_not_mixed(tmp_path):
    text = "device: Tesla T4\n" + "".join(f"batch size: {n}\nmean latency: {n + 2}.0 ms\n" for n in (1, 8, 16))
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    found = [assess(run) for run in extract(tmp_path / "a.log", "a.log").runs]
    told = [(each.fact("batch"), each.figure("latency_mean_ms").value, each.fact("device")) for each in found]
    assert told == [("1", 3, "Tesla T4"), ("8", 10, "Tesla T4"), ("16", 18, "Tesla T4")]


def test_another_batch_in_the_midst_of_a_run_is_a_contradiction(tmp_path):
    found = figures(tmp_path, "batch_size: 32\nstep 1 loss 0.5\nbatch_size: 64\nstep 2 loss 0.4\n")
    assert any(doubt.startswith("batch 前后不一致：32（a.log:1）；64（a.log:3）") for doubt in found.doubts)


# --- conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("Using device: cuda:0 (NVIDIA A30)", "device", "NVIDIA A30"),
        ("Device: NVIDIA GeForce RTX 4080", "device", "NVIDIA GeForce RTX 4080"),
        ("Toolkit 9.1 Python-3.11 torch-2.2 CUDA:0 (Tesla T4, 15102MiB)", "device", "Tesla T4"),
        ("|   0  NVIDIA A40-48Q           On  | 00000000:07:00.0 Off |    0 |", "device", "NVIDIA A40-48Q"),
        ("Running on Tesla P40-24GB, driver 535", "device", "Tesla P40-24GB"),
        ("device: npu:0 (Ascend910B4)", "device_kind", "npu"),
        ("device: cuda:0", "device", None),
        ("Number of GPUs: 4", "cards", "4"),
        ("使用 4 张 GPU 训练", "cards", "4"),
        ("Found 8 GPUs, using GPU 0", "cards", None),
        ("8 GPUs available", "cards", None),
        ("  Total train batch size (w. parallel, distributed & accumulation) = 64", "batch", "64"),
        ("batch_size=12, lr=0.1", "batch", "12"),
    ],
)
def test_what_programs_say_of_their_conditions(tmp_path, line, key, value):
    assert figures(tmp_path, f"{line}\nstep 1 loss 0.5\n").fact(key) == value


def test_a_batch_of_each_card_is_called_one(tmp_path):
    each = "per_device_train_batch_size: 8\nstep 1 loss 0.5\n"
    assert any("batch 8 是每卡的（a.log:1）" in doubt for doubt in figures(tmp_path, each).doubts)
    assert not any("每卡" in doubt for doubt in figures(tmp_path, "world_size: 1\n" + each).doubts)


# --- several runs -------------------------------------------------------------------------------------------------

STEP = "epoch {0}/3 step {1}/4 loss 0.{0}{1}\n"
RUN = "".join(STEP.format(epoch, step) for epoch in (1, 2, 3) for step in (2, 4))


def test_a_resume_overlaps_what_was_written_before_it(tmp_path):
    """It went down in epoch 2 and came back at the checkpoint before: what was done twice counts in each."""
    text = RUN[: RUN.index(STEP.format(3, 2))] + "Resuming from epoch 1\n" + RUN[len(STEP.format(1, 2)) * 2 :]
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    first, second = extract(tmp_path / "a.log", "a.log").runs
    assert (first.positions["train"], first.restarted) == ((2, 4), False)
    assert (second.first_line, second.find("loss").count, second.restarted) == (6, 4, True)
    assert any("续训" in doubt for doubt in assess(second).doubts)


def test_a_run_after_a_finished_one_is_no_restart(tmp_path):
    done = "epoch 3/3 done: train_loss 0.3\n"
    (tmp_path / "a.log").write_text((RUN + done) * 2, encoding="utf-8")
    assert [(run.finished, run.restarted) for run in extract(tmp_path / "a.log", "a.log").runs] == [(True, False)] * 2


LONG = {
    "HF": (
        "".join(f"{{'loss': 0.{900 - i}, 'learning_rate': 1e-05, 'epoch': {i / 60:.2f}}}\n" for i in range(1, 61)),
        "{{'train_runtime': {0}.5, 'train_samples_per_second': 30.5, 'train_loss': 0.6, 'epoch': 1.0}}\n",
    ),
    "Megatron": (
        "".join(
            f" iteration {i}/ 60 | elapsed time per iteration (ms): 9{i}.0 | lm loss: 2.{i} |\n" for i in range(1, 61)
        ),
        "",
    ),
    "step loop": ("".join(f"step {i}/60 loss 2.{i}\n" for i in range(1, 61)), ""),
    "key-value": (
        "".join(f"epoch 1/1 step {i}/60 loss 2.{i}\n" for i in range(1, 61)),
        "epoch 1/1 done: train_loss {0}.5\n",
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_two_finished_runs_long_enough_for_the_fast_lane_stay_two(tmp_path, name):
    records, last = LONG[name]
    (tmp_path / "a.log").write_text("".join(records + last.format(i) for i in (7, 8)), encoding="utf-8")
    runs = extract(tmp_path / "a.log", "a.log").runs
    assert [(run.finished, run.restarted) for run in runs] == [(True, False)] * 2
    for run in runs:
        counts = {metric: series.count for (_, metric), series in run.series.items() if series.count > 1}
        assert set(counts.values()) == {60}, counts


@pytest.mark.parametrize(("epoch", "runs"), [("1.0", 1), ("0", 2)])
def test_an_evaluation_after_the_summary_is_of_the_run_unless_it_is_of_an_earlier_epoch(tmp_path, epoch, runs):
    evaluated = f"{{'eval_accuracy': 0.5, 'eval_runtime': 2.0, 'epoch': {epoch}}}\n"
    (tmp_path / "a.log").write_text(LONG["HF"][0] + LONG["HF"][1].format(1) + evaluated, encoding="utf-8")
    found = extract(tmp_path / "a.log", "a.log").runs
    assert len(found) == runs and found[-1].find("eval_accuracy").last == 0.5


def test_a_line_that_is_cut_in_the_midst_of_a_file_hides_no_value_of_those_after_it(tmp_path):
    """It went down while it wrote, and was started again with its output appended."""
    line = "2023-03-01 10:00:00,000 - mmdet - INFO - Epoch [{0}][50/100]\tlr: 1e-02, time: 0.41, loss: {1}\n"
    text = line.format(1, 1.5) + line.format(2, "") + line.format(2, 1.4) + line.format(3, 1.3)
    (tmp_path / "a.log").write_text(text, encoding="utf-8")
    (run,) = extract(tmp_path / "a.log", "a.log").runs
    assert run.find("loss").values == [1.5, 1.4, 1.3]


def test_percentiles_of_anybody_s_choice_are_read(tmp_path):
    text = "============ Serving Benchmark Result ============\nP25 TTFT (ms): 81.5\nP90 E2EL (ms): 901.5\n"
    found = figures(tmp_path, text)
    assert [(each.metric, each.value) for each in found.figures] == [("ttft_p25_ms", 81.5), ("latency_p90_ms", 901.5)]
