"""The profiling pass: apart from the timing, honest about what the trace has lost, and never the end of a Run."""

import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from npueval import measuring, runs
from npueval.contracts import violations
from npueval.devices import open_device
from npueval.devices.npu import _works as on_npu
from npueval.language import Text
from npueval.measuring import traces
from npueval.measuring.traces import ITERATION
from npueval.reporting import bottleneck, page, profiled
from npueval.resources import schema
from npueval.runs.conditions import Operator, Profile
from support import dossiers
from support.make_runs import make_run
from support.outline import parse
from support.projects import NUMPY, TORCH, make_plan

HARDWARE = 2


def row(name, at, lasts, pid=1, tid=1, **more):
    return {"ph": "X", "name": name, "ts": f"{at:.3f}", "dur": lasts, "pid": pid, "tid": tid, **more}


def process(pid, name):
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def task(name, at, lasts, kind="AI_CORE"):
    return row(name, at, lasts, HARDWARE, 7, args={"Task Type": kind})


def ascend(iterations=10, lost=(), partly=()):
    """A trace as torch_npu writes it: the marks on the host, the hardware's tasks, of some iterations none or few."""
    events = [process(1, "Python"), process(HARDWARE, "Ascend Hardware"), process(3, "CANN")]
    for number in range(iterations):
        at = 1_700_000_000_000_000 + 1000 * number
        events += [row(ITERATION, at, 900), row("launch", at + 1, 5, 3), row("aten::mm", at, 3)]
        if number in lost:
            continue
        events += [task("MatMul", at + 100, 300.5), task("EVENT_WAIT", at + 401, 400, "EVENT_WAIT_SQE")]
        if number not in partly:
            events += [task("MatMul", at + 850, 20), task("Cast", at + 880, 10)]
    return events


@pytest.fixture
def read(tmp_path):
    def reads(events, works=on_npu, iterations=10):
        path = tmp_path / "trace_view.json"
        path.write_text(json.dumps(events), encoding="utf-8")
        return traces.read(path, works, iterations)

    return reads


def test_a_whole_trace_is_counted_without_its_waits(read):
    assert read(ascend()) == traces.Seen(
        10, 0, 3_305_000, (Operator("MatMul", 20, 3_205_000), Operator("Cast", 10, 100_000))
    )


@pytest.mark.parametrize("how", ["lost", "partly"])
def test_a_lost_head_is_told_and_only_whole_iterations_count(read, how):
    seen = read(ascend(**{how: (0, 1)}))
    assert (seen.complete, seen.lost_first) == (8, 2)
    assert seen.operators[0] == Operator("MatMul", 16, 8 * 320_500)


def test_a_gap_in_the_middle_is_not_called_a_lost_head(read):
    seen = read(ascend(lost=(5,)))
    assert (seen.complete, seen.lost_first) == (9, 0)


def test_marks_that_are_missing_are_iterations_lost(read):
    assert (read(ascend(7)).complete, read(ascend(7)).lost_first) == (7, 3)


@pytest.mark.parametrize("events", [ascend(lost=range(10)), ascend(0), [task("MatMul", 5, 1)]])
def test_without_rows_or_marks_nothing_is_claimed(read, events):
    assert read(events) == traces.Seen(0, 0, 0, ())


def test_an_operator_s_time_is_without_those_that_it_calls(read):
    events = [row(ITERATION, 0, 100), row("linear", 0, 50), row("t", 5, 10), row("addmm", 20, 25), row("copy", 22, 3)]
    events += [row("linear", 60, 10), row("linear", 0, 7, tid=2)]
    seen = read(events, lambda _row, _process: True, 1)
    assert {each.name: (each.count, each.total_ns) for each in seen.operators} == {
        "linear": (3, 32_000),
        "t": (1, 10_000),
        "addmm": (1, 22_000),
        "copy": (1, 3_000),
    }


def test_the_device_s_copy_of_a_mark_is_no_iteration(read):
    marks = [row(ITERATION, 0, 100), row(ITERATION, 40, 20, 9, cat="gpu_user_annotation")]
    kernel = row("gemm", 45, 10, 9, cat="kernel")
    seen = read([*marks, kernel], lambda each, _process: each.get("cat") == "kernel", 1)
    assert (seen.complete, seen.operators) == (1, (Operator("gemm", 1, 10_000),))


