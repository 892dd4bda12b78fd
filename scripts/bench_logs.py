#!/usr/bin/env python3
"""What reading logs costs: a scan of a large tree, single logs as a stream, and TensorBoard events.

Usage: .venv/bin/python scripts/bench_logs.py [tree] [extract] [events] [--folder /tmp]

Each measurement runs in a process of its own over files that are written first and removed afterwards. Printed: seconds
on the clock and of the processor (the imports of the package included), MB/s of the processor's time, peak memory, and
the limit. Beside ``extract`` stands ``rg`` counting the lines of one pattern, where it is not installed ``grep``, or
else Python's ``re``; beside ``events`` the EventAccumulator of the ``tensorboard`` package, where that is installed
(its own writer makes the events).

The tree: 2 GB in 5,000 files, 200 of them logs (150 with a record in each hundred lines, 50 where every line is one),
the rest weights, images, sources, JSON annotations and tables.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RECORDS = {
    "OpenMMLab": "2026/01/22 15:51:56 - mmengine - INFO - Epoch(train)  [%d][%03d/1000]  lr: 1.0e-03  eta: 0:11:29"
    "  time: 0.0354  data_time: 0.0077  memory: 392  loss: 2.7734\n",
    "Megatron": " [2026-01-06 03:02:12] iteration  %d%03d/ 1000000 | consumed samples:         9088 | elapsed time per"
    " iteration (ms): 5361.6 | learning rate: 1.42E-05 | global batch size:   128 | lm loss: 1.8E+00 |"
    " grad norm: 1.300 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
    "key-value": "epoch %d/900 step %03d/1000 loss 2.6354\n",
    "HF Trainer": "{'loss': 0.3781, 'grad_norm': 0.1540471911, 'learning_rate': 7.709e-09, 'epoch': %d.%03d}\n",
}
NOISE = "2026-01-22 15:51:56,123 INFO worker-%d a module has something to say, file=/data/abc/def.txt, and more words\n"
LIMITS = {"tree": "≤ 10 s", "dense": "≥ 25 MB/s", "sparse": "≥ 200 MB/s", "events": "≥ 5 × EventAccumulator"}

REPORT = r"""
import json, re, sys, time
started, used = time.perf_counter(), time.process_time()
{work}
seconds, used = time.perf_counter() - started, time.process_time() - used
peak = int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
print(json.dumps([seconds, used, peak, answer]))
"""
SCAN = """
from pathlib import Path
from npueval import baselines
found = baselines.scan(Path(sys.argv[1]))
answer = f"{found.files} logs, {len(found.candidates)} candidates"
"""
EXTRACT = """
from pathlib import Path
from npueval.logs.extracting import extract
found = extract(Path(sys.argv[1]))
[run] = found.runs
answer = f"{found.lines} lines, " + ", ".join(f"{s.count} {s.column.metric}" for s in run.series.values())
"""
COUNT = """
import re, sys
print(len(re.findall(rb"^.*loss.*$", open(sys.argv[1], "rb").read(), re.MULTILINE)))
"""
ACCUMULATE = """
from pathlib import Path
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
[path] = Path(sys.argv[1]).parent.glob("*tfevents*")
events = EventAccumulator(str(path), size_guidance={"scalars": 0})
events.Reload()
answer = f"{len(events.Scalars('train/loss'))} of train/loss"
"""
WRITE_EVENTS = """
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter(sys.argv[1], max_queue_size=1000)
for step in range(50_000):
    for tag in ("train/loss", "train/accuracy", "val/accuracy", "lr"):
        value = Summary.Value(tag=tag, simple_value=1 / (step + 1))
        writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=Summary(value=[value])))
writer.close()
answer = ""
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["tree", "extract", "events", []], default=[])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench_logs-", dir=asked.folder))
    try:
        for part in asked.parts or ("tree", "extract", "events"):
            PARTS[part](folder)
    finally:
        shutil.rmtree(folder)


def tree(folder: Path) -> None:
    root = folder / "tree"
    size = sum(write(root / name, content) for name, content in files())
    print_result("tree", measured(SCAN, root), size, LIMITS["tree"])
    shutil.rmtree(root)


