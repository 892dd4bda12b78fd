"""A Run keeps every sample, reads back as it was, and refuses what is not a Run."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from npueval import runs
from npueval.contracts import violations
from npueval.errors import FormatError
from npueval.language import same
from npueval.resources import schema
from npueval.runs.cases import Case, Reading
from support.make_runs import make_case, make_run, milliseconds


def changed(path, **changes):
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize("compress", [False, True])
def test_a_run_reads_back_as_it_was(tmp_path, compress):
    run = make_run()
    path = runs.save(run, tmp_path, compress=compress)
    again = runs.load(path)
    assert path.name == run.id + (".json.gz" if compress else ".json")
    assert runs.to_data(again) == runs.to_data(run)
    np.testing.assert_array_equal(again.cases[1].samples["infer"], run.cases[1].samples["infer"])
    assert again.inputs == run.inputs
    assert again.output_check == run.output_check
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_follows_its_schema():
    open_case = make_case(load="open", concurrency=2, rate=50.0, events=milliseconds(1.9), enqueue=milliseconds(0.1))
    for run in (make_run(), make_run(cases=(open_case,), output_check=None, complete=False)):
        assert violations(runs.to_data(run), schema("run")) == []


def test_a_sample_takes_at_most_twelve_bytes(tmp_path):
    samples = milliseconds(5.0, 100_000)
    sizes = [
        runs.save(make_run(id=f"r{n}", cases=(Case(1, "fp32", samples={"infer": samples[:n]}),)), tmp_path)
        .stat()
        .st_size
        for n in (0, 100_000)
    ]
    assert (sizes[1] - sizes[0]) / 100_000 <= 12


def test_the_samples_can_be_read_without_us(tmp_path):
    run = make_run()
    data = json.loads(runs.save(run, tmp_path).read_text(encoding="utf-8"))
    series = np.frombuffer(base64.b64decode(data["cases"][0]["samples"]["infer"]), "<i8")
    np.testing.assert_array_equal(series, run.cases[0].samples["infer"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a Run"),
        (b"\x1f\x8bnot gzip", "not a Run"),
        (b"[1, 2]", "not a Run"),
        (b'{"format": "npueval/plan/1"}', "not a Run"),
        (b'{"format": "npueval/run/1", "id": "x"}', "not a complete Run"),
        (b'{"format": "npueval/run/99"}', "reads up to 1"),
        (b"\xff\xfe{", "not a Run"),
    ],
)
def test_what_is_not_a_run_is_refused_with_its_path(tmp_path, content, message):
    path = tmp_path / "it.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        runs.load(path)
    assert caught.value.path == str(path)


def test_an_absent_file_and_damaged_samples_are_refused(tmp_path):
    with pytest.raises(FormatError, match="No such file"):
        runs.load(tmp_path / "none.json")
    path = runs.save(make_run(), tmp_path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["cases"][0]["samples"]["infer"] = "not base64!"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FormatError, match="damaged samples"):
        runs.load(path)
    with pytest.raises(FormatError, match="surprise"):
        runs.load(changed(runs.save(make_run(), tmp_path), surprise=1))


def test_figures_are_derived_from_the_samples():
    case = Case(
        4,
        "fp32",
        samples={"preprocess": np.full(10, 1_000_000), "infer": np.full(10, 3_000_000)},
        window_ns=50_000_000,
        items=40,
        cards=2,
    )
    assert case.summary().p50 == 4.0
    assert case.summary("infer").mean == 3.0
    assert case.throughput() == 800.0
    assert case.throughput_per_card() == 400.0
    assert case.streamed_throughput() is None
    with pytest.raises(KeyError):
        case.summary("h2d")
    assert replace(case, group=4).summary("infer").p50 == 0.75


def test_a_case_without_samples_has_no_figures():
    case = Case(1, "fp32", complete=False, error="out of memory")
    assert (case.n, case.throughput()) == (0, None)
    with pytest.raises(KeyError):
        case.summary()


def test_a_run_names_its_cases_segments_and_doubts():
    run = make_run(
        doubts=(same("drift"),), invalid=(same("NaN in the outputs"),), cases=(make_case(doubts=(same("grouped"),)),)
    )
    assert run.segments == ("preprocess", "infer")
    assert run.case(1) is run.cases[0]
    assert run.case(1, concurrency=2) is None
    assert not run.valid
    assert [doubt.en for doubt in run.all_doubts()] == ["NaN in the outputs", "drift", "batch=1 concurrency=1: grouped"]


def test_an_absent_reading_says_why():
    assert str(Reading(None, same("torch_npu has no mem_get_info"))) == "N/A (torch_npu has no mem_get_info)"
    assert str(Reading(2.5)) == "2.5"
