"""The kit goes to another host and comes back: the same code, the same inputs, and every change is noticed."""

import ast
import io
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
from npueval.errors import NpuevalError, WorkloadError
from npueval.kit import host
from npueval.kit import start as start_module
from npueval.kit.building import build, modules
from npueval.kit.frozen import FrozenPlan
from npueval.kit.ingest import ingest
from npueval.kit.leaflet import leaflet
from npueval.kit.start import start
from npueval.plan import BaselineWish, Dataset, Datasets, Project, Tolerances
from npueval.records import Baseline, Grade
from npueval.reporting import mig_readme
from npueval.resources import schema
from npueval.runs.conditions import DeviceFacts
from support.make_runs import make_case, make_run
from support.projects import make_plan, write_workload

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


WISH = BaselineWish(
    ("*.log",), {"visible_devices": "2", "training_command": "python train.py --device cuda --epochs 8"}
)


def leaflet_of(tmp_path, **changes):
    """The leaflet, and the cells of Mig_Readme §2.6, of a plan with a training command."""
    use = Dataset("digits", "train", "data")
    datasets = Datasets(None, None, None, None, use, use)
    project = Project("small", checkpoint="weights/small.pt")
    plan = make_plan(tmp_path, baseline=WISH, datasets=datasets, project=project, **changes)
    cells = mig_readme.inference(plan, NONE), mig_readme.training(plan, NONE)
    return leaflet(plan, NONE, "gpu_kit.pyz", ["model.py"]), cells


def test_the_leaflet_says_what_mig_readme_says(tmp_path):
    text, cells = leaflet_of(tmp_path)
    for cell in (cell for row in cells for cell in row.values()):
        assert f"：{cell}\n" in text
    for command in ("python gpu_kit.pyz --device cuda:0", "python train.py --device cuda --epochs 8"):
        assert f"```bash\nexport CUDA_VISIBLE_DEVICES=2\n{command}\n```" in text
    for words in ("batch 1、4（目标 4）", "权重 weights/small.pt", "种子 3", "Python ≥ 3.10", "“训练（若适用）”行"):
        assert words in text
    assert "npueval baseline ingest '<gpu_result>'\n" in text


def test_the_leaflet_has_no_training_command_where_none_applies(tmp_path):
    log = Baseline("log", Grade.C, path="logs/train.log")
    plan = make_plan(tmp_path, baseline=WISH)
    text = leaflet(plan, log, "my kit.pyz", [])
    assert text.endswith("## 训练 baseline\n\nN/A（训练指标已见日志 logs/train.log，无需重跑）\n")
    assert "train.py" not in text and "python 'my kit.pyz' --device cuda:0\n" in text


def test_the_packed_code_stands_on_numpy_alone():
    """Everything else (torch among it) is imported where it is needed, and absence is an answer there."""
    code = "import sys; import npueval.kit.host; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"torch", "click", "jsonschema", "ruamel", "psutil", "rich", "markdown_it", "filelock"}
    assert {"kit/host.py", "measuring/worker.py", "devices/cuda.py", "workloads/needs.py"} <= set(modules("kit.host"))
    assert not {"plan.py", "yamlfile.py", "contracts.py", "cli/base.py"} & set(modules("kit.host"))


