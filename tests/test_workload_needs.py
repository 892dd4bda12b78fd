"""Files that a workload declares: absent ones are named before anything is loaded, changed ones are noticed."""

import hashlib
from pathlib import Path

import pytest

from npueval import workloads
from npueval.errors import WorkloadError
from npueval.measuring.journal import HEAD, TAIL, Journal
from npueval.workloads.needs import changed
from support.make_runs import make_case
from support.projects import NUMPY, write_workload


def with_needs(folder: Path, needs: str) -> Path:
    return write_workload(folder, NUMPY.replace("class Model:", f"class Model:\n        needs = {needs}"))


def test_declared_files_are_hashed(tmp_path: Path) -> None:
    with_needs(tmp_path, '("权重/a b.pt",)')
    (tmp_path / "权重").mkdir()
    (tmp_path / "权重" / "a b.pt").write_bytes(b"weights")
    facts = workloads.load("workload.py:Model", tmp_path).facts()
    assert facts.needs == {"权重/a b.pt": hashlib.sha256(b"weights").hexdigest()}


def test_every_absent_file_is_named(tmp_path: Path) -> None:
    with_needs(tmp_path, '("absent.py", "data/absent.npz", "", 3)')
    with pytest.raises(WorkloadError) as caught:
        workloads.load("workload.py:Model", tmp_path)
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 4
    assert "needs 'absent.py': no such file beside the workload" in messages
    assert "needs 3: a need is the path of a file, as text" in messages


def test_a_changed_or_missing_file_is_noticed(tmp_path: Path) -> None:
    for name in ("same", "edited", "gone"):
        (tmp_path / name).write_bytes(name.encode())
    held = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("same", "edited", "gone")}
    assert list(changed(held, tmp_path)) == []
    (tmp_path / "edited").write_bytes(b"other")
    (tmp_path / "gone").unlink()
    assert list(changed(held, tmp_path)) == ["edited", "gone"]


def test_modules_of_the_project_count_as_needed(tmp_path: Path) -> None:
    (tmp_path / "beside_the_workload.py").write_text("SCALE = 2\n", encoding="utf-8")
    write_workload(tmp_path, NUMPY.replace("import numpy as np", "import numpy as np\n    import beside_the_workload"))
    facts = workloads.load("workload.py:Model", tmp_path).facts()
    assert facts.needs == {"beside_the_workload.py": hashlib.sha256(b"SCALE = 2\n").hexdigest()}


@pytest.mark.parametrize(("now", "kept"), [("a", True), ("b", False)])
def test_a_measurement_goes_on_only_with_the_code_that_it_began_with(tmp_path: Path, now: str, kept: bool) -> None:
    notes = Journal(tmp_path)
    notes.start({"workload": {"needs": {"model.py": "a"}}, "inputs": []})
    notes.put_case(0, make_case())
    notes.put(TAIL, {})
    notes.start({"workload": {"needs": {"model.py": now}}, "inputs": []})
    assert (notes.case(0) is not None) == kept
    assert (notes.get(TAIL) is not None) == kept
    assert notes.get(HEAD) == {"workload": {"needs": {"model.py": now}}, "inputs": []}