def files() -> Iterator[tuple[str, bytes]]:
    """The tree's 5,000 files; weights fill it up to 2 GB."""
    kinds = list(RECORDS)
    for i in range(150):
        yield f"work_dirs/run{i}/train.log", log(kinds[i % 4], 8_000, 100)
    for i in range(50):
        yield f"logs/{i}/train_{i}.log", log(kinds[i % 4], 4_000, 1)
    noise = os.urandom(1 << 20)
    for i in range(400):
        yield f"weights/epoch_{i}.pth", b"PK\x03\x04" + noise * 4
    for i in range(1_400):
        yield f"data/images/{i}.jpg", b"\xff\xd8\xff" + noise[: 80 << 10]
    for i in range(2_000):
        yield f"src/package{i % 40}/module{i}.py", b"def train(model, loss, accuracy):\n    return loss\n" * 200
    for i in range(600):
        yield f"data/annotations/{i}.json", json.dumps({"boxes": [[1, 2, 3, 4]] * 2_000, "id": i}).encode()
    for i in range(400):
        yield f"data/tables/{i}.csv", b"x,y,label\n" + b"0.125,0.25,cat\n" * 4_000


def log(kind: str, lines: int, ratio: int) -> bytes:
    """A log of ``lines`` lines, one in ``ratio`` of them a record, epochs of 1,000 records."""
    record = RECORDS[kind]
    head = "device: NVIDIA A100\ndataset: imagenet\nbatch_size: 32\n"
    body = (record % divmod(1000 + i // ratio, 1000) if i % ratio == 0 else NOISE % i for i in range(lines))
    return (head + "".join(body)).encode()


def write(path: Path, content: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_bytes(content)


def extract(folder: Path) -> None:
    for ratio, megabytes, limit in ((1, 32, LIMITS["dense"]), (100, 112, LIMITS["sparse"])):
        for kind, record in RECORDS.items():
            path = folder / "train.log"
            length = len(NOISE) if ratio > 1 else len(record)
            size = write(path, log(kind, megabytes * 1_000_000 // length, ratio))
            print_result(f"extract {kind} 1/{ratio}", measured(EXTRACT, path), size, limit)
            print_rg(path, size)
            path.unlink()


def print_rg(path: Path, size: int) -> None:
    """What it costs another tool only to count the lines of one pattern."""
    tool = next((name for name in ("rg", "grep") if shutil.which(name)), "re")
    command = [tool, "-c", "loss", str(path)] if tool != "re" else [sys.executable, "-c", COUNT, str(path)]
    before = os.times()
    # Not to the null device: grep stops at the first line then.
    subprocess.run(command, capture_output=True, check=False)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    note = "" if tool == "rg" else " (rg is not installed)"
    print(f"  {tool}, one pattern: {used:.2f} s, {size / 1e6 / max(used, 0.01):.0f} MB/s{note}")


def events(folder: Path) -> None:
    root = folder / "events"
    root.mkdir()
    try:
        measured(WRITE_EVENTS, root)
    except subprocess.CalledProcessError:
        print("events: the tensorboard package is not installed, nothing to hold against")
        return
    [path] = root.glob("*tfevents*")
    size = path.stat().st_size
    ours, theirs = measured(EXTRACT, path), measured(ACCUMULATE, path)
    print_result("events", ours, size, LIMITS["events"])
    print_result("EventAccumulator", theirs, size, f"{theirs[1] / ours[1]:.1f} × as long")


def measured(work: str, path: Path) -> tuple[float, float, float, str]:
    """Seconds, processor seconds, peak MB and the answer of a piece of work in a process of its own."""
    command = [sys.executable, "-c", REPORT.format(work=work.strip()), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, used, peak, answer = json.loads(done.stdout)
    return seconds, used, peak, answer


def print_result(name: str, result: tuple[float, float, float, str], size: int, limit: str) -> None:
    seconds, used, peak, answer = result
    speed = size / 1e6 / used
    print(f"{name}: {size / 1e6:.0f} MB in {seconds:.2f} s, {used:.2f} s of processor = {speed:.0f} MB/s, "
          f"{peak:.0f} MB peak; {answer}; {limit}")  # fmt: skip


PARTS = {"tree": tree, "extract": extract, "events": events}

if __name__ == "__main__":
    main()
