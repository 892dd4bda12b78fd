"""Files that a workload declares: absent ones are named before anything is loaded, changed ones are noticed."""

import hashlib
from pathlib import Path

import pytest

from npueval import workloads
from npueval.errors import WorkloadError
from npueval.workloads.needs import changed
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
