"""One contract for every device: its clock is true, its memory a figure or a reason, its absence explained."""

import json
import sys
import time

import pytest

from npueval.devices import KINDS, open_device
from npueval.devices.base import Accelerator
from npueval.errors import NotExecuted, UnknownDevice
from npueval.runs import to_data


def test_a_device_describes_itself(device):
    facts = device.describe()
    assert facts.kind == device.kind
    assert facts.model
    assert facts.name == device.name == (facts.kind if facts.index is None else f"{facts.kind}:{facts.index}")
    assert json.loads(json.dumps(to_data(facts)))["kind"] in KINDS
    assert all(isinstance(value, str) for value in facts.settings.values())


def test_memory_is_a_figure_or_a_reason(device):
    memory = device.memory()
    for reading in (memory.allocated, memory.reserved, memory.device, memory.host_rss):
        assert (reading.value is None) == bool(reading.reason.en)
    assert memory.host_rss.value > 1 << 20
    if device.asynchronous:
        assert memory.reserved.value >= memory.allocated.value


def test_the_clock_runs_forward_and_waits(device):
    clock = device.clock
    before = clock.now()
    clock.wait_until(before + 2_000_000)
    assert clock.now() >= before + 2_000_000


@pytest.mark.parametrize("own_stream", [False, True])
def test_only_an_asynchronous_device_must_be_waited_for(device, own_stream):
    with device.lane(own_stream=own_stream) as lane:
        assert (lane.synchronize is not None) == device.asynchronous
        assert (lane.timer is not None) == device.asynchronous


@pytest.mark.parametrize("own_stream", [False, True])
def test_synchronised_time_contains_the_work(device, own_stream):
    if not device.asynchronous:
        pytest.skip("the device has nothing to wait for")
    import torch

    matrix = torch.rand(512, 512).to(device.name)
    with device.lane(own_stream=own_stream) as lane:
        matrix @ matrix
        lane.synchronize()
        before = device.clock.now()
        lane.timer.start()
        for _ in range(20):
            matrix @ matrix
        lane.timer.stop()
        enqueued = device.clock.now() - before
        lane.synchronize()
        whole = device.clock.now() - before
    assert enqueued < whole
    assert lane.timer.elapsed_ns() == pytest.approx(whole, rel=0.2, abs=100_000)


def test_a_device_is_seeded(device):
    device.seed(3)
    device.reset_memory()
    device.release()
    assert device.held().value > 0 or device.asynchronous


@pytest.mark.parametrize("name", ["tpu", "npu:x", "npu:²", "cpu:0", ""])
def test_no_such_device(name):
    with pytest.raises(UnknownDevice) as caught:
        open_device(name)
    assert caught.value.hint


def test_a_gpu_that_is_not_here_is_explained():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this host has such a card")
    with pytest.raises(NotExecuted, match="nothing was measured on cuda: torch sees no such device") as caught:
        open_device("cuda")
    assert "nvidia-smi" in caught.value.hint


def test_there_is_no_fall_back_from_a_card_that_is_not_there(npu):
    with pytest.raises(NotExecuted, match="npu:7: there is 1 card"):
        open_device("npu:7")


def test_exact_times_on_the_simulated_card(npu):
    """Three operators of 1 ms, 2 ms and 3 ms, dispatched in 1 µs each."""
    import torch

    device = open_device("npu")
    matrix = torch.rand(8, 8).to("npu:0")
    npu.script.costs = {"aten.mm": 1_000_000, "aten.add": 2_000_000, "aten.relu": 3_000_000}
    with device.lane(own_stream=False) as lane:
        lane.synchronize()
        start = device.clock.now()
        lane.timer.start()
        torch.relu(torch.add(matrix @ matrix, matrix))
        lane.timer.stop()
        assert device.clock.now() - start == 3_000
        lane.synchronize()
        assert device.clock.now() - start == 6_001_000
        assert lane.timer.elapsed_ns() == 6_001_000


def test_streams_of_the_simulated_card_overlap(npu):
    import torch

    device = open_device("npu")
    matrix = torch.rand(8, 8).to("npu:0")
    npu.script.costs = {"aten.mm": 1_000_000}
    npu.wait()
    start = npu.now()
    with device.lane(own_stream=True) as first:
        matrix @ matrix
        with device.lane(own_stream=True):
            matrix @ matrix
        first.synchronize()
        assert npu.now() - start == 1_001_000
    npu.wait()
    assert npu.now() - start == 1_002_000


class OldBackend:
    """A torch.npu of long ago: it has events, and little else."""

    def __init__(self):
        self.used = None

    def set_device(self, index):
        self.used = index

    def synchronize(self, index=None):
        time.sleep(0)

    def max_memory_allocated(self, index):
        raise RuntimeError("not initialised\nsecond line")


class Old(Accelerator):
    kind = "npu"

    def describe(self):
        raise NotImplementedError


def test_what_an_old_backend_lacks_is_not_zero():
    old = Old(OldBackend(), 0)
    memory = old.memory()
    assert str(memory.device) == "N/A (this torch.npu has no mem_get_info)"
    assert str(memory.reserved) == "N/A (this torch.npu has no max_memory_reserved)"
    assert str(memory.allocated) == "N/A (max_memory_allocated: RuntimeError: not initialised)"
    with old.lane(own_stream=False) as lane:
        assert lane.timer is None
        assert lane.synchronize is not None


def test_a_backend_without_synchronize_is_refused():
    backend = OldBackend()
    backend.synchronize = None
    with pytest.raises(NotExecuted, match="has no synchronize"):
        Old(backend, 0)


def test_a_card_that_computes_nonsense_is_refused(npu):
    npu.script.nan = True
    with pytest.raises(NotExecuted, match=r"1 \+ 1 = \[nan, nan\]"):
        open_device("npu")


def test_blocking_launches_are_doubted(npu, monkeypatch):
    assert open_device("npu").doubts() == ()
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")
    assert "ASCEND_LAUNCH_BLOCKING" in open_device("npu").doubts()[0].en


def test_the_cpu_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    cpu = open_device("cpu")
    cpu.seed(1)
    assert "torch_threads" not in cpu.describe().settings