def profiled_run(plan, **options):
    return measuring.measure(plan, **{"sampling_s": 0, "profiled": True, **options})


def test_torch_on_the_cpu_is_profiled_and_its_trace_kept(tmp_path):
    pytest.importorskip("torch")
    plan = make_plan(tmp_path, TORCH, iterations=20)
    run = profiled_run(plan)
    made = run.profile
    assert (made.iterations, made.complete, made.lost_first, made.batch, made.reason) == (10, 10, 0, 4, None)
    assert {each.name: each.count for each in made.operators}["aten::addmm"] == 10
    assert 0 < sum(each.total_ns for each in made.operators) <= made.total_ns
    assert {case.n for case in run.cases} == {20}
    assert made.file == f"profiles/{run.id}/trace.json.gz"
    assert json.loads(gzip.decompress((plan.runs / made.file).read_bytes()))["traceEvents"]
    path = runs.save(run, plan.runs)
    assert violations(json.loads(path.read_bytes()), schema("run")) == []
    assert runs.load(path).profile == made
    assert sorted(item.name for item in plan.runs.iterdir()) == [path.name, "profiles"]


def test_without_torch_there_is_none_with_the_reason(tmp_path):
    run = profiled_run(make_plan(tmp_path, NUMPY, iterations=20))
    assert run.profile.reason.en == "the workload does not use torch"
    assert not (tmp_path / "runs" / "profiles").exists()


def test_a_run_without_the_pass_has_none_and_reads_back_without_the_field():
    data = runs.to_data(make_run())
    assert data.pop("profile") is None
    assert violations(data, schema("run")) == []
    assert runs.from_data(data).profile is None


DIES = """
        def infer(self, x):
            if torch.autograd._profiler_enabled(): {}
            return self.net(x)
"""


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("import os; os.abort()", "broke off before the profile was made: the process was ended by SIGABRT in infer"),
        ("raise OSError('no rights')", "the profiler failed: infer raised OSError: no rights"),
    ],
)
def test_what_ends_the_pass_costs_the_run_nothing(tmp_path, ending, said):
    pytest.importorskip("torch")
    source = TORCH[: TORCH.index("        @torch.no_grad()")].rstrip() + DIES.format(ending)
    run = profiled_run(make_plan(tmp_path, source, iterations=20))
    assert run.valid
    assert {case.n for case in run.cases} == {20}
    assert said in run.profile.reason.en
    assert run.profile.file is None


class FakeProfiler:
    """Stands for torch_npu.profiler: leaves the trace that it was given, where the real one leaves its own."""

    ProfilerActivity = SimpleNamespace(CPU="cpu", NPU="npu")

    def __init__(self, events):
        self.events = events

    def tensorboard_trace_handler(self, folder, worker_name=None):
        def keep():
            home = Path(folder) / f"{worker_name}_1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
            home.mkdir(parents=True)
            (home / "trace_view.json").write_text(json.dumps(self.events), encoding="utf-8")

        return keep if self.events else lambda: None

    def profile(self, *, activities, on_trace_ready):
        assert activities == ["cpu", "npu"]
        return SimpleNamespace(start=lambda: None, stop=on_trace_ready)


SIMULATED = """
    import torch
    class Model:
        def load(self, device, precision): self.weights = torch.ones(4, 4).to(device)
        def inputs(self, batch, seed): return torch.ones(batch, 4)
        def infer(self, x): return torch.mm(x, self.weights)
"""


def on_card(tmp_path, monkeypatch, profiler):
    if profiler:
        monkeypatch.setattr(sys.modules["torch_npu"], "profiler", profiler, raising=False)
    return profiled_run(make_plan(tmp_path, SIMULATED, device="npu"), device=open_device("npu"))


