"""Files that no log should be: each has a clear verdict, costs bounded time and memory, and runs no code."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import socket
import struct
import sys
import tarfile
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from npueval.baselines import scan
from npueval.cli.baseline import command as baseline
from npueval.errors import Exit
from npueval.logs import extracting, logbook, logged, statements, streams, tensorboard
from npueval.logs.extracting import extract
from support import events

LOG = """\
device: NVIDIA A100
dataset: cifar10
batch size: 32
epoch 1/1 step 1/2 loss 0.9
epoch 1/1 step 2/2 loss 0.7
"""
FILLER = "a line that says nothing\n" * 400
MEGABYTE = 1 << 20


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def losses(found):
    return [run.find("loss").values for run in found.runs]


@contextmanager
def memory_below(most):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


# --- what is no text ----------------------------------------------------------------------------------------------


class Payload:
    """Runs when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["train.log", "metrics.txt", "model.pt", "loss.npy", "results.json", "log"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_never_unpickled(tmp_path, name, protocol):
    trap = tmp_path / "ran"
    content = pickle.dumps(Payload(trap), protocol)
    path = put(tmp_path, name, content)
    assert extract(path).rejected and not scan(tmp_path).candidates
    put(tmp_path, name, b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"{'descr': '|O', 'shape': (1,)}" + content)
    assert "不反序列化" in extract(path).rejected
    assert not trap.exists()


def tar(content):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("train.log")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


ARCHIVES = {
    "gzip in gzip": (gzip.compress(gzip.compress(LOG.encode())), "只解一层"),
    "xz in bzip2": (bz2.compress(lzma.compress(LOG.encode())), "只解一层"),
    "zip in gzip": (gzip.compress(b"PK\x03\x04" + b"x" * 50), "不反序列化"),
    "tar in gzip": (gzip.compress(tar(LOG.encode())), "tar 归档"),
    "tar": (tar(LOG.encode()), "tar 归档"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + b"x" * 50, "先解开"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + b"x" * 50, "先解开"),
    "zstd": (b"\x28\xb5\x2f\xfd" + b"x" * 50, "先解开"),
    "nothing in gzip": (gzip.compress(b""), "没有内容"),
    "two bytes of gzip": (b"\x1f\x8b", "损坏"),
}


@pytest.mark.parametrize(("content", "reason"), ARCHIVES.values(), ids=ARCHIVES)
def test_archives_in_archives_are_named_and_left_alone(tmp_path, content, reason):
    assert reason in extract(put(tmp_path, "train.log.gz", content)).rejected


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_costs_no_more_than_its_bound(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(streams, "BOMB_FLOOR", 4 * MEGABYTE)
    monkeypatch.setattr(streams, "BOMB_RATIO", 2)
    path = put(tmp_path, "train.log.gz", pack((LOG + FILLER).encode() + b"\0" * (32 * MEGABYTE)))
    with memory_below(40 * MEGABYTE):
        found = extract(path)
    assert losses(found) == [[0.9, 0.7]] and any("倍，只读前 4 MiB" in doubt for doubt in found.doubts)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "gb18030"])
def test_encodings_with_and_without_a_mark(tmp_path, encoding):
    found = extract(put(tmp_path, "train.log", f"训练集 digits\r\n{LOG}".encode(encoding)))
    assert losses(found) == [[0.9, 0.7]] and any("编码按" in doubt for doubt in found.doubts)


def test_half_a_character_at_the_end_is_no_crash(tmp_path):
    for encoding in ("utf-16", "utf-8", "gb18030"):
        found = extract(put(tmp_path, "train.log", f"{LOG}训练".encode(encoding)[:-1]))
        assert losses(found) == [[0.9, 0.7]]


# --- what is no regular file --------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom", "/dev/tty"])
def test_a_device_is_not_opened(device):
    if not Path(device).exists():
        pytest.skip(f"there is no {device}")
    assert "不是普通文件" in extract(Path(device)).rejected


def test_what_is_no_file_is_not_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.log")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.log")
        for name in ("pipe.log", "socket.log", "."):
            assert "不是普通文件" in extract(tmp_path / name).rejected
    for name in ("absent.log", "a\0b.log", "a.log/b.log", "x" * 300):
        assert extract(tmp_path / name).rejected.startswith("打不开")


def test_links_that_lead_round_or_nowhere_end(tmp_path):
    put(tmp_path, "a.log", LOG)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.log").symlink_to(tmp_path / "self.log")
    (tmp_path / "nowhere.log").symlink_to(tmp_path / "nowhere")
    assert [item.path for item in scan(tmp_path).candidates] == ["a.log"]
    assert extract(tmp_path / "self.log").rejected.startswith("打不开")


