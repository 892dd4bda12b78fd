"""The user's workload: what breaks its contract is said at once and with its place; its values are hashed and moved."""

import sys
from concurrent.futures import Future

import numpy as np
import pytest

from npueval import pipeline, workloads
from npueval.devices import open_device
from npueval.errors import WorkloadError
from npueval.runs.conditions import ArrayFacts
from support.projects import NUMPY, TORCH, write_workload


def loaded(folder, source, ref="workload.py:Model"):
    write_workload(folder, source)
    return workloads.load(ref, folder)


def test_a_workload_knows_its_file_and_hash(tmp_path):
    workload = loaded(tmp_path, NUMPY)
    assert workload.path == (tmp_path / "workload.py").resolve()
    assert workload.facts().sha256 == workload.sha256
    assert workload.facts().parameters is None
    assert workload.hook("preprocess") is None
    assert loaded(tmp_path, NUMPY.replace("eye(4", "ones((4, 4)")).sha256 != workload.sha256


def test_the_parameters_of_a_torch_workload_are_counted(tmp_path):
    pytest.importorskip("torch")
    workload = loaded(tmp_path, TORCH)
    workload.call("load", "cpu", "fp32")
    assert workload.facts().parameters == 4 * 3 + 3


def test_neighbours_can_be_imported(tmp_path):
    (tmp_path / "neighbour_of_workload.py").write_text("SIDE = 4\n", encoding="utf-8")
    workload = loaded(tmp_path, NUMPY.replace("import numpy as np", "import numpy as np, neighbour_of_workload"))
    assert workload.call("inputs", 2, 1).shape == (2, 4)


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("import no_such_module", "does not import: it raised ModuleNotFoundError: No module named 'no_such_mod", 1),
        ("x = 1\ndef broken(:\n", "does not import: it raised SyntaxError", 2),
        ("x = 1\n\nraise ValueError('no')", "does not import: it raised ValueError: no", 3),
        ("import sys\nsys.exit(4)", r"does not import: it called sys.exit\(4\)", 2),
        ("class Other: ...", "has no class Model", None),
        ("Model = 3", "has no class Model", None),
        ("class Model:\n    def __init__(self): raise OSError('none')", r"Model\(\) raised OSError: none", 2),
        ("class Model:\n    def __init__(self, size): ...", r"Model\(\) raised TypeError", None),
    ],
)
def test_a_file_that_gives_no_workload(tmp_path, source, message, line):
    (tmp_path / "workload.py").write_text(source + "\n", encoding="utf-8")
    with pytest.raises(WorkloadError, match=message) as caught:
        workloads.load("workload.py:Model", tmp_path)
    assert caught.value.path == str((tmp_path / "workload.py").resolve())
    assert caught.value.line == line


def test_a_reference_that_leads_nowhere(tmp_path):
    with pytest.raises(WorkloadError, match="no such workload file"):
        workloads.load("absent.py:Model", tmp_path)
    with pytest.raises(WorkloadError, match="names no class"):
        workloads.load("workload.py", tmp_path)


def test_every_breach_of_the_contract_at_once(tmp_path):
    source = """
    class Model:
        check = 3
        def inputs(self, batch): return batch
        def infer(self): return 1
        def h2d(self, x): return x
    """
    with pytest.raises(WorkloadError, match="breaks the workload contract") as caught:
        loaded(tmp_path, source)
    told = {problem.key: (problem.message, problem.line) for problem in caught.value.problems}
    assert told == {
        "load": ("load is missing", None),
        "inputs": ("inputs must take 2 argument(s) beside self", 3),
        "infer": ("infer must take 1 argument(s) beside self", 4),
        "h2d": ("h2d must take 2 argument(s) beside self", 5),
        "check": ("check is not a method", None),
    }


def test_paths_with_blanks_and_chinese_letters(tmp_path):
    folder = tmp_path / "迁移 项目"
    assert loaded(folder, NUMPY).call("inputs", 1, 0).shape == (1, 4)


def test_inputs_are_hashed_with_their_shape_and_type():
    array = np.arange(6, dtype=np.int32)
    hashes = {
        workloads.input_facts(1, value).sha256
        for value in (array, array.reshape(2, 3), array.astype(np.int64), [array, array], {"a": array, "b": "text"})
    }
    assert len(hashes) == 5
    again = workloads.input_facts(1, array.copy())
    assert again == workloads.input_facts(1, array)
    assert again.arrays == (ArrayFacts((6,), "int32"),)
    assert workloads.input_facts(1, ["a", b"b"]).arrays == (ArrayFacts((), "str"), ArrayFacts((), "bytes"))


