"""The kit goes to another host and comes back: the same code, the same inputs, and every change is noticed."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from npueval import baselines, runs
from npueval.comparing import compare
from npueval.contracts import violations
from npueval.errors import FormatError, WorkloadError
from npueval.kit.building import build, modules
from npueval.kit.ingest import ingest
from npueval.kit.manifest import digest_of
from npueval.kit.start import start
from npueval.records import Baseline, Grade
from npueval.resources import schema
from npueval.runs.conditions import DeviceFacts
from support.make_runs import make_run
from support.projects import make_plan

SOURCE = """
    import numpy as np
    from weights import SCALE
    class Model:
        needs = ("weights.py", "data/matrix.bin")
        def load(self, device, precision):
            self.weights = np.fromfile(__file__.replace("workload.py", "data/matrix.bin"), np.float32).reshape(4, 4)
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4).astype(np.float32)
        def infer(self, x): return x @ self.weights * SCALE
        def check(self, outputs): return {"metric": "top1", "value": 0.9, "n": 10}
"""
NONE = Baseline("none", Grade.NONE, reason="没有日志")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A plan, its kit, and what the kit measured in a folder of its own, with an interpreter of its own."""
    folder = tmp_path_factory.mktemp("带 空格 的项目")
    plan = make_plan(folder, SOURCE)
    (folder / "weights.py").write_text("SCALE = 2\n", encoding="utf-8")
    (folder / "data").mkdir()
    np.eye(4, dtype=np.float32).tofile(folder / "data" / "matrix.bin")
    kit = build(plan, folder / "gpu_kit.pyz")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = run_kit(kit.path, elsewhere)
    assert done.returncode == 0, done.stderr
    return plan, kit, Path(done.stdout.strip())


def run_kit(kit, folder, *arguments):
    hidden = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
    command = [sys.executable, str(kit), "--device", "cpu", *arguments]
    return subprocess.run(command, cwd=folder, env=hidden, capture_output=True, text=True, timeout=120)


def changed(result, tmp_path, change):
    """A copy of the result after ``change``, its digest made right again, as somebody would who means to deceive."""
    data = json.loads(result.read_text(encoding="utf-8"))
    body = {key: value for key, value in data.items() if key not in ("format", "digest")}
    change(body)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps({**data, **body, "digest": digest_of(body)}), encoding="utf-8")
    return path


def test_the_kit_comes_back_as_grade_a_and_fills_its_column(project):
    plan, _kit, result = project
    done = ingest(result, plan)
    assert done.grade is Grade.A and all(check.passed for check in done.checks)
    assert runs.load(done.path).environment["kit"]["grade"] == "A"
    npu = make_run(device=DeviceFacts("npu:0", "npu", 0, "910B"))
    comparison = compare(plan, [npu], NONE, cpu=[done.run])
    assert comparison.rows[0].cpu.value > 0 and comparison.rows[0].gpu.value is None


def test_the_kit_holds_what_it_needs_and_a_leaflet(project):
    plan, kit, _result = project
    with zipfile.ZipFile(kit.path) as archive:
        names = set(archive.namelist())
        leaflet = archive.read("README.md").decode()
    assert {"__main__.py", "plan.json", "golden.npz", "project/workload.py", "project/data/matrix.bin"} <= names
    assert "CUDA_VISIBLE_DEVICES=0" in leaflet and "--device cuda:0" in leaflet and "data/matrix.bin" in leaflet
    assert set(kit.manifest.inputs) == {"1", "4"} and kit.manifest.plan_sha256 == plan.sha256
    assert violations(kit.manifest.to_data(), schema("kit-manifest")) == []


def test_the_packed_code_stands_on_numpy_alone():
    """Everything else (torch among it) is imported where it is needed, and absence is an answer there."""
    code = "import sys; import npueval.kit.host; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"torch", "click", "jsonschema", "ruamel", "psutil", "rich", "markdown_it", "filelock"}
    assert {"kit/host.py", "measuring/worker.py", "devices/cuda.py", "workloads/needs.py"} <= set(modules("kit.host"))
    assert not {"plan.py", "yamlfile.py", "contracts.py", "cli/base.py"} & set(modules("kit.host"))