def test_a_file_that_may_not_be_read_is_rejected_with_the_reason(tmp_path, monkeypatch):
    put(tmp_path, "a.log", LOG)
    put(tmp_path, "closed.log", LOG)
    opened = os.open

    def refuse(path, *how):
        if str(path).endswith("closed.log"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *how)

    monkeypatch.setattr(os, "open", refuse)
    found = scan(tmp_path)
    assert [item.path for item in found.candidates] == ["a.log"]
    assert [(item.path, item.reason) for item in found.rejected] == [("closed.log", "打不开：Permission denied")]


def test_a_file_that_vanishes_during_a_scan_is_no_crash(tmp_path):
    path = put(tmp_path, "a.log", LOG)

    def progress(done, total, name):
        if total is not None:
            path.unlink(missing_ok=True)

    assert scan(tmp_path, progress=progress).rejected[0].reason.startswith("打不开")


def test_a_file_that_shrinks_while_it_is_read_is_doubted(tmp_path):
    path = put(tmp_path, "a.log", LOG + FILLER * 100)
    with streams.open_log(path) as stream:
        os.truncate(path, 300_000)
        assert sum(map(len, stream.blocks())) == 300_000
    assert any("读取期间文件变短" in doubt for doubt in stream.doubts)


def test_a_file_that_grows_while_it_is_read_is_doubted(tmp_path):
    path = put(tmp_path, "a.log", LOG)
    with streams.open_log(path) as stream:
        with path.open("a", encoding="utf-8") as file:
            file.write(LOG * 10_000)
        assert b"".join(stream.blocks()) == LOG.encode()
    assert stream.doubts == ["读取期间文件仍在增长，只读到打开时的长度"]


