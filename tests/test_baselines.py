"""Scanning a tree for baselines: what is read and skipped, how it is ranked, what its neighbours add; bad input."""

import bz2
import gzip
import json
import lzma
import math
import os
import socket
import struct

import pytest

from npueval import baselines
from npueval.baselines import Baseline, best, load, save, scan
from npueval.errors import FormatError
from npueval.logs import streams
from npueval.logs.extracting import extract
from npueval.logs.numerals import read, seconds
from npueval.plan import AccuracyTarget, BaselineWish, Targets
from npueval.records import Fact, Grade
from support import events
from support.projects import make_plan

LOG = """device: NVIDIA A100
dataset: cifar10
batch size: {batch}
epoch 1/1 step 1/2 loss 0.9
epoch 1/1 step 2/2 loss {loss}
epoch 1/1 done: train_loss 0.80 val_accuracy 0.75 (n=100) 1.0 s
"""


def log(batch=32, loss="0.7"):
    return LOG.format(batch=batch, loss=loss)


def put(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def paths(found):
    return [item.path for item in found.candidates]


# --- the tree -----------------------------------------------------------------------------------------------------


def test_logs_are_found_by_name_and_by_a_look_and_the_rest_is_left_alone(tmp_path):
    put(
        tmp_path,
        {
            "train.log": log(),
            "out/nohup.out": log(),
            "metrics.txt": log(),
            "notes.txt": "nothing here\n",
            "train.py": log(),
            "model.pt": log(),
            "log": log(),
            ".git/train.log": log(),
            "node_modules/x/train.log": log(),
            "env/pyvenv.cfg": "",
            "env/train.log": log(),
            "训练 日志/训练.log": log(),
        },
    )
    assert sorted(paths(scan(tmp_path))) == ["log", "metrics.txt", "out/nohup.out", "train.log", "训练 日志/训练.log"]


def test_globs_choose_and_cross_folders_only_with_two_stars(tmp_path):
    put(tmp_path, {"logs/a.log": log(), "logs/deep/b.log": log(), "c.log": log(), "logs/a.dat": log()})
    assert paths(scan(tmp_path, ["logs/*.log"])) == ["logs/a.log"]
    assert paths(scan(tmp_path, ["logs/**/*.log"])) == ["logs/a.log", "logs/deep/b.log"]
    assert paths(scan(tmp_path, ["**/?.dat"])) == ["logs/a.dat"]


def test_links_are_not_followed_and_special_files_not_opened(tmp_path, monkeypatch):
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    put(outside, {"secret.log": log()})
    put(tree, {"a.log": log()})
    (tree / "out.log").symlink_to(outside / "secret.log")
    (tree / "linked").symlink_to(outside, target_is_directory=True)
    (tree / "cycle").symlink_to(tree, target_is_directory=True)
    os.mkfifo(tree / "pipe.log")
    monkeypatch.chdir(tree)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.log")
        found = scan(tree)
    assert (paths(found), found.rejected) == (["a.log"], ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path):
    put(tmp_path, {"a.log": log(), "closed/b.log": log()})
    (tmp_path / "closed").chmod(0)
    assert paths(scan(tmp_path)) == ["a.log"]
    (tmp_path / "closed").chmod(0o700)


def test_progress_hears_of_every_file(tmp_path):
    heard = []
    scan(put(tmp_path, {"a.log": log(), "b/c.py": ""}), progress=lambda *told: heard.append(told))
    assert heard == [(1, None, "a.log"), (2, None, "b/c.py"), (1, 1, "a.log")]


# --- the ranking --------------------------------------------------------------------------------------------------


def test_the_complete_log_with_the_target_metric_is_the_baseline(tmp_path):
    put(tmp_path, {"a_partial.log": "epoch 1/1 step 1/2 loss 0.1\n", "b.log": log(), "c.log": log(loss="0.6")})
    (tmp_path / "d.log").write_text("device: A100\ndataset: x\nbatch size: 8\nepoch 1/1 step 1/1 loss 0.2\n")
    target = Targets(accuracy=AccuracyTarget("val_acc", "higher"))
    plan = make_plan(tmp_path, targets=target, baseline=BaselineWish(("*.log",)))
    found = scan(tmp_path, plan.baseline.logs)
    assert paths(found)[-1] == "a_partial.log"
    chosen = best(found, plan)
    assert (chosen.path, chosen.grade, chosen.source) == ("b.log", Grade.C, "log")
    assert chosen.figure("val_accuracy").n == 100
    assert chosen.missing == ("推理延迟 p50", "推理延迟 p95", "推理吞吐")


def test_without_a_candidate_the_baseline_says_why(tmp_path):
    put(tmp_path, {"train.log": "epoch 1/1 step 1/1 loss nan\n", "list.log": "a.png\nb.png\n"})
    found = best(scan(tmp_path), make_plan(tmp_path / "p"))
    assert (found.source, found.grade) == ("none", Grade.NONE)
    told = "；".join((found.reason, *found.doubts))
    assert "NaN" in told and "文件名清单" in told


def test_an_npus_log_is_no_baseline_for_an_npu(tmp_path):
    found = scan(put(tmp_path, {"npu.log": log().replace("NVIDIA A100", "Ascend910B2")}))
    assert not found.candidates and "NPU" in found.rejected[0].reason


def test_parts_of_a_resumed_training_are_named_as_such(tmp_path):
    line = '{{"mode": "train", "epoch": {0}, "iter": 50, "lr": 0.1, "data_time": 0.1, "loss": 0.5, "time": 0.3}}\n'
    files = {f"work/20220301_10000{i}.log.json": line.format(i) for i in range(3)}
    found = scan(put(tmp_path, files))
    assert len(found.candidates) == 3
    assert all(any("续训拆成" in doubt for doubt in item.baseline.doubts) for item in found.candidates)


# --- the neighbours -----------------------------------------------------------------------------------------------


def test_neighbours_fill_the_gaps_and_are_quoted(tmp_path):
    put(
        tmp_path,
        {
            "README.md": "# 项目\n\n| 项 | 值 |\n|---|---|\n| GPU 型号 | Tesla V100 |\n",
            "runs/train.log": "epoch 1/1 step 1/2 loss 0.9\nepoch 1/1 step 2/2 loss 0.7\n",
            "runs/args.yaml": "data: coco8.yaml\nbatch: 16\nlr0: 0.01\n",
        },
    )
    baseline = scan(tmp_path).candidates[0].baseline
    assert {key: baseline.fact(key) for key in ("dataset", "batch", "learning_rate", "device", "device_kind")} == {
        "dataset": "coco8.yaml",
        "batch": "16",
        "learning_rate": "0.01",
        "device": "Tesla V100",
        "device_kind": "gpu",
    }
    assert str(baseline.facts["batch"].source) == "runs/args.yaml:2"
    assert any("设备 取自 README.md:5" in doubt for doubt in baseline.doubts)
    assert baseline.grade is Grade.C


def test_a_contradiction_is_quoted_from_both_sides_and_not_settled(tmp_path):
    put(tmp_path, {"train.log": log(batch=32), "config.yaml": "train_batch_size: 64\nuse_gpu: False\n"})
    baseline = scan(tmp_path).candidates[0].baseline
    assert baseline.fact("batch") == "32"
    assert any(
        "batch 有矛盾" in doubt and "train.log:3 为 32" in doubt and "config.yaml:1 为 64" in doubt
        for doubt in baseline.doubts
    )
    assert any("设备类别 有矛盾" in doubt for doubt in baseline.doubts)


@pytest.mark.parametrize(
    ("log", "config", "key"),
    [
        ("device: Tesla V100-SXM2-32GB", "device: NVIDIA V100", ""),
        ("device: Tesla V100-SXM2-32GB", "device: NVIDIA A100", "设备"),
        ("dataset: cifar10", "dataset: /data/CIFAR10/", ""),
        ("dataset: cifar10", "dataset: cifar100", "数据集"),
        ("dataset: coco", "dataset_type: CocoDataset", ""),
    ],
)
def test_names_contradict_only_where_neither_can_mean_the_other(tmp_path, log, config, key):
    put(tmp_path, {"train.log": f"{log}\nstep 1 loss 0.5\n", "config.yaml": f"seed: 1\n{config}\n"})
    (item,) = scan(tmp_path).candidates
    assert any("有矛盾" in doubt for doubt in item.baseline.doubts) == bool(key)
    assert not key or any(doubt.startswith(f"{key} 有矛盾：train.log:1 为") for doubt in item.baseline.doubts)


def test_a_configuration_in_python_is_known_by_what_it_holds(tmp_path):
    put(
        tmp_path,
        {
            "work/20230301_100000.log": "2023-03-01 10:00:00 - INFO - Epoch [9][50/64]\tlr: 1e-02, loss: 1.1\n",
            "work/small_detector.py": "model = dict(type='Det')\ndata = dict(samples_per_gpu=2)\n",
            "work/train.py": "import torch\nbatch_size = 99\n",
        },
    )
    (item,) = scan(tmp_path).candidates
    assert str(item.baseline.facts["batch"].source) == "work/small_detector.py:2"
    assert "batch 取自 work/small_detector.py:2（日志未写）" in item.baseline.doubts


def test_results_in_words_of_their_own_are_found_under_telling_names(tmp_path):
    table = "| 名称 | 精度 | FPS |\n|---|---|---|\n| 1p-竞品V | 76.3 | 865 |\n"
    put(
        tmp_path,
        {
            "eval_results.txt": "Accuracy: 91.2%\n",
            "notes.txt": "Accuracy: 91.2%\n",
            "train_args.json": '{"accuracy": 1}',
            "docs/README.md": table,
        },
    )
    found = scan(tmp_path)
    assert sorted(paths(found)) == ["docs/README.md", "eval_results.txt"] and found.rejected == ()


def test_a_file_that_contradicts_itself_says_nothing_and_what_lacks_has_places_to_look(tmp_path):
    put(tmp_path, {"a.log": "epoch 1/1 step 1/1 loss 0.9\n", "config.yaml": "batch_size: 4\ntest:\n  batch_size: 8\n"})
    baseline = scan(tmp_path).candidates[0].baseline
    assert baseline.fact("batch") is None
    assert "缺的条件可在这些文件里查找：config.yaml" in baseline.doubts


def test_our_own_plan_is_no_neighbour(tmp_path):
    put(tmp_path, {"a.log": "epoch 1/1 step 1/1 loss 0.9\n", "npueval.yaml": "device: npu\nbatch: 4\nseed: 3\n"})
    assert scan(tmp_path).candidates[0].baseline.facts.keys() == {"epochs"}


# --- figures ------------------------------------------------------------------------------------------------------


def test_steady_figures_leave_out_the_first_of_the_run_and_of_each_epoch(tmp_path):
    lines = [
        f"2023-01-01 10:00:00 - INFO - Epoch(train) [{epoch}][{step}/50]  time: {0.9 if step == 10 else 0.1}  loss: 0.5"
        for epoch in (1, 2)
        for step in (10, 20, 30, 40)
    ]
    (run,) = extract(put(tmp_path, {"a.log": "\n".join(lines)}) / "a.log").runs
    (figure,) = [each for each in baselines_of(tmp_path) if each.metric == "train_step_time"]
    assert run.find("step_time").count == 8
    assert figure.value == pytest.approx(100.0) and "去掉预热 2 个" in figure.original


def baselines_of(root):
    return scan(root).candidates[0].baseline.figures


def test_a_rate_is_total_on_one_card_and_unknown_on_several(tmp_path):
    line = "epoch: [1/9], iter: {}, loss: 1.0, batch_cost: 0.5 s, ips: 200.0\n"
    for cards, per in (("1", "total"), ("8", "?")):
        put(tmp_path, {"a.log": f"world_size: {cards}\n" + line.format(10) + line.format(20)})
        (rate,) = [each for each in baselines_of(tmp_path) if each.metric == "train_throughput"]
        assert rate.per == per


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,194", 1194),
        ("2.54e+06", 2.54e6),
        ("~20s", 20),
        ("6w", 60_000),
        ("7.078993Epoch", 7.078993),
        ("0.647/0.655", 0.647),
        ("57/64", 57),
        ("86.0%", 86),
        ("-1.000", -1),
    ],
)
def test_numbers_as_logs_write_them(text, value):
    assert read(text).value == pytest.approx(value)


