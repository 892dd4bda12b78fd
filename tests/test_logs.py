"""Every log format on fixtures that carry their own expectations, and what holds for all formats."""

import json
import re
import time
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npueval import logs
from npueval.logs.ambient import Ambient
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


def hostile_lines(member: type[Format], size: int) -> list[str]:
    """Long lines that look like the beginning of a record, over and over."""
    pieces = [*member.samples, *member.needles, "a", "1", " ", "a ", "1,", "a:", "[", "{'", "x=", ": ", "- ", "1/1 ["]
    return [(piece * (size // len(piece) + 1))[:size] for piece in pieces]


def seconds(form: LineFormat, line: str) -> float:
    """Processor time of reading a line, the best of three."""
    best = float("inf")
    for _ in range(3):
        book = Logbook("hostile")
        book.at(1, line, form)
        before = time.process_time()
        form.read(line, book)
        best = min(best, time.process_time() - before)
    return best


LINE_FORMATS = [member for member in (*FORMATS, Ambient) if issubclass(member, LineFormat)]


@pytest.mark.parametrize("member", LINE_FORMATS, ids=lambda member: member.name)
def test_no_pattern_is_super_linear(member: type[LineFormat]) -> None:
    """Sixteen times the line may cost about sixteen times the time; a square would be 256."""
    for small, large in zip(hostile_lines(member, 1 << 12), hostile_lines(member, 1 << 16), strict=True):
        taken = seconds(member(), large)
        assert taken < 0.05 or taken < 100 * seconds(member(), small), f"{small[:40]!r}"


@pytest.mark.parametrize("member", LINE_FORMATS, ids=lambda member: member.name)
def test_a_line_of_a_mebibyte_costs_no_more_than_its_beginning(member: type[LineFormat]) -> None:
    reader = Reader("hostile", [member()])
    for line in hostile_lines(member, 1 << 20):
        reader.read(line.encode() + b"\n")
    assert reader.lines == len(hostile_lines(member, 10))


MM = "2023-03-01 10:00:00 - INFO - Epoch(train)  [{epoch}][{step}/90]  lr: 1e-0{epoch}  time: {time}  loss: {loss}"
KV = "epoch {epoch}/9 step {step}/90 loss {loss} acc {time}"
HF = "{{'loss': {loss}, 'acc5': {time}, 'learning_rate': 1e-05, 'epoch': {rounded}}}"
JSONL = '{{"mode": "train", "epoch": {epoch}, "iter": {step}, "loss": {loss}, "top5_acc": {time}}}'
ODDITIES = {
    "nan": lambda line: re.sub(r"(loss[':\" ]+)0", r"\1nan #", line),
    "quoted": lambda line: re.sub(r"(loss['\"]: )(0[.]\d+)", r"\1'\2'", line),
    "other key": lambda line: line.replace("acc5", "acc1").replace("top5", "top1"),
    "other": lambda line: "some other line",
    "twice": lambda line: f"{line}\n{line}",
    "rank": lambda line: f"[rank1]: {line}",
    "longer": lambda line: f"{line}  grad_norm: 1.5",
    "later": lambda line: line.replace("2023-03-01", "2023-03-09"),
}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([MM, KV, HF, JSONL]),
    st.lists(st.tuples(st.sampled_from([None] * 30 + list(ODDITIES)), st.integers(0, 999)), min_size=20, max_size=80),
    st.integers(1, 30),
)
def test_the_fast_lane_reads_what_the_slow_one_reads(template, draws, restart):
    """Whatever stands between the records: restarts, NaN, other ranks, other dates, repeated and longer lines."""
    lines = []
    for i, (oddity, number) in enumerate(draws):
        step = i % restart if number % 97 == 0 else i
        epoch = 1 + i // 40
        known = {"epoch": epoch, "step": step, "rounded": step // 3 / 100 + epoch}
        line = template.format(**known, time=f"0.{number:03}", loss=f"0.{number % 50}")
        lines.append(ODDITIES[oddity](line) if oddity else line)
    text = "\n".join(lines).encode() + b"\n"

    def told(lane):
        reader = Reader("log", [member() for member in logs.MEMBERS])
        if not lane:
            reader._lane.follow = lambda form, text, part, position, number: (position, number)
        else:
            reader._lane._patience = defaultdict(lambda: 1)
        reader.read(text)
        return [
            (
                (run.format, run.first_line, run.last_line, run.restarted, sorted(run.doubts), run.repeats),
                [
                    (key, s.values, s.lines, s.steps, s.last_at, s.best_at, s.not_finite)
                    for key, s in run.series.items()
                ],
            )
            for run in reader.book.close()
        ]

    assert told(lane=True) == told(lane=False)


def test_the_example_project_logs_a_complete_baseline() -> None:
    path = Path(__file__).parents[1] / "examples" / "digits" / "logs" / "train_cpu.log"
    (run,) = extract(path, "train.log").runs
    assert run.finished and run.fact("batch") == "32" and run.fact("device_kind") == "cpu"
    accuracy = run.find("val_accuracy")
    assert accuracy is not None
    assert (accuracy.last, accuracy.last_at[0], accuracy.count) == (0.9917, 379, 8)
    assert run.scales["val_accuracy"][0] == "fraction"