# --- names and lines that hide something --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"train\xff\xfe.log", r"train\xff\xfe.log"),
        (b"two\nlines.log", r"two\x0alines.log"),
        (b"red\x1b[31m.log", r"red\x1b[31m.log"),
        ("gol\u202e.txt.log".encode(), r"gol\u202e.txt.log"),
        (b"-rf.log", "-rf.log"),
        ("训练 $(x) 'a'.log".encode(), "训练 $(x) 'a'.log"),
    ],
)
def test_names_are_shown_with_nothing_hidden(tmp_path, name, shown):
    path = tmp_path / os.fsdecode(name)
    try:
        path.write_text(LOG, encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes no such name")
    (found,) = scan(tmp_path).candidates
    assert found.path == shown and str(found.baseline.figures[0].source) == f"{shown}:5"
    as_json = json.dumps(shown, ensure_ascii=False)
    wanted = ((shown, "scan", tmp_path), (as_json, "scan", tmp_path, "--json"), (shown, "extract", path))
    for words, *arguments in wanted:
        done = CliRunner().invoke(baseline, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == Exit.OK and words in done.output


def test_what_a_line_hides_is_shown_where_it_is_cited(tmp_path):
    text = LOG.replace("cifar10", "cifar10\x1b]0;title\x07 \u202egol")
    (run,) = extract(put(tmp_path, "a.log", text)).runs
    fact = run.facts["dataset"]
    assert r"\x1b]0;title\x07" in fact.source.text
    assert not any(character in fact.value + fact.source.text for character in "\x1b\x07\u202e")


# --- bounds -------------------------------------------------------------------------------------------------------


def test_a_line_of_a_gigabyte_costs_its_beginning_only(tmp_path):
    path = put(tmp_path, "a.log", LOG + FILLER)
    os.truncate(path, 1 << 30)
    with memory_below(16 * MEGABYTE):
        found = extract(path)
    assert losses(found) == [[0.9, 0.7]] and any("1 MiB 的行" in doubt for doubt in found.doubts)


def test_processes_that_write_into_one_file_are_no_thousand_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(logbook, "MOST_RUNS", 50)
    text = "".join(f"epoch 1/9 step {i + 5 * (i % 2)}/900 loss 0.5\n" for i in range(200))
    found = extract(put(tmp_path, "a.log", text))
    assert not found.runs and "几个进程写在一个文件里" in found.rejected


def test_many_metrics_and_doubts_are_told_and_bounded(tmp_path):
    names = [f"task{i}_loss" for i in range(logged.MOST_SERIES + 20)]
    rows = "".join(f"epoch 1/1 step {i}/9 {' '.join(f'{name} 0.{i}' for name in names)}\n" for i in range(1, 4))
    (run,) = extract(put(tmp_path, "a.log", rows)).runs
    assert len(run.series) == logged.MOST_SERIES and any("指标超过" in doubt for doubt in run.doubts)
    skipped = "".join(f"step={i}, skipped={i}, lr=[0.1]\n" for i in range(500))
    (run,) = extract(put(tmp_path, "b.log", f"{skipped}, RunningAvgSamplesPerSec=51.2\n")).runs
    assert len(run.doubts) == logged.MOST_DOUBTS + 1 and "没有一一列出" in list(run.doubts)[-1]


def test_what_has_thousands_of_values_is_a_schedule_and_no_condition(tmp_path):
    rows = "".join(f"epoch 1/1 step {i}/9000 loss 0.5\nlearning_rate: 0.{i:06}\nbatch: 8\n" for i in range(1, 5000))
    (run,) = extract(put(tmp_path, "a.log", rows)).runs
    assert "learning_rate" not in run.facts and run.fact("batch") == "8"
    said = statements.Statements("a.log")
    for i in range(3 * statements.MOST_OF_A_KIND):
        said.fact(i, "learning_rate", logged.Fact(str(i)))
        said.fact(i, "batch", logged.Fact("8"))
        said.warn(i, "a warning", broken=False, runs=1)
    assert len(said.all()) <= statements.USUAL + 1


def test_a_document_that_is_all_structure_costs_little(tmp_path, monkeypatch):
    monkeypatch.setattr(extracting, "LARGEST_DOCUMENT", MEGABYTE // 8)
    lists, lines = '{"_wandb": [' + "[],\n" * 30_000, '{"lm loss": 1' + "\n" * 120_000 + "}"
    for content in (lists, lists * 3, lines):
        path = put(tmp_path, "a.json", content)
        with memory_below(6 * MEGABYTE):
            extract(path)


def test_records_of_ever_new_keys_cost_little(tmp_path):
    rows = "".join(f'{{"loss": 0.5, "epoch": 1, "{"k" * 10_000}{i}": 1.0}}\n' for i in range(500))
    path = put(tmp_path, "a.log", rows)
    with memory_below(3 * MEGABYTE):
        assert extract(path).runs


def test_events_too_large_for_a_scalar_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(tensorboard, "LARGEST_READ", MEGABYTE)
    picture = events.record(b"\x2a" + events.varint(8 * MEGABYTE) + b"\0" * (8 * MEGABYTE))
    content = events.head() + events.scalar("loss", 0.5, 1) + picture + events.scalar("loss", 0.25, 2)
    path = put(tmp_path, "x.tfevents", content)
    with memory_below(6 * MEGABYTE):
        found = extract(path)
    assert losses(found) == [[0.5, 0.25]] and not found.doubts
    assert any("不完整" in doubt for doubt in extract(put(tmp_path, "x.tfevents", content[: 2 * MEGABYTE])).doubts)


def test_a_deep_tree_is_walked_to_its_end(tmp_path, monkeypatch):
    depth = sys.getrecursionlimit()
    if len(str(tmp_path)) + 2 * depth + 10 > os.pathconf(tmp_path, "PC_PATH_MAX"):
        pytest.skip("this system has no such long paths")
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("a.log").write_text(LOG, encoding="utf-8")
    try:
        found = scan(tmp_path)
    finally:
        Path("a.log").unlink()
        for _ in range(depth):
            os.chdir("..")
            Path("d").rmdir()
    assert [item.path for item in found.candidates] == ["d/" * depth + "a.log"]


def test_a_folder_of_very_many_files_is_not_held(tmp_path):
    for i in range(1500):
        (tmp_path / f"{'n' * 100}{i}.jpg").touch()
    put(tmp_path, "a.log", LOG)
    with memory_below(MEGABYTE // 2):
        assert [item.path for item in scan(tmp_path).candidates] == ["a.log"]


# --- the folder itself --------------------------------------------------------------------------------------------


def test_a_folder_that_is_none(tmp_path):
    def told(folder):
        done = CliRunner().invoke(baseline, ["scan", str(folder)])
        return done.exit_code, done.output

    assert told(tmp_path) == (Exit.FINDINGS, "0 logs read, 0 candidates\n")
    file = put(tmp_path, "a.log", LOG)
    for wrong, words in ((file, "is a file"), (tmp_path / "absent", "does not exist")):
        status, output = told(wrong)
        assert status == Exit.BAD_INPUT and words in output and "Traceback" not in output