def one_byte(archive_path, member, target, place=None):
    """The kit with one byte of a member changed."""
    with zipfile.ZipFile(archive_path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    data = bytearray(content[member])
    data[len(data) // 2 if place is None else place] ^= 1
    content[member] = bytes(data)
    with zipfile.ZipFile(target, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    return target


MEMBERS = (
    "plan.json",
    "golden.npz",
    "README.md",
    "project/workload.py",
    "project/data/matrix.bin",
    "project/weights.py",
    "npueval/measuring/loops.py",
)


@pytest.mark.parametrize("member", MEMBERS)
def test_one_changed_byte_in_the_kit_is_refused_before_anything_runs(project, tmp_path, member):
    _plan, kit, _result = project
    done = run_kit(one_byte(kit.path, member, tmp_path / "other.pyz"), tmp_path)
    assert done.returncode == 2
    assert member in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("gpu_result*"))


def test_a_kit_with_another_manifest_is_measured_and_not_known_here(project, tmp_path):
    plan, kit, _result = project
    with zipfile.ZipFile(kit.path) as archive:
        place = archive.read("manifest.json").decode().index('"seed": 3') + len('"seed": ')
    done = run_kit(one_byte(kit.path, "manifest.json", tmp_path / "other.pyz", place), tmp_path)
    taken = ingest(Path(done.stdout.strip()), replace(plan, runs=kits_of(plan, tmp_path)))
    assert taken.grade is Grade.B
    assert [each.name for each in taken.checks if not each.passed] == ["测试包清单", "随机种子"]


@pytest.mark.parametrize("added", ["torch.py", "project/numpy.py", "npueval/__pycache__/errors.cpython-311.pyc"])
def test_what_was_put_into_the_kit_is_refused_before_it_runs(project, tmp_path, added):
    _plan, kit, _result = project
    shutil.copy(kit.path, tmp_path / "other.pyz")
    with zipfile.ZipFile(tmp_path / "other.pyz", "a") as archive:
        archive.writestr(added, "open('ran', 'w')")
    done = run_kit(tmp_path / "other.pyz", tmp_path)
    assert done.returncode == 2 and f"was changed after it was made: {added}" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_weights_that_have_changed_here_since_are_noticed(project, tmp_path):
    plan, _kit, result = project
    (tmp_path / "data").mkdir()
    for name in ("workload.py", "weights.py", "data/matrix.bin"):
        (tmp_path / name).write_bytes((plan.root / name).read_bytes())
    np.zeros((4, 4), np.float32).tofile(tmp_path / "data" / "matrix.bin")
    done = ingest(result, replace(plan, root=tmp_path, runs=kits_of(plan, tmp_path)))
    details = {check.name: check.detail for check in done.checks if not check.passed}
    assert done.grade is Grade.B and details["工作负载与权重"] == "与本地不同：data/matrix.bin"


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory):
    """How to start a Python that finds numpy and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    for path in Path(np.__file__).parents[1].glob("numpy*"):
        (folder / path.name).symlink_to(path)
    return [sys.executable, "-S"], {**os.environ, "PYTHONPATH": str(folder)}


def test_numpy_is_enough_where_the_workload_needs_no_torch(project, numpy_alone, tmp_path):
    plan, kit, _result = project
    python, variables = numpy_alone
    command = [*python, str(kit.path), "--device", "cpu"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120)
    taken = ingest(Path(done.stdout.strip()), replace(plan, runs=kits_of(plan, tmp_path)))
    assert taken.grade is Grade.A and set(taken.run.environment["packages"]) == {"numpy"}
    assert done.stderr.endswith(f"bring it back: npueval baseline ingest {Path(done.stdout.strip()).name}\n")


def test_a_host_without_torch_has_no_gpu_and_is_told_which_python_lacks_it(project, numpy_alone, tmp_path):
    python, variables = numpy_alone
    command = [*python, str(project[1].path), "--device", "cuda:0"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "nothing was measured on cuda" in done.stderr and f"there is no torch in {sys.executable}" in done.stderr


def bare(kit, folder, *arguments, **variables):
    """The kit under a Python that has nothing installed."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    command = [sys.executable, "-S", str(kit), *arguments]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, timeout=60)


def test_a_host_without_numpy_is_told_and_help_answers_all_the_same(project, tmp_path):
    shutil.copy(project[1].path, tmp_path / "my kit.pyz")
    refused = bare("my kit.pyz", tmp_path, "--device", "cpu")
    assert (refused.returncode, refused.stderr) == (2, f"kit: needs numpy in {sys.executable}\n")
    helped = bare("my kit.pyz", tmp_path, "--help")
    assert helped.returncode == 0 and "usage: python my kit.pyz [-h] [--device DEVICE]" in helped.stdout
    misused = bare("my kit.pyz", tmp_path, "--devise", "cpu")
    assert misused.returncode == 2 and "unrecognized arguments: --devise cpu" in misused.stderr


def test_several_ranks_do_not_measure_the_same_card_at_once(project, tmp_path):
    refused = bare(project[1].path, tmp_path, WORLD_SIZE="8")
    assert refused.returncode == 2 and "measures one card, but WORLD_SIZE is 8" in refused.stderr


def test_an_old_python_is_told_which_one_the_kit_needs(monkeypatch, capsys, tmp_path):
    """Any Python can read the start of a kit, and reads nothing else of it before it is told."""
    source = Path(start_module.__file__).read_text(encoding="utf-8")
    assert source.isascii() and "from __future__" not in source
    nodes = list(ast.walk(ast.parse(source, feature_version=(3, 4))))
    assert not [node for node in nodes if isinstance(node, ast.JoinedStr | ast.AnnAssign)]
    assert not [node for node in nodes if isinstance(node, ast.FunctionDef) and (node.returns or node.args.kwonlyargs)]
    monkeypatch.setattr(sys, "version_info", (2, 7, 18))
    assert start(str(tmp_path / "no.pyz"), []) == 2
    assert "needs Python 3.10 or newer, this is " in capsys.readouterr().err


def test_every_file_of_the_kit_is_of_the_oldest_python_that_it_says(project):
    with zipfile.ZipFile(project[1].path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                ast.parse(archive.read(name), name, feature_version=start_module.OLDEST)


def test_a_kit_that_was_damaged_on_its_way_says_so(project, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
    _plan, kit, _result = project
    raw = bytearray(kit.path.read_bytes())
    raw[len(raw) // 2] ^= 255
    for content in (bytes(raw), bytes(raw[: len(raw) // 2]), b"PK\x05\x06", b""):
        (tmp_path / "bad.pyz").write_bytes(content)
        assert start(str(tmp_path / "bad.pyz"), ["--device", "cpu"]) == 2
        assert "kit: the file is damaged, copy it again" in capsys.readouterr().err


def test_there_may_be_no_place_to_unpack_the_kit(monkeypatch, capsys, tmp_path):
    def full(**_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
    assert start(str(tmp_path / "kit.pyz"), []) == 2
    assert "finds no place to unpack itself; name one with TMPDIR" in capsys.readouterr().err
    assert os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"


def test_an_interruption_before_anything_is_measured_is_one_line(monkeypatch, capsys, tmp_path):
    def interrupted(**_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.mkdtemp", interrupted)
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
    assert start(str(tmp_path / "kit.pyz"), []) == 130
    assert capsys.readouterr().err == "kit: interrupted; nothing was measured\n"


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


def test_a_result_for_which_there_is_no_more_room_is_not_lost(project, unpacked, tmp_path, capsys, monkeypatch):
    run = runs.from_data(json.loads(project[2].read_text(encoding="utf-8"))["run"])

    def measure(*_arguments, **_more):
        """What is measured; meanwhile the folder for the results is gone, and a file lies there."""
        (tmp_path / "results").rmdir()
        (tmp_path / "results").write_text("", encoding="utf-8")
        return run

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr("npueval.measuring.measure", measure)
    monkeypatch.setattr(host, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    assert host.main(unpacked, ["--device", "cpu", "--output", "results"], tmp_path) == 0
    captured = capsys.readouterr()
    path = Path(captured.out.strip())
    assert path.parent == tmp_path / "elsewhere" and json.loads(path.read_text(encoding="utf-8"))["run"]["id"] == run.id
    assert f"cannot write the result there: File exists; it lies in {path.parent}" in captured.err
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_path_that_the_terminal_cannot_show_is_no_failure(unpacked, project, tmp_path, monkeypatch):
    run = runs.from_data(json.loads(project[2].read_text(encoding="utf-8"))["run"])
    spoiled = replace(run, environment={"variables": {"CUDA_VISIBLE_DEVICES": "0\udcff"}})
    monkeypatch.setattr("npueval.measuring.measure", lambda *_arguments, **_more: spoiled)
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert host.main(unpacked, ["--device", "cpu", "--output", "结果"], tmp_path) == 0
    assert out.buffer.getvalue().endswith(b".json\n") and b"\\u7ed3\\u679c" in out.buffer.getvalue()
    plan, _kit, _result = project
    (result,) = (tmp_path / "结果").glob("*.json")
    assert ingest(result, replace(plan, runs=kits_of(plan, tmp_path))).grade is Grade.A


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


@pytest.mark.parametrize("content", ["{", "[]", "null", '{"files": 3}', "\udcff", None])
def test_a_kit_without_a_sound_manifest_is_one_line(project, tmp_path, content):
    with zipfile.ZipFile(project[1].path) as archive, zipfile.ZipFile(tmp_path / "other.pyz", "w") as other:
        for name in archive.namelist():
            if name != "manifest.json":
                other.writestr(name, archive.read(name))
        if content is not None:
            other.writestr("manifest.json", content.encode("utf-8", "surrogateescape"))
    refused = bare(tmp_path / "other.pyz", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == "kit: its manifest cannot be read; make it anew: npueval baseline kit\n"


def test_the_npu_is_no_baseline(unpacked, tmp_path, capsys):
    assert host.main(unpacked, ["--device", "npu:0"], tmp_path) == 2
    assert "a baseline is measured on cuda (or cpu)" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_no_measurement(project, tmp_path):
    _plan, kit, _result = project
    expected = {"cuda:77": (3, "nothing was measured on cuda"), "abacus": (2, "no such kind of device")}
    for device, (status, said) in expected.items():
        command = [sys.executable, str(kit.path), "--device", device]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == status and said in done.stderr and not list(tmp_path.iterdir())


def test_each_precision_comes_back_in_a_file_of_its_own(tmp_path):
    plan = make_plan(tmp_path / "project", precisions=("fp32", "fp16"), batches=(1,), target_batch=1)
    done = run_kit(build(plan, tmp_path / "kit.pyz").path, tmp_path, "--output", "results")
    results = [Path(line) for line in done.stdout.splitlines()]
    assert [path.parent for path in results] == [tmp_path / "results"] * 2
    taken = [ingest(path, plan) for path in results]
    assert [done.run.precision for done in taken] == ["fp32", "fp16"]
    assert [done.grade for done in taken] == [Grade.A, Grade.A]


LINKED = """
    import numpy as np
    from pathlib import Path
    from scale import SCALE
    class Model:
        needs = ("matrix.bin",)
        def load(self, device, precision):
            self.weights = np.fromfile(Path(__file__).parent / "matrix.bin", np.float32).reshape(4, 4)
        def inputs(self, batch, seed): return np.random.RandomState(seed).rand(batch, 4).astype(np.float32)
        def infer(self, x): return x @ self.weights * SCALE
"""


def test_links_travel_as_what_they_lead_to(tmp_path):
    """Weights often are links, into a store of versions or to a larger disk. The build loads what it packed."""
    root = tmp_path / "project"
    plan = make_plan(root, workload="code/workload.py:Model", batches=(1,), target_batch=1)
    write_workload(root / "code", LINKED)
    (root / "code" / "scale.py").write_text("SCALE = 2\n", encoding="utf-8")
    np.eye(4, dtype=np.float32).tofile(tmp_path / "store.bin")
    (root / "code" / "matrix.bin").symlink_to(tmp_path / "store.bin")
    kit = build(plan, tmp_path / "kit.pyz")
    with zipfile.ZipFile(kit.path) as archive:
        assert archive.read("project/code/matrix.bin") == np.eye(4, dtype=np.float32).tobytes()
        assert "project/code/scale.py" in archive.namelist()


def test_a_file_that_is_read_and_not_declared_is_noticed_here_and_not_on_the_gpu_host(tmp_path):
    plan = make_plan(tmp_path / "project", LINKED.replace('("matrix.bin",)', "()"))
    (tmp_path / "project" / "scale.py").write_text("SCALE = 2\n", encoding="utf-8")
    np.eye(4, dtype=np.float32).tofile(tmp_path / "project" / "matrix.bin")
    with pytest.raises(WorkloadError, match="cannot run with nothing but what it declares") as caught:
        build(plan, tmp_path / "kit.pyz")
    assert "No such file or directory: 'matrix.bin'" in caught.value.message
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "project" / "workload.py"), 7)
    assert not (tmp_path / "kit.pyz").exists() and not (tmp_path / "project" / "runs").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_only_a_kit_is_replaced_by_a_kit(project, tmp_path, kind):
    target = tmp_path / "train.py"
    target.mkdir() if kind == "folder" else target.write_text("precious", encoding="utf-8")
    with pytest.raises(NpuevalError, match="no kit to be replaced"):
        build(project[0], target)
    assert kind == "folder" or target.read_text(encoding="utf-8") == "precious"


def test_a_kit_that_cannot_be_written_is_one_line(project):
    with pytest.raises(NpuevalError, match="cannot be written"):
        build(project[0], Path("/proc/kit.pyz"))


def test_the_tolerances_of_the_plan_travel(tmp_path):
    plan = make_plan(tmp_path, tolerances=Tolerances(rtol=0.5), precisions=("fp32", "fp16"))
    assert [(frozen.rtol, frozen.atol) for frozen in map(FrozenPlan.of, plan.each())] == [(0.5, None), (None, None)]


def test_a_workload_that_reaches_outside_cannot_travel(tmp_path):
    (tmp_path / "secret.bin").write_bytes(b"x")
    source = SOURCE.replace('"data/matrix.bin")', '"../secret.bin")').replace("data/matrix.bin", "../secret.bin")
    plan = make_plan(tmp_path / "project", source)
    (tmp_path / "project" / "weights.py").write_text("SCALE = 2\n", encoding="utf-8")
    np.eye(4, dtype=np.float32).tofile(tmp_path / "secret.bin")
    with pytest.raises(WorkloadError, match="outside the plan's folder"):
        build(plan, tmp_path / "kit.pyz")
    assert not (tmp_path / "kit.pyz").exists()