def one_byte(archive_path, member, target):
    """The kit with one byte of a member changed."""
    with zipfile.ZipFile(archive_path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    data = bytearray(content[member])
    data[len(data) // 2] ^= 1
    content[member] = bytes(data)
    with zipfile.ZipFile(target, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    return target


@pytest.mark.parametrize("member", ["plan.json", "golden.npz", "project/data/matrix.bin", "project/weights.py"])
def test_one_changed_byte_in_the_kit_is_refused_before_anything_runs(project, tmp_path, member):
    _plan, kit, _result = project
    done = run_kit(one_byte(kit.path, member, tmp_path / "other.pyz"), tmp_path)
    assert done.returncode == 2
    assert member in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("gpu_result*"))


def test_a_result_that_was_edited_is_refused(project, tmp_path):
    plan, _kit, result = project
    text = result.read_text(encoding="utf-8").replace('"seed": 3', '"seed": 4', 1)
    (tmp_path / "edited.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="changed after the kit wrote it"):
        ingest(tmp_path / "edited.json", plan)


def forget_kit(body):
    body["manifest"]["tool"] = "9.9"


def other_inputs(body):
    body["run"]["inputs"][0]["sha256"] = "0" * 64


def golden_failed(body):
    body["golden"] = {"passed": False, "reason": "infer：最大误差 0.3"}


def other_files(body):
    body["found"]["plan.json"] = "0" * 64


def other_weights(body):
    body["run"]["workload"]["needs"]["data/matrix.bin"] = "0" * 64


def other_seed(body):
    body["run"]["seed"] = 99


def incomplete(body):
    body["run"]["complete"] = False


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (forget_kit, "测试包清单"),
        (other_inputs, "输入"),
        (golden_failed, "Golden 输出"),
        (other_files, "测试包内容"),
        (other_weights, "工作负载与权重"),
        (other_seed, "随机种子"),
        (incomplete, "完整性"),
    ],
)
def test_what_does_not_match_lowers_the_grade_and_is_named(project, tmp_path, change, check):
    plan, _kit, result = project
    done = ingest(changed(result, tmp_path, change), plan)
    assert done.grade is Grade.B
    assert [each.name for each in done.checks if not each.passed] == [check]
    assert any(check in doubt for doubt in done.run.doubts)


def other_plan(body):
    body["run"]["plan_sha256"] = "f" * 64


def no_time(body):
    body["run"]["cases"][0]["samples"]["infer"] = "AAAAAAAAAAA="


def tiny_window(body):
    body["run"]["cases"][0]["window_ns"] = 1000


def many_items(body):
    body["run"]["cases"][0]["items"] = 10**9


def simulated(body):
    body["run"]["simulated"] = True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_plan, "another version of the plan"),
        (no_time, "zero or less"),
        (tiny_window, "the window is"),
        (many_items, "items out of"),
        (simulated, "simulated"),
        (lambda body: body.update(run={"format": "npueval/run/1"}), "not a complete Run"),
        (lambda body: body["manifest"].update(format="npueval/kit-manifest/9"), "reads up to"),
        (lambda body: body.update(manifest=None), "not a kit manifest"),
    ],
)
def test_what_cannot_be_true_or_is_of_something_else_is_refused(project, tmp_path, change, words):
    plan, _kit, result = project
    with pytest.raises(FormatError) as caught:
        ingest(changed(result, tmp_path, change), plan)
    assert words in str(caught.value)


