"""Every log format on fixtures that carry their own expectations, and what holds for all formats."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npueval import logs
from npueval.logs.base import DocumentFormat, Format, LineFormat, ObjectFormat, TableFormat
from npueval.logs.extracting import extract
from npueval.logs.logbook import Logbook
from npueval.logs.reading import Reader
from support.log_verdicts import verdict

DATA = Path(__file__).parent / "data" / "logs"
EXPECTED = sorted(DATA.glob("*.expected.json"))
LENIENT = (*logs.LAST_RESORT, logs.PRINTED)
FORMATS = (*logs.MEMBERS, *LENIENT)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name.removesuffix(".expected.json"))
def test_a_log_gives_what_stands_beside_it(expected: Path) -> None:
    log = expected.with_name(expected.name.removesuffix(".expected.json"))
    assert verdict(log) == json.loads(expected.read_text(encoding="utf-8"))


def test_every_fixture_has_its_expectation() -> None:
    logs_found = {path.name for path in DATA.iterdir() if not path.name.endswith(".expected.json")}
    assert {path.name.removesuffix(".expected.json") for path in EXPECTED} == logs_found


@pytest.mark.parametrize("member", FORMATS, ids=lambda member: member.name)
def test_a_format_reads_its_samples(member: type[Format], tmp_path: Path) -> None:
    for sample in member.samples:
        assert any(needle in sample for needle in member.needles), "a sample without a needle would be skipped"
        form, book = member(), Logbook("sample")
        book.at(1, sample, form)
        if isinstance(form, LineFormat):
            assert form.read(sample, book)
            assert book.follower or book.close() or not isinstance(form, TableFormat)
        elif isinstance(form, ObjectFormat):
            reader = Reader("sample", [form])
            reader.read(sample.encode())
            assert reader.book.close()
        else:
            assert isinstance(form, DocumentFormat)
            book.document = [sample]
            assert form.read(json.loads(sample), book) and book.close()


@pytest.mark.parametrize("member", FORMATS, ids=lambda member: member.name)
def test_a_format_leaves_the_samples_of_others_alone(member: type[Format]) -> None:
    if member in LENIENT or not issubclass(member, LineFormat):
        return
    for other in logs.MEMBERS:
        if other is member or not issubclass(other, LineFormat):
            continue
        for sample in other.samples:
            form, book = member(), Logbook("sample")
            book.at(1, sample, form)
            claimed = form.read(sample, book) and bool(book.close())
            earlier = logs.MEMBERS.index(member) < logs.MEMBERS.index(other)
            assert not (claimed and earlier), f"{member.name} takes a line of {other.name}"


@pytest.mark.parametrize("member", [*logs.MEMBERS], ids=lambda member: member.name)
def test_every_line_that_matters_to_a_format_holds_a_needle(member: type[Format]) -> None:
    """No format lives on lines that the needles of another one have found."""
    if not issubclass(member, LineFormat):
        return
    greedy = type("Greedy", (member,), {"needles": ("",)})
    for log in DATA.glob("*.log"):
        assert learnt(member, log) == learnt(greedy, log), log.name


def learnt(member: type[Format], log: Path) -> list[Any]:
    reader = Reader("log", [member()])
    reader.read(log.read_bytes())
    return [
        (run.facts, run.doubts, run.finished, [vars(series) for series in run.series.values()])
        for run in reader.book.close()
    ]


TEMPLATES = (
    "2023-03-01 10:00:00 - INFO - Epoch(train)  [{epoch}][{step}/90]  lr: 1e-0{epoch}  time: {time}  loss: {loss}",
    "epoch {epoch}/9 step {step}/90 loss {loss} acc {time}",
    "{{'loss': {loss}, 'acc5': {time}, 'learning_rate': 1e-05, 'epoch': {rounded}}}",
    '{{"mode": "train", "epoch": {epoch}, "iter": {step}, "loss": {loss}, "top5_acc": {time}}}',
    '{{"data_time": 0.003, "iteration": {step}, "time": {time}, "total_loss": {loss}}}',
    " iteration {step:7}/     40 | elapsed time per iteration (ms): {time} | lm loss: {loss}E+00 | loss scale: 1.0 |",
    "iter {step}/40: loss {loss}, acc {time}%",
)
ODDITIES = {
    "nan": lambda line: re.sub(r"(loss[':\" ]+)0", r"\1nan #", line),
    "quoted": lambda line: re.sub(r"(loss['\"]: )(0[.]\d+)", r"\1'\2'", line),
    "other key": lambda line: line.replace("acc5", "acc1").replace("top5", "top1"),
    "other": lambda line: "some other line",
    "condition": lambda line: "device: NVIDIA A100, batch_size: 4",
    "command": lambda line: "user@host:~/net$ python train.py",
    "twice": lambda line: f"{line}\n{line}",
    "rank": lambda line: f"[rank1]: {line}",
    "longer": lambda line: f"{line}  grad_norm: 1.5",
    "later": lambda line: line.replace("2023-03-01", "2023-03-09"),
    "wider": lambda line: line.replace(" ", "  "),
    "bare fraction": lambda line: re.sub(r"0([.]\d+)", r"\1e3", line),
    "other length": lambda line: line.replace("/90", "/80").replace("40", "50"),
}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(TEMPLATES),
    st.lists(st.tuples(st.sampled_from([None] * 30 + list(ODDITIES)), st.integers(0, 999)), min_size=20, max_size=80),
    st.integers(1, 30),
    st.integers(1, 4),
    st.booleans(),
)
def test_the_fast_lane_reads_what_the_slow_one_reads(template, draws, restart, noise, colour):
    """Whatever stands between the records: restarts, NaN, other ranks, other dates, repeated and longer lines."""
    lines = ["\x1b[0m" * colour]
    for i, (oddity, number) in enumerate(draws):
        step = i % restart if number % 97 == 0 else i
        epoch = 1 + i // 40
        known = {"epoch": epoch, "step": step, "rounded": step // 3 / 100 + epoch}
        line = template.format(**known, time=f"0.{number:03}", loss=f"0.{number % 50}")
        lines.append(ODDITIES[oddity](line) if oddity else line)
        lines += ["something else is said"] * (i % noise)
    text = "\n".join(lines).encode() + b"\n"
    assert told(text, fast=True) == told(text, fast=False)


def told(text: bytes, *, fast: bool) -> list[Any]:
    """Everything that is kept of a text, with lanes that are eager, or none."""
    reader = Reader("log", [member() for member in logs.MEMBERS])
    for lane in (reader._lane, reader._object_lane):
        lane._patience = defaultdict(lambda: 1)
        if not fast:
            lane._learn = lambda form, text: None
    reader.read(text)
    return [
        {**vars(run), "series": [(key, vars(series)) for key, series in run.series.items()]}
        for run in reader.book.close()
    ]


def test_the_example_project_logs_a_complete_baseline() -> None:
    path = Path(__file__).parents[1] / "examples" / "digits" / "logs" / "train_cpu.log"
    (run,) = extract(path, "train.log").runs
    assert run.finished and run.fact("batch") == "32" and run.fact("device_kind") == "cpu"
    accuracy = run.find("val_accuracy")
    assert accuracy is not None
    assert (accuracy.last, accuracy.last_at[0], accuracy.count) == (0.9917, 379, 8)
    assert run.scales["val_accuracy"][0] == "fraction"


def test_a_condition_said_before_its_times_is_cited_where_it_was_said(tmp_path):
    lines = ["batch_size=16, GPU: Tesla V100", "warming up", "Throughput: 1,234.5 images/s (8 cards total)"]
    path = tmp_path / "bench.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (run,) = extract(path, "bench.log").runs
    batch, device = run.facts["batch"], run.facts["device"]
    assert (batch.value, batch.source.line, batch.source.text) == ("16", 1, lines[0])
    assert (device.value, device.source.line) == ("Tesla V100", 1)


@pytest.mark.parametrize("line", ["FPS: 75-82", "FPS: 75~82", "throughput: 75 ± 3 images/s", "latency: 12 ms ~ 15 ms"])
def test_the_lower_end_of_a_range_is_no_value(tmp_path, line):
    path = tmp_path / "bench.log"
    path.write_text(f"batch_size: 4\n{line}\n", encoding="utf-8")
    assert extract(path, "bench.log").runs == ()


def test_the_time_of_an_epoch_or_a_sample_is_no_step(tmp_path):
    lines = ["Epoch 1/1", "313/313 - 1s - loss: 0.1151 - accuracy: 0.9651 - 612ms/epoch - 2ms/step"]
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (run,) = extract(path, "train.log").runs
    assert run.find("step_time").last == 2


def test_a_card_is_called_by_its_whole_name(tmp_path):
    path = tmp_path / "bench.log"
    path.write_text("[I] Selected Device: NVIDIA A10\nFPS: 75\n", encoding="utf-8")
    (run,) = extract(path, "bench.log").runs
    assert run.fact("device") == "NVIDIA A10"