def test_what_stands_around_a_number_is_kept():
    assert (read("57/64").of, read("170~210").high, read("~20s").approximate, read("3 ms").unit) == (
        64,
        210,
        True,
        "ms",
    )
    assert math.isnan(read("nan").value) and math.isinf(read("-inf").value)


@pytest.mark.parametrize("text", ["-", "/", "—", "", "N/A", "None", "无", " -- "])
def test_words_for_missing(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["0.94.26", "1,19", "info", "12 34", "1" * 400 + "x y"])
def test_malformed_numbers_are_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        read(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("56h20m21s", 202_821),
        ("1 day, 2:03", 93_780),
        ("2 days, 1:27:26", 178_046),
        ("0:18:23", 1103),
        ("18.2 s", 18.2),
        ("16:53", 1013),
        ("loss", None),
        ("12", None),
    ],
)
def test_durations(text, value):
    assert seconds(text) == (value if value is None else pytest.approx(value))


# --- streams ------------------------------------------------------------------------------------------------------

TEXT = log().encode() * 50


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: gzip.compress(data) * 2])
def test_compressed_logs_are_read_member_by_member(tmp_path, pack):
    with streams.open_log(put(tmp_path, {"a": pack(TEXT)}) / "a") as stream:
        whole = b"".join(stream.blocks())
    assert whole.startswith(TEXT) and not stream.doubts


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_cut_archive_gives_what_it_holds_and_says_so(tmp_path, pack):
    # Bytes without a pattern, so that the archive is long enough to lose its end.
    noise = b"".join(b"x%d\n" % (i * 7919 % 1_000_003) for i in range(200_000))
    packed = pack(log().encode() + noise)
    found = extract(put(tmp_path, {"a.log": packed[: len(packed) * 2 // 3]}) / "a.log")
    assert any("不完整" in doubt for doubt in found.doubts) and found.runs[0].fact("batch") == "32"


def test_an_archive_cut_in_its_first_block_is_no_log(tmp_path):
    packed = bz2.compress(log().encode() * 100)
    assert "损坏" in extract(put(tmp_path, {"a.log": packed[:-20]}) / "a.log").rejected


def test_a_bomb_is_read_no_further_than_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BOMB_FLOOR", 1 << 20)
    with streams.open_log(put(tmp_path, {"a.gz": gzip.compress(b"a\n" * (8 << 20))}) / "a.gz") as stream:
        assert sum(map(len, stream.blocks())) < 16 << 20
    assert any("倍" in doubt for doubt in stream.doubts)


def test_damaged_archives_are_rejected_with_the_reason(tmp_path):
    found = extract(put(tmp_path, {"a.gz": b"\x1f\x8b\x08\x00" + b"junk" * 20}) / "a.gz")
    assert not found.runs and "损坏" in found.rejected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "空文件"),
        (b"\x00\x01\x02" * 500, "二进制文件"),
        (b"\x80\x04\x95" + b"x" * 50, "不反序列化"),
        (b"PK\x03\x04" + b"x" * 50, "不反序列化"),
        (b"\x93NUMPY\x01\x00", "不反序列化"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (bytes(range(1, 9)) * 100, "二进制文件"),
    ],
)
def test_what_is_no_text_is_rejected_whatever_its_name(tmp_path, content, reason):
    assert reason in extract(put(tmp_path, {"train.log": content}) / "train.log").rejected


def test_an_endless_line_costs_its_beginning_only(tmp_path):
    path = tmp_path / "a.log"
    with path.open("wb") as file:
        file.write(b"epoch 1/1 step 1/3 loss 0.9\n")
        for _ in range(40):
            file.write(b"x" * (1 << 20))
        file.write(b"\nepoch 1/1 step 2/3 loss 0.8\n")
    with streams.open_log(path) as stream:
        blocks = list(stream.blocks())
    assert sum(map(len, blocks)) < 1 << 20
    assert any("1 MiB 的行" in doubt for doubt in stream.doubts)
    (run,) = extract(path).runs
    assert run.find("loss").lines == [1, 3]


def test_a_file_that_grows_is_read_to_where_it_ended(tmp_path):
    path = put(tmp_path, {"a.log": log()}) / "a.log"
    with streams.open_log(path) as stream:
        with path.open("a", encoding="utf-8") as file:
            file.write("epoch 9/9 step 1/1 loss 0.1\n" * 100_000)
        assert b"".join(stream.blocks()) == log().encode()


@pytest.mark.parametrize("name", ["a.log", "b.log.gz"])
def test_numbers_of_absurd_length_are_no_crash(tmp_path, name):
    long = "9" * 5000
    text = f"epoch {long}/1 step 1/1 loss {long}\nepoch 1/1 step 1/{long} loss 0.6\nepoch 1/1 step 2/9 loss 0.5\n"
    pack = gzip.compress if name.endswith("gz") else bytes
    found = extract(put(tmp_path, {name: pack(text.encode())}) / name)
    assert found.lines == 3 and found.runs[-1].find("loss").last_at[0] == 3
    assert "1 处记录读不通（首个在第 2 行）" in found.doubts


def test_a_deeply_nested_document_is_no_crash(tmp_path):
    assert extract(put(tmp_path, {"a.json": '{"lm loss": ' + "[" * 100_000}) / "a.json").rejected


@pytest.mark.parametrize(
    "record", ['DLLL {{"step": {}', '| train_inner | {{"loss": {}}}', '{{"loss": {}, "epoch": 1}}']
)
def test_a_deeply_nested_record_is_no_crash(tmp_path, record):
    text = f"{record.format('[' * 50_000 + ']' * 10)}\n{log()}"
    (run,) = extract(put(tmp_path, {"a.log": text}) / "a.log").runs
    assert run.find("loss").lines == [5, 6]


def test_mojibake_is_doubted(tmp_path):
    text = "训练: 鹈佲攣鈹佲攣\n" + log()
    assert any("乱码" in doubt for doubt in extract(put(tmp_path, {"a.log": text}) / "a.log").doubts)


def test_a_format_that_is_found_late_is_read_from_its_first_line_on(tmp_path):
    filler = "some words that say nothing\n" * 30_000
    text = log() + filler + "Test:  Acc@1 69.5 Acc@5 88.5\n" + filler * 2 + "Test:  Acc@1 70.5 Acc@5 89.5\n"
    found = extract(put(tmp_path, {"a.log": text}) / "a.log")
    scores = [run.find("top1").values for run in found.runs if run.find("top1")]
    assert scores == [[69.5], [70.5]] and found.lines == text.count("\n")


def test_memory_of_a_long_series_is_bounded(tmp_path):
    text = "".join(f"epoch 1/1 step {i}/99999 loss 0.5\n" for i in range(40_000))
    (run,) = extract(put(tmp_path, {"a.log": text}) / "a.log").runs
    loss = run.find("loss")
    assert (loss.count, loss.thinned) == (40_000, True)
    assert len(loss.values) <= 8193 and loss.steps[1] - loss.steps[0] == 8


def test_citations_point_at_the_line_an_editor_shows(tmp_path):
    text = "a\r\nb\rc\r\nepoch 1/1 step 1/1 loss 0.5\r\n"
    (run,) = extract(put(tmp_path, {"a.log": text}) / "a.log").runs
    assert run.find("loss").last_at == (3, "epoch 1/1 step 1/1 loss 0.5")


# --- event files --------------------------------------------------------------------------------------------------


def test_event_files_are_read_without_any_library(tmp_path):
    content = events.head() + b"".join(
        events.scalar("train/loss", 1 / step, step)
        + events.tensor("val/accuracy", 0.5 + step / 100, step * 10, packed=step % 2 == 0)
        + events.histogram("weights", step)
        for step in range(1, 5)
    )
    path = put(tmp_path, {"events.out.tfevents.1.host": content}) / "events.out.tfevents.1.host"
    (run,) = extract(path, "e").runs
    loss, accuracy = run.find("train/loss", "train"), run.find("val/accuracy", "eval")
    assert (loss.values, loss.steps) == ([pytest.approx(1 / s) for s in range(1, 5)], [1, 2, 3, 4])
    assert accuracy.last == pytest.approx(0.54) and accuracy.last_position == (-1, 40)
    assert accuracy.last_at[0] == 12
    assert paths(scan(tmp_path)) == ["events.out.tfevents.1.host"]


def test_cut_damaged_and_resumed_event_files_are_doubted(tmp_path):
    good = events.head() + events.scalar("loss", 0.5, 10)
    for content, words in (
        (good + events.scalar("loss", 0.4, 20)[:-7], "不完整"),
        (good + struct.pack("<Q", 1 << 60) + b"\0" * 8, "声称"),
        (good + events.record(b"\x2a\xff\xff\x03\x0a"), "损坏"),
        (good + events.scalar("loss", 0.6, 5), "回到 5"),
    ):
        path = put(tmp_path, {"x.tfevents": content}) / "x.tfevents"
        found = extract(path)
        assert found.runs[0].find("loss").values[0] == 0.5
        assert any(words in doubt for doubt in found.doubts)
    nan = put(tmp_path, {"x.tfevents": good + events.scalar("loss", math.nan, 20)}) / "x.tfevents"
    assert extract(nan).runs[0].find("loss").ends_not_finite


# --- the file of a baseline ---------------------------------------------------------------------------------------


def test_a_baseline_is_the_same_after_the_file(tmp_path):
    baseline = scan(put(tmp_path, {"a.log": log()})).candidates[0].baseline
    save(baseline, tmp_path / "runs" / "baseline.json")
    assert load(tmp_path / "runs" / "baseline.json") == baseline


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot read"),
        ("[]", "not a baseline"),
        ('{"format": "npueval/baseline/9"}', "reads up to 1"),
        ('{"format": "npueval/baseline/1", "source": "log"}', "missing 'grade'"),
        ('{"format": "npueval/baseline/1", "source": "log", "grade": "Z"}', "grade: 'Z' is not one of"),
    ],
)
def test_a_file_that_is_no_baseline_is_one_clear_error(tmp_path, content, words):
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=words):
        load(tmp_path / "b.json")


def test_a_run_may_serve_as_a_baseline(tmp_path):
    from npueval import runs
    from support.make_runs import make_run

    path = runs.save(make_run(), tmp_path)
    baseline, run = baselines.load_any(path)
    assert run is not None and baseline.fact("device_kind") == "cpu" and baseline.fact("batch") == "1, 32"
    save(Baseline("log", Grade.C, {"batch": Fact("4")}), tmp_path / "b.json")
    assert baselines.load_any(tmp_path / "b.json")[1] is None
    (tmp_path / "c.json").write_text(json.dumps({"format": "x"}), encoding="utf-8")
    with pytest.raises(FormatError, match="neither"):
        baselines.load_any(tmp_path / "c.json")
