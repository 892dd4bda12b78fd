"""The kit goes to another host and comes back: the same code, the same inputs, and every change is noticed."""

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npueval import runs
from npueval.comparing import compare
from npueval.contracts import violations
from npueval.errors import WorkloadError
from npueval.kit import host
from npueval.kit import start as start_module
from npueval.kit.building import build, modules
from npueval.kit.ingest import ingest
from npueval.kit.start import start
from npueval.records import Baseline, Grade
from npueval.resources import schema
from npueval.runs.conditions import DeviceFacts
from support.make_runs import make_case, make_run
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


def test_weights_that_have_changed_here_since_are_noticed(project, tmp_path):
    plan, _kit, result = project
    (tmp_path / "data").mkdir()
    for name in ("workload.py", "weights.py", "data/matrix.bin"):
        (tmp_path / name).write_bytes((plan.root / name).read_bytes())
    np.zeros((4, 4), np.float32).tofile(tmp_path / "data" / "matrix.bin")
    done = ingest(result, replace(plan, root=tmp_path, runs=kits_of(plan, tmp_path)))
    details = {check.name: check.detail for check in done.checks if not check.passed}
    assert done.grade is Grade.B and details["工作负载与权重"] == "与本地不同：data/matrix.bin"


def test_the_kit_says_what_it_lacks(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert start(str(tmp_path / "no.pyz"), []) == 2
    assert "needs numpy and torch" in capsys.readouterr().err


def test_an_old_python_is_told_which_one_the_kit_needs(monkeypatch, capsys, tmp_path):
    """Any Python 3 can read the start of a kit, and reads nothing else of it before it is told."""
    source = Path(start_module.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 4))
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    assert start(str(tmp_path / "no.pyz"), []) == 2
    assert "needs Python 3.10 or newer, this is 3." in capsys.readouterr().err


def test_a_kit_that_was_damaged_on_its_way_says_so(project, capsys, tmp_path):
    _plan, kit, _result = project
    raw = bytearray(kit.path.read_bytes())
    raw[len(raw) // 2] ^= 255
    for content in (bytes(raw), bytes(raw[: len(raw) // 2])):
        (tmp_path / "bad.pyz").write_bytes(content)
        assert start(str(tmp_path / "bad.pyz"), ["--device", "cpu"]) == 2
        assert "kit: the file is damaged, copy it again" in capsys.readouterr().err


@pytest.fixture
def unpacked(project, tmp_path):
    """The content of the kit in a folder, as it lies there when it is about to measure."""
    with zipfile.ZipFile(project[1].path) as archive:
        archive.extractall(tmp_path / "kit")
    return tmp_path / "kit"


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(unpacked, tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert host.main(unpacked, ["--device", "cpu", "--output", "file/there"], tmp_path) == 2
    captured = capsys.readouterr()
    assert "cannot write the result there" in captured.err and "loading the workload" not in captured.err


def test_an_interruption_leaves_no_result(unpacked, tmp_path, capsys, monkeypatch):
    def interrupted(*_arguments, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("npueval.measuring.measure", interrupted)
    assert host.main(unpacked, ["--device", "cpu"], tmp_path) == 130
    assert "kit: interrupted" in capsys.readouterr().err and not list(tmp_path.glob("*.json"))


def test_a_case_without_memory_is_told_and_the_result_not_whole(project, unpacked, tmp_path, capsys, monkeypatch):
    plan, _kit, result = project
    case = make_case(4, 2.0, n=0, complete=False, error="OutOfMemoryError: CUDA out of memory", items=0, window_ns=None)
    run = runs.from_data(json.loads(result.read_text(encoding="utf-8"))["run"])
    broken = replace(run, id="20260101T000000Z-cpu-00aa", complete=False, cases=(run.cases[0], case))
    monkeypatch.setattr("npueval.measuring.measure", lambda *_arguments, **_more: broken)
    assert host.main(unpacked, ["--device", "cpu"], tmp_path) == 4
    captured = capsys.readouterr()
    assert "batch=4 concurrency=1 was not finished: OutOfMemoryError" in captured.err
    done = ingest(Path(captured.out.strip()), replace(plan, runs=kits_of(plan, tmp_path)))
    assert done.grade is Grade.B
    assert [each.detail for each in done.checks if not each.passed] == ["没有测完：batch=4 concurrency=1 止于 0 个样本"]


def kits_of(plan, tmp_path):
    """A folder of Runs that knows the plan's kits and nothing else."""
    shutil.copytree(plan.runs / "kits", tmp_path / "runs" / "kits")
    return tmp_path / "runs"


def test_a_manifest_that_is_no_json_is_one_line(unpacked, tmp_path, capsys):
    (unpacked / "manifest.json").write_text("{", encoding="utf-8")
    assert host.main(unpacked, ["--device", "cpu"], tmp_path) == 2
    assert "the kit's manifest cannot be read" in capsys.readouterr().err


def test_the_npu_is_no_baseline(unpacked, tmp_path, capsys):
    assert host.main(unpacked, ["--device", "npu:0"], tmp_path) == 2
    assert "a baseline is measured on cuda (or cpu)" in capsys.readouterr().err


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