def test_outputs_are_described_by_their_finite_elements():
    first, second, third = workloads.output_facts((np.array([1.0, np.nan, np.inf, 3.0]), "text", np.full(2, np.nan)))
    assert (first.nan, first.inf, first.mean, first.min, first.max) == (1, 1, 2.0, 1.0, 3.0)
    assert (second.dtype, second.mean, second.nan) == ("str", None, 0)
    assert (third.nan, third.mean) == (2, None)
    assert workloads.output_facts(np.array([], np.float32))[0].mean is None
    assert workloads.output_facts(np.array(["x"]))[0].mean is None


def test_tensors_of_types_that_numpy_lacks(npu):
    import torch

    facts = workloads.output_facts(torch.tensor([1.0, 2.0], dtype=torch.bfloat16))[0]
    assert (facts.dtype, facts.mean) == ("bfloat16", 1.5)
    on_card = torch.ones(3).to("npu")
    assert workloads.output_facts({"y": on_card})[0].mean == 1.0


def test_only_what_is_elsewhere_is_moved(npu):
    import torch

    values = {"a": torch.ones(2), "b": (np.zeros(1), "text")}
    moved = workloads.moved(values, "npu:0")
    assert moved["a"].device.type == "npu"
    assert moved["b"] is values["b"]
    assert workloads.moved(moved, "npu:0") is moved


def test_a_workload_that_moves_its_inputs_itself_has_no_transfer_to_measure(tmp_path, npu):
    source = TORCH.replace("seed))", "seed)).to('npu')", 1).replace("self.net(x)", "self.net(x).cpu()")
    workload = loaded(tmp_path, source)
    device = open_device("npu")
    workload.call("load", device.name, "fp32")
    whole = pipeline.build(workload, device, "fp32")
    with device.lane(own_stream=False) as lane:
        raw = workload.call("inputs", 2, 1)
        settled = whole.without_idle_transfers(raw, whole.walk(raw, lane, device.clock))
    assert [step.segment for step in whole.steps] == ["h2d", "infer", "d2h"]
    assert [step.segment for step in settled.steps] == ["infer"]
    assert settled.not_measured["h2d"] == settled.not_measured["d2h"]
    assert "nothing to move" in settled.not_measured["h2d"].en


def test_what_a_segment_raises_is_blamed_on_its_line(tmp_path):
    workload = loaded(tmp_path, NUMPY.replace("return x @", "raise KeyError('w'); return x @"))
    device = open_device("cpu")
    workload.call("load", "cpu", "fp32")
    with (
        pytest.raises(WorkloadError, match="infer raised KeyError: 'w'") as caught,
        device.lane(own_stream=False) as lane,
    ):
        pipeline.build(workload, device, "fp32").walk(workload.call("inputs", 1, 1), lane, device.clock)
    assert caught.value.line == 6


def test_autocast_without_torch_is_refused(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(WorkloadError, match="autocast needs torch"):
        pipeline.build(loaded(tmp_path, NUMPY), open_device("cpu"), "bf16", "autocast")


class Coroutine:
    def __await__(self):
        yield


class TorchLikeFuture:
    def wait(self): ...
    def done(self): ...


class PoolResult:
    def get(self): ...
    def ready(self): ...


@pytest.mark.parametrize(
    "promise",
    [iter([1]), map(abs, [1]), (x for x in "ab"), Future(), Coroutine(), TorchLikeFuture(), PoolResult()],
    ids=lambda promise: type(promise).__name__,
)
def test_promises_are_no_values(promise):
    assert workloads.is_pending(promise)
    (told,) = workloads.undelivered({"preprocess": 1, "infer": {"logits": [promise]}, "d2h": [promise]})
    assert told.en.startswith(f"infer returns a {type(promise).__name__}: nothing of it is done when it returns")


@pytest.mark.parametrize("value", [np.ones(3), "text", b"bytes", 1.5, {"a"}, range(3), object(), None, Future])
def test_values_are_no_promises(value):
    assert not workloads.is_pending(value)
