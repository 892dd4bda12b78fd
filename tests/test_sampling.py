"""The sampling pass reads what can be read, names what cannot, and keeps its series in step."""

import time
from types import SimpleNamespace

import pytest

from npueval import measuring
from npueval.devices import open_device
from npueval.environment.npu_smi import Chip, Health, Outcome, Reading
from npueval.measuring import sampling
from npueval.measuring.sampling import sample
from support.projects import NUMPY, make_plan


def test_the_host_is_read_while_the_work_runs():
    done = []
    resources = sample(open_device("cpu"), lambda: done.append(time.sleep(0.01)), 0.5)
    assert len(done) > 5
    assert {"process_cpu_percent", "process_rss_mb", "host_cpu_percent"} <= set(resources.series)
    lengths = {len(series) for series in resources.series.values()}
    assert len(lengths) == 1
    assert lengths.pop() >= 2
    assert min(resources.series["process_rss_mb"]) > 1


def test_a_simulated_card_has_no_power(npu):
    resources = sample(open_device("npu"), lambda: time.sleep(0.01), 0.3)
    assert {name: why.en for name, why in resources.missing.items()} == {"device": "the card is simulated"}


def card(monkeypatch, *chips):
    monkeypatch.setattr(sampling, "query", lambda host: Reading(Outcome.READ, chips=chips))
    monkeypatch.setattr(sampling, "_NPU_INTERVAL_S", 0.05)
    device = SimpleNamespace(kind="npu", name="npu:1", index=1, simulated=False)
    return sample(device, lambda: time.sleep(0.01), 0.4)


def test_the_chip_is_found_by_its_device_number(monkeypatch):
    chips = [Chip(0, n, "910B", Health.OK, device=n, power_w=100.0 + n, temperature_c=40.0) for n in (1, 0)]
    resources = card(monkeypatch, *chips)
    assert set(resources.series["device_power_w"]) == {101.0}
    assert resources.missing["device_hbm_used_mb"].en == "the device does not tell it"


def test_visible_devices_are_numbered_anew(monkeypatch):
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "4,6")
    chips = [Chip(0, n, "910B", Health.OK, device=n, power_w=100.0 + n) for n in range(8)]
    assert set(card(monkeypatch, *chips).series["device_power_w"]) == {106.0}


def test_a_card_that_npu_smi_does_not_show(monkeypatch):
    assert card(monkeypatch).missing["device"].en == "npu-smi does not show which chip is npu:1"


def test_without_nvml_the_reason_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    device = SimpleNamespace(kind="cuda", index=0, simulated=False)
    assert sample(device, lambda: time.sleep(0.01), 0.2).missing["device"].en == "nvidia-ml-py is not installed"


def test_a_run_keeps_the_pass_apart(tmp_path):
    run = measuring.measure(make_plan(tmp_path, NUMPY, iterations=20), device=open_device("cpu"), sampling_s=0.4)
    assert run.resources.series["process_rss_mb"]
    assert run.cases[0].n == 20


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("raise ValueError('bad luck')", "infer raised ValueError: bad luck"),
        ("time.sleep(60)", "hangs: not finished after 1.5 s in infer (workload.py:7); ended"),
        ("__import__('os')._exit(9)", "the process ended by itself with status 9"),
    ],
    ids=["raises", "hangs", "dies"],
)
def test_a_pass_that_breaks_off_costs_no_figure(tmp_path, action, reason):
    """The check of the outputs is what comes just before the pass."""
    late = NUMPY.replace(
        "return x @",
        f"import time\n            if getattr(self, 'checked', False): {action}\n            return x @",
    )
    late += "        def check(self, outputs): self.checked = True; return {'passed': True}\n"
    plan = make_plan(tmp_path, late, batches=(4,), iterations=20, warmup=2, case_timeout_s=1.5)
    run = measuring.measure(plan, sampling_s=0.5)
    assert (run.complete, run.valid, run.cases[0].n) == (True, True, 20)
    assert not run.resources.series
    assert all(reason in why.en for why in run.resources.missing.values()), run.resources.missing
    assert any("the sampling pass broke off" in doubt.en and reason in doubt.en for doubt in run.doubts)
