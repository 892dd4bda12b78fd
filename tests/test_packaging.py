"""The wheel: what travels in it, what it asks for, and that it works from a zip."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("轮 子")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


def below(folder: str) -> Iterator[str]:
    yield from (path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / folder).rglob("*") if path.is_file())


def test_schemas_templates_and_the_skill_travel_in_it(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"npueval/{name}" for folder in ("schemas", "doc_templates") for name in below(folder)}
    assert len(wanted) > 15
    assert wanted <= held
    assert {"npueval/SKILL.md", "npueval/py.typed", "npueval/references/cli.md"} <= held
    assert not any(name.startswith(("tests/", "scripts/", "examples/")) for name in held)


def test_the_base_install_leaves_torch_and_numpy_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = message_from_bytes(archive.read(name))
    base = [each for each in metadata.get_all("Requires-Dist") if "extra ==" not in each]
    assert not any(each.startswith(("torch", "paddle")) for each in base)
    assert [each for each in base if each.startswith("numpy")] == ["numpy>=1.23"]
    assert set(metadata.get_all("Provides-Extra")) >= {"torch", "npu", "html", "mcp", "paddle", "dev"}


def test_it_works_from_a_zip(wheel: Path, tmp_path: Path) -> None:
    project = tmp_path / "项目 一"
    project.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(wheel), "PYTHONIOENCODING": "utf-8"}
    probe = "import npueval; print(npueval.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", probe], env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.stdout.startswith(str(wheel))
    for words in (["init", str(project)], ["lint", str(project)]):
        command = [sys.executable, "-m", "npueval", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
    assert done.stdout == "clean\n"
    assert (project / "mig_docs" / "working" / "Compare.md").is_file()
