"""Measuring in this process: exact on the simulated card, where a naive loop is wrong; and on the cpu without torch."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from npueval import measuring, runs
from npueval.contracts import violations
from npueval.devices import open_device
from npueval.errors import NotExecuted, WorkloadError
from npueval.measuring import doubts, seeds
from npueval.resources import schema
from npueval.runs.cases import Case
from support.projects import NUMPY, TORCH, make_plan

SIMULATED = """
    import torch
    class Model:
        def load(self, device, precision):
            self.weights = torch.ones(4, 4).to(device)
        def inputs(self, batch, seed):
            return torch.rand(batch, 4, generator=torch.Generator().manual_seed(seed))
        def infer(self, x):
            return torch.mm(x, self.weights)
        def postprocess(self, y):
            return y.numpy()
"""
MM = {"aten.mm": 2_000_000}
# Long enough not to be grouped.
COUNTED = "import time; time.sleep(2e-4); self.calls = getattr(self, 'calls', 0) + 1\n            "
FAILS = COUNTED + "if {}: raise ValueError('bad luck')\n            return x @"
EXITS = COUNTED + "if self.calls == 60: raise SystemExit(3)\n            return x @"


def measured(plan, **options):
    return measuring.measure(plan, device=open_device(plan.device), **{"sampling_s": 0, **options})


def on_card(tmp_path, npu, source=SIMULATED, costs=MM, **changes):
    npu.script.costs = dict(costs)
    return make_plan(tmp_path, source, device="npu", **changes)


def test_the_simulated_card_gives_exact_times(tmp_path, npu):
    run = measured(on_card(tmp_path, npu))
    case = run.case(4)
    assert run.simulated
    assert run.segments == ("h2d", "infer", "d2h", "postprocess")
    assert {name: why.en for name, why in run.not_measured.items()} == {"preprocess": "the workload has no preprocess"}
    assert set(case.samples["infer"]) == {2_001_000}
    assert set(case.samples["h2d"]) == set(case.samples["d2h"]) == {5_000}
    assert set(case.events) == {2_001_000}
    assert set(case.enqueue) == {1_000}
    assert set(case.nanoseconds()) == {2_011_000}
    assert case.n == 100
    assert case.window_ns == 100 * 2_011_000
    assert case.throughput() == pytest.approx(4 / 2.011e-3)


def test_a_naive_loop_measures_the_dispatch_and_nothing_else(tmp_path, npu):
    """Scope infer only: the loop of most benchmark scripts says 1 µs where 2 ms are true."""
    import torch

    run = measured(on_card(tmp_path, npu, segments=("infer",)))
    weights, inputs = torch.ones(4, 4).to("npu"), torch.rand(4, 4).to("npu")
    start = npu.now()
    for _ in range(10):
        torch.mm(inputs, weights)
    naive = (npu.now() - start) / 10
    assert naive == 1_000
    assert set(run.case(4).nanoseconds()) == {2_001_000}
    assert run.not_measured["h2d"].en == "not in the plan's segments"


def test_the_streamed_window_synchronises_once(tmp_path, npu):
    case = measured(on_card(tmp_path, npu, segments=("infer",))).case(4)
    assert case.streamed_items == 400
    assert case.streamed_ns == 100 * 2_000_000 + 1_000
    assert case.streamed_throughput() > case.throughput()


def test_the_cold_start_is_kept_apart(tmp_path, npu):
    npu.script.compile = 500_000_000
    run = measured(on_card(tmp_path, npu))
    assert run.cold_start.first_inference_ns == 502_011_000
    assert run.cold_start.first_hits == {"1": 502_011_000, "4": 502_011_000}
    assert run.case(1).summary().max == pytest.approx(2.011)
    assert len(run.case(1).warmup["infer"]) == 10
    assert not list(run.all_doubts())


def test_a_stall_and_a_drift_are_named(tmp_path, npu):
    npu.script.stalls = {90: 90_000_000}
    stalled = measured(on_card(tmp_path / "a", npu, batches=(1,), target_batch=1))
    assert any("far out of line" in doubt.en for doubt in stalled.all_doubts())
    npu.reset()
    npu.script.growth = 0.002
    drifting = measured(on_card(tmp_path / "b", npu, batches=(1,), target_batch=1))
    assert any("drift: the last third" in doubt.en for doubt in drifting.all_doubts())


def test_small_kernels_are_host_bound_and_grouped(tmp_path, npu):
    npu.script.clock_read = 100
    run = measured(on_card(tmp_path, npu, costs={"aten.mm": 100}, batches=(1,), target_batch=1, segments=("infer",)))
    case = run.case(1)
    assert run.floor_ns > 0
    assert case.group > 1
    assert case.n == 100
    assert case.items == 100 * case.group
    assert case.summary("infer").p50 * 1e6 == pytest.approx(1_100, rel=0.2)
    told = "\n".join(doubt.en for doubt in run.all_doubts())
    assert "one sample covers" in told
    assert "host-bound" in told


def test_events_and_a_host_clock_that_disagree_are_told():
    def told(events_ns, host_ns=2_401_000):
        case = Case(1, "fp32", samples={"infer": np.full(50, host_ns)}, events=np.full(50, events_ns))
        return [doubt for doubt in doubts.of_case(case, 100.0) if "by the device's events" in doubt.en]

    assert told(2_001_000)[0].en.startswith(
        "infer takes 2.401 ms by the host's clock and 2.001 ms by the device's events"
    )
    assert not told(2_300_000)
    assert not told(60_000, host_ns=100_000)


def test_time_outside_the_segments_is_said(tmp_path):
    """A slow transfer between two segments that the plan asks for, and which it does not ask for itself."""
    hooks = (
        "        def preprocess(self, raw): return raw\n"
        "        def h2d(self, x, device):\n"
        "            import time; time.sleep(0.002); return x\n"
    )
    slow = NUMPY.replace("return x @", "import time; time.sleep(0.001); return x @") + hooks
    run = measured(make_plan(tmp_path, slow, iterations=40, segments=("preprocess", "infer")))
    assert run.segments == ("preprocess", "infer")
    assert run.not_measured["h2d"].en == "not in the plan's segments"
    assert any("time passes outside the measured segments" in doubt.en for doubt in run.all_doubts())


def test_out_of_memory_ends_its_case_and_not_the_run(tmp_path, npu):
    npu.script.capacity = 100_000
    run = measured(on_card(tmp_path, npu, batches=(1, 4096, 4), target_batch=4))
    assert [case.complete for case in run.cases] == [True, False, True]
    assert "out of memory" in run.cases[1].error
    assert not run.complete
    assert any("batch=4096" in doubt.en and "incomplete" in doubt.en for doubt in run.doubts)


def test_nan_outputs_make_the_run_invalid(tmp_path, npu):
    device = open_device("npu")
    npu.script.nan = True
    run = measuring.measure(on_card(tmp_path, npu), device=device, sampling_s=0)
    assert not run.valid
    assert run.output_check.passed is False
    assert any("NaN" in reason.en for reason in run.all_doubts())


def test_memory_of_the_card_is_three_figures(tmp_path, npu):
    memory = measured(on_card(tmp_path, npu)).case(4).memory
    assert 0 < memory.allocated.value < memory.reserved.value
    assert memory.device.value > 0


def test_a_leak_is_seen(tmp_path, npu):
    leaking = SIMULATED.replace(
        "return torch.mm(x, self.weights)",
        "self.kept = [getattr(self, 'kept', 0), torch.empty(1 << 18, device='npu')]; return torch.mm(x, self.weights)",
    )
    run = measured(on_card(tmp_path, npu, leaking, batches=(1,), target_batch=1, iterations=30))
    assert any("the workload leaks" in doubt.en for doubt in run.all_doubts())


def test_autocast_keeps_the_weights_and_casts_the_work(tmp_path):
    pytest.importorskip("torch")
    seen = TORCH.replace("torch.set_num_threads(1)", "self.asked = precision").replace(
        "return self.net(x)", "y = self.net(x); self.dtype = str(y.dtype); return y.float()"
    )
    told = "        def check(self, o): return {'metric': 'x', 'value': 1, 'asked': self.asked, 'dtype': self.dtype}\n"
    for mode, asked, dtype in (("autocast", "fp32", "torch.bfloat16"), ("cast", "bf16", "torch.float32")):
        run = measured(
            make_plan(tmp_path / mode, seen + told, precisions=("bf16",), precision_mode=mode, iterations=10)
        )
        result = run.output_check.result
        assert (run.precision, run.protocol.precision_mode) == ("bf16", mode)
        assert (result["asked"], result["dtype"]) == (asked, dtype)


@pytest.mark.parametrize(
    ("waits", "told"),
    [
        ("torch.npu.synchronize()", "synchronize x1"),
        ("torch.npu.Stream().synchronize()", "synchronize x1"),
        ("y.sum().item()", "copy to the host x1"),
        ("y.cpu()", "copy to the host x1"),
    ],
)
def test_a_workload_that_waits_by_itself_is_named(tmp_path, npu, waits, told):
    source = SIMULATED.replace("return torch.mm(x, self.weights)", f"y = torch.mm(x, self.weights); {waits}; return y")
    run = measured(on_card(tmp_path, npu, source, batches=(1,), target_batch=1, iterations=10))
    assert any(f"infer waits for the device by itself ({told})" in doubt.en for doubt in run.all_doubts())
    assert run.case(1).samples["infer"].min() > 2_000_000


def test_operators_that_fall_back_to_the_cpu_are_named(tmp_path):
    source = NUMPY.replace("self.weights =", "print(WARNING); self.weights =")
    source += (
        "    WARNING = \"Warning: The operator 'torchvision::nms' is not currently supported on the NPU backend \\\n"
        'and will fall back to run on the CPU"\n'
    )
    run = measuring.measure(make_plan(tmp_path, source, iterations=10), sampling_s=0)
    assert any("torchvision::nms fell back to the CPU" in doubt.en for doubt in run.doubts)


def test_the_cpu_measures_a_workload_without_torch(tmp_path):
    run = measured(make_plan(tmp_path), environment={"python": "3"})
    assert run.valid
    assert run.complete
    assert not run.simulated
    assert run.segments == ("infer",)
    assert run.not_measured["h2d"].en == "the cpu needs no transfer"
    assert [case.name for case in run.cases] == ["batch=1 concurrency=1", "batch=4 concurrency=1"]
    assert run.inputs[1].arrays[0].shape == (4, 4)
    assert run.workload.parameters is None
    assert run.environment == {"python": "3"}
    assert violations(runs.to_data(run), schema("run")) == []
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize("rates", [(), (300.0,)])
def test_every_batch_under_every_load(tmp_path, rates):
    slow = NUMPY.replace("return x @", "import time; time.sleep(0.001); return x @")
    plan = make_plan(tmp_path, slow, concurrency=(1, 3), arrival_rates=rates, iterations=40, warmup=3)
    run = measured(plan)
    assert [(case.batch, case.load) for case in run.cases] == [
        (batch, load) for batch in (1, 4) for load in ("sequence", "closed", *(["open"] * len(rates)))
    ]
    closed = run.case(4, concurrency=3)
    assert closed.n == 42
    assert closed.items == 42 * 4
    # Three at a time: together they are at work for longer than the window lasts.
    assert closed.nanoseconds().sum() > 1.5 * closed.window_ns
    if rates:
        waiting = run.case(4, 3, 300.0)
        assert set(waiting.samples) == {"queue", "infer"}
        assert waiting.samples["queue"].min() >= 0
        np.testing.assert_array_equal(waiting.nanoseconds(), waiting.samples["queue"] + waiting.samples["infer"])


def test_an_overloaded_open_load_counts_the_wait(tmp_path):
    """2 ms of service, a request every ms: the wait from the scheduled time grows with every request."""
    slow = NUMPY.replace("return x @", "import time; time.sleep(0.002); return x @")
    plan = make_plan(tmp_path, slow, batches=(1,), target_batch=1, arrival_rates=(1000.0,), iterations=60, warmup=3)
    case = measured(plan).case(1, 1, 1000.0)
    assert case.samples["queue"][-10:].min() > 20_000_000
    assert any("overload" in doubt.en for doubt in case.doubts)


def test_the_workload_judges_its_own_outputs(tmp_path):
    judged = (
        NUMPY + "        def check(self, outputs): return {'metric': 'top1', 'value': 0.5, 'passed': np.bool_(False)}\n"
    )
    run = measured(make_plan(tmp_path, judged))
    assert run.output_check.result == {"metric": "top1", "value": 0.5, "passed": False}
    assert not run.valid


def test_a_dataset_is_checked_as_a_whole(tmp_path):
    whole = NUMPY + (
        "        def dataset(self): yield from (self.inputs(8, s) for s in range(3))\n"
        "        def check(self, outputs): return {'metric': 'n', 'value': len(outputs), 'n': 24, 'passed': True}\n"
    )
    check = measured(make_plan(tmp_path, whole)).output_check
    assert check.passed is True
    assert check.result["value"] == 3
    assert [facts.shape for facts in check.outputs] == [(8, 4)] * 3


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        (("return x @", "x += 1; return x @"), "changes its inputs in place"),
        (("return np.random.RandomState(seed).rand", "return np.random.rand"), "gives other inputs each time"),
        (("return x @", "np.random.seed(7); return x @"), "seeds numpy with 7 itself"),
        (("return x @", "import random; random.seed(9); return x @"), "seeds random with 9 itself"),
        (("return x @", "np.random.seed([8, 9]); return x @"), "seeds numpy with [8, 9] itself"),
    ],
)
def test_what_spoils_reproducibility_is_said(tmp_path, change, doubt):
    run = measured(make_plan(tmp_path, NUMPY.replace(*change), iterations=20))
    assert any(doubt in said.en for said in run.all_doubts())


def test_other_shapes_make_the_run_invalid(tmp_path):
    odd = NUMPY.replace(
        "return x @ self.weights",
        COUNTED + "return (x @ self.weights)[: 3 if self.calls == 40 else 4]",
    )
    run = measured(make_plan(tmp_path, odd, batches=(4,), iterations=50))
    assert not run.valid
    assert any("another shape" in said.en and "(3, 4)" in said.en for said in run.all_doubts())


def test_an_iteration_that_fails_once_is_kept_and_tried_again(tmp_path):
    # 1 cold, 10 warm-up, then iteration 57 of the window
    source = NUMPY.replace("return x @", FAILS.format("self.calls == 11 + 58"))
    case = measured(make_plan(tmp_path, source, batches=(1,), target_batch=1)).cases[0]
    assert (case.n, case.complete, case.retries) == (100, True, 1)
    assert case.failures[0].iteration == 57
    assert case.failures[0].error == "raised ValueError: bad luck (workload.py:7)"
    assert "1 failed attempt(s), 1 retried" in case.doubts[0].en


def test_an_iteration_that_goes_on_failing_ends_its_case_with_the_samples_so_far(tmp_path):
    source = NUMPY.replace("return x @", FAILS.format("self.calls > 11 + 57"))
    run = measured(make_plan(tmp_path, source, batches=(1,), target_batch=1))
    case = run.cases[0]
    assert (case.n, case.complete, case.retries) == (57, False, 2)
    assert [failure.iteration for failure in case.failures] == [57, 57, 57]
    assert case.error == "raised ValueError: bad luck (workload.py:7)"
    assert not run.complete


def test_a_workload_that_exits_is_not_tried_again(tmp_path):
    source = NUMPY.replace("return x @", EXITS)
    case = measured(make_plan(tmp_path, source, batches=(1,), target_batch=1)).cases[0]
    assert case.error == "called sys.exit(3) (workload.py:7)"
    assert (case.n, case.retries) == (48, 0)


def test_a_warm_up_that_fails_is_said(tmp_path):
    source = NUMPY.replace("return x @", FAILS.format("self.calls > 4"))
    plan = make_plan(tmp_path, source + "        def postprocess(self, y): return y\n", batches=(4, 1))
    with pytest.raises(Exception, match="in the warm-up: raised ValueError: bad luck"):
        measured(plan)


def test_progress_is_told(tmp_path):
    told = []
    measured(make_plan(tmp_path), progress=told.append)
    assert told == ["load", "floor", "case batch=1 concurrency=1", "case batch=4 concurrency=1", "check"]


def test_no_segment_of_the_plan_exists(tmp_path):
    with pytest.raises(WorkloadError, match="none of the segments preprocess"):
        measured(make_plan(tmp_path, segments=("preprocess",)))


def test_a_case_that_was_measured_is_not_measured_again(tmp_path, npu):
    """The journal of a broken-off measurement: its first case is there, so only the second is measured."""
    plan = on_card(tmp_path, npu)
    interrupted = []

    def stop_at_second(line):
        interrupted.append(line)
        if line.startswith("case batch=4"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(plan, progress=stop_at_second)
    again = []
    run = measured(plan, progress=again.append)
    assert again == ["load", "floor", "case batch=4 concurrency=1", "check"]
    assert [case.n for case in run.cases] == [100, 100]
    assert any("more than one process" in doubt.en for doubt in run.doubts)
    assert not list((tmp_path / "runs").rglob("*.json"))


def test_a_run_is_json_to_the_last_figure(tmp_path):
    assert (
        json.loads(json.dumps(runs.to_data(measured(make_plan(tmp_path, iterations=20)))))["format"] == "npueval/run/1"
    )


def test_an_absent_card_is_not_replaced(tmp_path, npu):
    with pytest.raises(NotExecuted):
        measured(make_plan(tmp_path, device="npu:3"))


def test_weights_made_at_random_in_load_are_those_of_the_plan_s_seed(tmp_path):
    """In processes of their own, where nothing but the workload's file brings torch."""
    pytest.importorskip("torch")
    source = TORCH.replace(
        "torch.rand(batch, 4, generator=torch.Generator().manual_seed(seed))", "torch.ones(batch, 4)"
    )
    plan = make_plan(tmp_path, source, batches=(4,), iterations=20)
    plans = (plan, plan, replace(plan, seed=4))
    first, second, other = (measuring.measure(each, sampling_s=0).output_check.outputs for each in plans)
    assert first == second
    assert first != other