def test_the_kit_says_what_it_lacks(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert start(str(tmp_path / "no.pyz"), []) == 2
    assert "needs numpy and torch" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_no_measurement(project, tmp_path):
    _plan, kit, _result = project
    done = subprocess.run(
        [sys.executable, str(kit.path), "--device", "abacus"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 3 and "no such kind of device" in done.stderr and not list(tmp_path.iterdir())


def test_each_precision_comes_back_in_a_file_of_its_own(tmp_path):
    plan = make_plan(tmp_path / "project", precisions=("fp32", "fp16"), batches=(1,), target_batch=1)
    done = run_kit(build(plan, tmp_path / "kit.pyz").path, tmp_path, "--output", "results")
    results = [Path(line) for line in done.stdout.splitlines()]
    assert [path.parent for path in results] == [tmp_path / "results"] * 2
    taken = [ingest(path, plan) for path in results]
    assert [done.run.precision for done in taken] == ["fp32", "fp16"]
    assert [done.grade for done in taken] == [Grade.A, Grade.A]


def test_a_workload_that_reaches_outside_cannot_travel(tmp_path):
    (tmp_path / "secret.bin").write_bytes(b"x")
    source = SOURCE.replace('"data/matrix.bin")', '"../secret.bin")').replace("data/matrix.bin", "../secret.bin")
    plan = make_plan(tmp_path / "project", source)
    (tmp_path / "project" / "weights.py").write_text("SCALE = 2\n", encoding="utf-8")
    np.eye(4, dtype=np.float32).tofile(tmp_path / "secret.bin")
    with pytest.raises(WorkloadError, match="outside the plan's folder"):
        build(plan, tmp_path / "kit.pyz")
    assert not (tmp_path / "kit.pyz").exists()


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_exported_times_of_trtexec_are_grade_b_with_their_samples_counted(tmp_path):
    plan = make_plan(tmp_path)
    times = [{"latencyMs": 4 + i % 10 / 10, "computeMs": 3.0} for i in range(400)]
    done = ingest(write(tmp_path, "times.json", times), plan, {"batch": "4", "device": "NVIDIA A100"})
    assert done.grade is Grade.B and done.baseline.fact("device_kind") == "gpu"
    p50 = done.baseline.figure("latency_p50_ms")
    assert (p50.value, p50.n) == (4.4, 400)
    assert baselines.brought(plan) == done.baseline
    assert any("由用户声明" in doubt for doubt in done.baseline.doubts)
    result = compare(plan, [make_run(device=DeviceFacts("npu:0", "npu", 0, "910B"))], NONE, brought=done.baseline)
    assert result.rows[0].gpu.value == 4.4 and result.baseline_column == "gpu"


def test_few_exported_times_give_no_p99(tmp_path):
    done = ingest(write(tmp_path, "times.json", [{"latencyMs": 4.0}] * 100), make_plan(tmp_path))
    assert {figure.metric for figure in done.baseline.figures} == {
        "latency_p50_ms",
        "latency_p95_ms",
        "latency_mean_ms",
    }


def test_a_servers_benchmark_keeps_its_quantities_apart(tmp_path):
    data = {"completed": 98, "num_prompts": 100, "request_throughput": 0.5, "output_throughput": 133.7}
    found = ingest(write(tmp_path, "vllm.json", data | {"median_e2el_ms": 165.5}), make_plan(tmp_path)).baseline
    assert found.grade is Grade.B and found.figure("throughput") is None
    assert (found.figure("output_throughput").value, found.figure("latency_p50_ms").n) == (133.7, 98)
    assert "有 2 个失败的请求" in found.doubts


def test_ais_bench_is_an_ascend_card_and_no_gpu_baseline(tmp_path):
    data = {"NPU_compute_time": {"mean": 13.6, "median": 13.5}, "throughput": 73.0}
    found = ingest(write(tmp_path, "summary.json", data), make_plan(tmp_path)).baseline
    assert found.fact("device_kind") == "npu" and found.grade is Grade.C
    result = compare(make_plan(tmp_path), [], NONE, brought=found)
    assert all(row.gpu.value is None for row in result.rows)


def test_our_own_csv_gives_the_gpu_side_without_its_samples(tmp_path):
    head = "format,kind,metric,batch,concurrency,arrival_rate,side,value,unit,direction,n\n"
    line = "npueval/comparison-csv/1,performance,latency_p50_ms,{},1,,{},4.25,ms,lower,200\n"
    path = write(tmp_path, "compare.csv", "\ufeff" + head + line.format(4, "gpu") + line.format(4, "npu"))
    found = ingest(path, make_plan(tmp_path)).baseline
    assert found.grade is Grade.B and [figure.value for figure in found.figures] == [4.25]


def test_a_log_may_be_brought_too(tmp_path):
    text = (
        "device: NVIDIA T4\nbatch_size: 4\ndataset: imagenet\nAverage latency: 15.5 ms, throughput: 258.0 samples/sec\n"
    )
    found = ingest(write(tmp_path, "infer.log", text), make_plan(tmp_path)).baseline
    assert (found.source, found.grade, found.figure("latency_mean_ms").value) == ("gpu", Grade.C, 15.5)


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


@pytest.mark.parametrize("name", ["model.pt", "out.npy", "x.pkl", "x.npz"])
def test_nothing_is_ever_unpickled(tmp_path, monkeypatch, name):
    import pickle

    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FormatError, match="never unpickled"):
        ingest(tmp_path / name, make_plan(tmp_path / "project"))
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[" * 100_000, "of no known form"),
        ('{"format": "npueval/run/1"}', "not a complete Run"),
        ('{"format": "npueval/kit-result/9"}', "reads up to"),
        ("hello\n", "of no known form"),
        ('[{"latencyMs": -1}]', "zero or less"),
        ("", "of no known form"),
    ],
)
def test_bad_files_are_one_clear_error(tmp_path, content, words):
    with pytest.raises(FormatError) as caught:
        ingest(write(tmp_path, "bad.json", content), make_plan(tmp_path))
    assert words in str(caught.value)