def test_the_simulated_card_is_profiled_after_the_timing(tmp_path, npu, monkeypatch):
    npu.script.costs = {"aten.mm": 2_000_000}
    run = on_card(tmp_path, monkeypatch, FakeProfiler(ascend(lost=(0, 1))))
    assert set(run.case(4).samples["infer"]) == {2_001_000}
    assert (run.profile.complete, run.profile.lost_first) == (8, 2)
    assert run.profile.file.endswith("/npueval_1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    assert (tmp_path / "runs" / run.profile.file).exists()


@pytest.mark.parametrize(
    ("profiler", "said"),
    [
        (None, "this torch_npu has no profiler"),
        (FakeProfiler([]), "the profiler left no trace"),
        (FakeProfiler([process(1, "Python")]), "the trace holds no operator of the device"),
        (SimpleNamespace(), "the profiler failed: AttributeError"),
    ],
)
def test_why_a_card_has_no_profile(tmp_path, npu, monkeypatch, profiler, said):
    run = on_card(tmp_path, monkeypatch, profiler)
    assert run.valid
    assert run.profile.reason.en.startswith(said)


MADE = Profile(
    "profiles/x/trace_view.json",
    "torch_npu.profiler 2.6.0",
    4,
    10,
    8,
    2,
    4_000_000,
    (Operator("MatMul", 16, 3_000_000), Operator("Cast", 8, 1_000_000)),
)
TOP = "MatMul 占 75%（16 行，每行 0.1875 ms）、Cast 占 25%（8 行，每行 0.125 ms）"
HELD = "10 次迭代中 8 次完整，开头缺 2 次，只按完整的 8 次计"


@pytest.fixture
def dossier(tmp_path):
    wanted = dossiers.project(tmp_path / "project")
    machine = dossiers.environment_of(tmp_path / "host")
    made = dossiers.made_on("npu", [dossiers.lifelike(4, 5.0)], profile=MADE)
    return dossiers.dossier(wanted, machine, made)


def changed(dossier, **changes):
    return dossiers.with_run(dossier, dossier.npu_run, **changes)


def test_the_documents_name_the_file_and_its_heaviest_operators(dossier):
    assert profiled.path(dossier) == (
        f"runs/profiles/x/trace_view.json（torch_npu.profiler 2.6.0，batch 4，{HELD}；设备时间前列：{TOP}）"
    )
    said = bottleneck.edits(dossier)[0].value
    assert said.endswith(f"；profile 中设备时间前列：{TOP}（{HELD}，runs/profiles/x/trace_view.json）")


def test_a_whole_profile_says_so(dossier):
    whole = changed(dossier, profile=replace(MADE, complete=10, lost_first=0))
    assert "10 次迭代均完整；" in profiled.path(whole)


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        (None, "N/A（本次未采集 profiling）"),
        (Profile(reason=Text("没有 profiler", "none")), "N/A（没有 profiler）"),
    ],
)
def test_without_a_profile_the_documents_say_why(dossier, profile, said):
    without = changed(dossier, profile=profile)
    assert profiled.path(without) == said
    assert profiled.heaviest(without) is None


def test_a_simulated_profile_names_no_operator(dossier):
    assert "模拟设备，不作结论" in profiled.path(changed(dossier, simulated=True))
    assert "MatMul" not in bottleneck.edits(changed(dossier, simulated=True))[0].value


def test_the_page_lists_the_operators_and_links_the_trace(dossier):
    root = parse(page.render(dossier, home="../.."))
    shown = next(part for part in root.all("section") if part.attributes["id"] == "profile")
    rows = [[cell.text for cell in row.all("th", "td")] for row in shown.one("tbody").all("tr")]
    assert [row[0] for row in rows] == [operator.name for operator in MADE.operators]
    assert rows[0][3] == str(MADE.operators[0].count)
    assert HELD in shown.text
    assert shown.one("a").attributes["href"] == "../../runs/profiles/x/trace_view.json"


@pytest.mark.parametrize(
    ("profile", "said"),
    [(None, "本次未采集 profiling"), (Profile(reason=Text("没有 profiler", "none")), "N/A（没有 profiler）")],
)
def test_the_page_says_why_there_is_no_profile(dossier, profile, said):
    root = parse(page.render(changed(dossier, profile=profile)))
    shown = next(part for part in root.all("section") if part.attributes["id"] == "profile")
    assert said in shown.text
    assert not list(shown.all("table"))