def test_a_seed_of_the_workload_s_own_is_told_though_its_file_brings_torch(tmp_path):
    pytest.importorskip("torch")
    source = TORCH.replace("self.net =", "torch.manual_seed(99); self.net =")
    run = measuring.measure(make_plan(tmp_path, source, batches=(4,), iterations=20), sampling_s=0)
    assert any("seeds torch with 99 itself" in doubt.en for doubt in run.doubts)


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        ("check(self, o): raise KeyError('labels')", "Model.check raised KeyError: 'labels'"),
        ("check(self, o): raise SystemExit(2)", "Model.check called sys.exit(2)"),
        ("check(self, o): return 0.93", "check returned 0.93, not a mapping"),
        ("check(self, o): return None", "check returned None, not a mapping"),
        ("check(self, o): return {'passed': 'maybe'}", "check says passed: 'maybe', which is neither true nor false"),
        ("check(self, o): return {'metric': 'top1'}", "check gives neither a figure (value) nor a verdict (passed)"),
        ("dataset(self): yield 1 / 0", "the check could not be made: raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_check_that_could_not_tell_is_a_doubt_and_keeps_the_run(tmp_path, hook, reason):
    run = measured(make_plan(tmp_path, f"{NUMPY}        def {hook}\n", iterations=20))
    assert (run.valid, run.complete, run.output_check.passed) == (True, True, None)
    assert reason in run.output_check.reason.en
    assert any(doubt.en.startswith("the outputs are unchecked") and reason in doubt.en for doubt in run.doubts)
    assert violations(runs.to_data(run), schema("run")) == []


def test_a_check_that_gives_a_figure_and_no_verdict_is_none(tmp_path):
    figure = NUMPY + "        def check(self, o): return {'metric': 'top1', 'value': 0.5}\n"
    run = measured(make_plan(tmp_path, figure, iterations=20))
    assert run.output_check.reason.en == "check gives a figure and no verdict"
    assert not any("unchecked" in doubt.en for doubt in run.doubts)


@pytest.mark.parametrize("nothing", ["None", "[]", "{'boxes': None}"])
def test_an_infer_that_returns_nothing_makes_the_run_invalid(tmp_path, nothing):
    run = measured(make_plan(tmp_path, NUMPY.replace("return x @ self.weights", f"return {nothing}"), iterations=20))
    assert not run.valid
    assert any("infer returns no output at all" in reason.en for reason in run.invalid)


def test_a_workload_that_seeds_at_every_step_is_told_once():
    found = []
    with seeds.watched(found, 3):
        for step in range(1000):
            random.seed(step)
            np.random.seed(np.arange(step, step + 50))
    assert [doubt.en.partition(" itself")[0][:60] for doubt in found] == [
        "the workload seeds random with 0",
        "the workload seeds numpy with [ 0  1  2  3  4  5  6  7  8  9",
    ]


@pytest.mark.parametrize("promise", ["(row for row in x)", "{'logits': [x, map(abs, x)]}"])
def test_an_infer_that_only_promises_makes_the_run_invalid(tmp_path, promise):
    run = measured(make_plan(tmp_path, NUMPY.replace("return x @ self.weights", f"return {promise}"), iterations=20))
    assert not run.valid
    assert any("infer returns a " in reason.en and "nothing of it is done" in reason.en for reason in run.invalid)


def test_a_segment_that_only_promises_is_the_one_to_blame(tmp_path):
    lazy = NUMPY + "        def preprocess(self, x): return (row for row in x)\n"
    reads = lazy.replace("return x @", "return np.stack(list(x) or [np.ones(4)]) @")
    run = measured(make_plan(tmp_path, reads, iterations=20))
    assert any(reason.en.startswith("batch=4 concurrency=1: preprocess returns a generator") for reason in run.invalid)
    assert not any("infer returns" in reason.en for reason in run.invalid)


def test_inputs_that_can_be_read_once_are_refused(tmp_path):
    once = NUMPY.replace("return np.random", "return iter([1]) or np.random")
    with pytest.raises(WorkloadError, match="inputs returned a list_iterator, which the first iteration would use up"):
        measured(make_plan(tmp_path, once))


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("y[:3]", True),
        ("{'logits': y[:3], 'loss': y.sum()}", True),
        ("y", False),
        ("(y.sum(axis=0), y)", False),
        ("[row[:2] for row in y]", False),
        ("['text'] * 4", False),
    ],
)
def test_items_that_were_not_delivered_are_a_doubt(tmp_path, output, told):
    source = NUMPY.replace("return x @ self.weights", f"y = x @ self.weights; return {output}")
    run = measured(make_plan(tmp_path, source, batches=(4,), iterations=20))
    named = "the leading dimension of infer's output is 3 and the batch is 4"
    assert any(named in doubt.en for doubt in run.all_doubts()) is told
    assert run.valid
