"""What a project's files demand: each kind of file, each way of writing a version, and what is not a demand."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.gate import needs
from npueval.gate.demands import scanner
from npueval.gate.needs import Needs
from npueval.gate.versions import Version, compatible, satisfies


def project(folder: Path, files: dict[str, str]) -> Needs:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return needs.find(folder)


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        ("README.md", "Python 3.8+", [("python", "python", ">=3.8")]),
        ("README.md", "- Python >= 3.9", [("python", "python", ">=3.9")]),
        ("README.md", "需要 Python 3.8 及以上版本", [("python", "python", ">=3.8")]),
        ("README.md", "Python 3.8-3.11", [("python", "python", ">=3.8,<3.12")]),
        ("README.md", "Python 3.8, 3.9, 3.10", [("python", "python", ">=3.8,<3.11")]),
        ("README.md", "| Python | 3.8 / 3.9 |", [("python", "python", ">=3.8,<3.10")]),
        ("README.md", "Python 3.8, 24.1", [("python", "python", "3.8")]),
        ("README.md", "Python 3.8, CANN 8.0.0", [("python", "python", "3.8"), ("cann", "cann", "8.0.0")]),
        ("README.md", "**CANN**: `7.0.0`", [("cann", "cann", "7.0.0")]),
        ("README.md", "[CANN](https://example.com/a) version 7.0.0", [("cann", "cann", "7.0.0")]),
        ("README.md", "CANN（7.0.0）", [("cann", "cann", "7.0.0")]),
        ("README.md", "CANN (>= 8.0.RC2)", [("cann", "cann", ">=8.0.RC2")]),
        ("README.md", "Ascend-cann-toolkit_7.0.0_linux-aarch64.run", [("cann", "cann", "7.0.0")]),
        ("README.md", "CANN-7.0.0", [("cann", "cann", "7.0.0")]),
        ("README.md", "PyTorch 2.1 or later", [("framework", "torch", ">=2.1")]),
        ("README.md", "torch_npu 2.1.0.post6", [("framework", "torch-npu", "2.1.0.post6")]),
        ("README.md", "| CANN | 8.0.RC2 |", [("cann", "cann", "8.0.RC2")]),
        ("README.md", "CANN 版本：8.0.0", [("cann", "cann", "8.0.0")]),
        ("README.md", "NPU 驱动版本 24.1.rc2", [("driver", "driver", "24.1.rc2")]),
        ("README.md", "NVIDIA driver 535.104", []),
        ("README.md", "CUDA 11.8", [("cuda", "CUDA", "11.8")]),
        ("README.md", "only runs on NVIDIA cards", [("cuda", "GPU only", "")]),
        ("README.md", "适配 Ascend 910B4", [("chip", "910B4", "")]),
        ("README.md", "必须使用官方镜像", [("container", "container only", "")]),
        (
            "README.md",
            "pip install torch==2.1.0+cu118",
            [("framework", "torch", "==2.1.0"), ("cuda", "torch", "+cu118")],
        ),
        ("README.md", "We love pythons and torches.", []),
        ("install.txt", "先安装 CANN 7.0.0", [("cann", "cann", "7.0.0")]),
        ("requirements.txt", "torch==2.1.0", [("framework", "torch", "==2.1.0")]),
        ("requirements.txt", "torch >= 2.0, < 3  # why", [("framework", "torch", ">=2.0,<3")]),
        ("requirements.txt", "flash_attn>=2", [("cuda", "flash-attn", ">=2")]),
        ("requirements.txt", "nvidia-cublas-cu12==12.1", [("cuda", "nvidia-cublas-cu12", "==12.1")]),
        ("requirements.txt", 'numpy<2; python_version < "3.9"', [("package", "numpy", "<2")]),
        ("requirements.txt", "transformers[torch]~=4.40", [("package", "transformers", "~=4.40")]),
        ("requirements.txt", "torch @ https://example.com/torch.whl", [("framework", "torch", "")]),
        ("requirements.txt", "# torch==1.0", []),
        ("requirements.txt", "-r other.txt", []),
        ("requirements.txt", "--extra-index-url https://x.org/whl/cu121", [("cuda", "wheel index", "cu121")]),
        ("pyproject.toml", 'requires-python = ">=3.9,<3.12"', [("python", "python", ">=3.9,<3.12")]),
        ("pyproject.toml", 'dependencies = ["torch>=2.1", "click"]', [("framework", "torch", ">=2.1")]),
        ("pyproject.toml", 'torch = "^2.1"', [("framework", "torch", "^2.1")]),
        ("setup.py", "    python_requires='>=3.7',", [("python", "python", ">=3.7")]),
        ("setup.py", "from torch.utils.cpp_extension import CUDAExtension", [("cuda", "CUDAExtension", "")]),
        ("setup.cfg", "torch>=1.8", [("framework", "torch", ">=1.8")]),
        ("environment.yml", "  - python=3.9.7=h12debd9_1", [("python", "python", "=3.9.7")]),
        ("environment.yml", "  - pytorch::pytorch=2.1", [("framework", "torch", "=2.1")]),
        ("environment.yml", "  - pytorch-cuda=11.7", [("cuda", "pytorch-cuda", "=11.7")]),
        ("environment.yml", "    - torch==2.1.0", [("framework", "torch", "==2.1.0")]),
        ("environment.yml", "name: torch", []),
        (
            "Dockerfile",
            "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04",
            [("cuda", "base image", "nvidia/cuda:11.8.0-devel-ubuntu22.04")],
        ),
        (
            "Dockerfile.npu",
            "FROM quay.io/ascend/cann:8.0.rc2-910b-ubuntu22.04",
            [("container", "base image", "quay.io/ascend/cann:8.0.rc2-910b-ubuntu22.04"), ("cann", "cann", "8.0.rc2")],
        ),
        ("Dockerfile", "FROM python:3.10-slim", [("python", "python", "3.10")]),
        ("Dockerfile", "RUN pip3 install torch==2.1.0 && echo", [("framework", "torch", "==2.1.0")]),
    ],
)
def test_one_line(file: str, line: str, expected: list[tuple[str, str, str]]) -> None:
    assert set(scanner(file)(line.strip())) == set(expected)


@given(st.sampled_from(["README.md", "requirements.txt", "pyproject.toml", "environment.yml", "Dockerfile"]), st.text())
def test_any_line_is_read_without_an_accident(file: str, line: str) -> None:
    for kind, name, constraint in scanner(file)(line):
        assert kind
        assert name
        assert "\n" not in constraint


def test_every_demand_is_quoted_with_its_place(tmp_path: Path) -> None:
    found = project(tmp_path, {"README.md": "# 项目\n\n- Python 3.9+\n", "requirements/npu.txt": "torch==2.1.0\n"})
    assert [(str(need.source), need.source.text) for need in found.items] == [
        ("README.md:3", "- Python 3.9+"),
        ("requirements/npu.txt:1", "torch==2.1.0"),
    ]
    assert found.files == ("README.md", "requirements/npu.txt")


def test_a_project_without_any_of_the_files(tmp_path: Path) -> None:
    assert needs.find(tmp_path) == Needs((), ())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_encodings_of_editors_are_read(tmp_path: Path, encoding: str, end: str) -> None:
    text = f"# 依赖{end}torch==1.8.0{end}" if encoding[3:] not in ("-16-le", "-16-be") else f"numpy<2{end}torch==1.8.0"
    (tmp_path / "requirements.txt").write_bytes(text.encode(encoding))
    found = needs.find(tmp_path)
    assert [str(need) for need in found.about("torch")] == ["torch==1.8.0"]
    assert (found.about("torch")[0].source.line, found.unread) == (2, ())


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe\x00Python 3.9+\r\n\x80", b"\x00\x01\x02torch==2.1.0\x00", b"torch==2.1.0\n" * 50_000]
)
def test_what_is_no_text_of_a_sensible_size_is_named(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "requirements.txt").write_bytes(raw)
    (tmp_path / "README.md").mkdir()
    (tmp_path / "README_logo.PNG").write_bytes(b"\x89PNG\x00\x00")
    assert needs.find(tmp_path) == Needs((), (), ("requirements.txt",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Python 3.9+", encoding="utf-8")
    (tmp_path / "README.md").chmod(0)
    assert needs.find(tmp_path) == Needs((), (), ("README.md",))


def test_links_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to(tmp_path / "README.md")
    assert needs.find(tmp_path) == Needs((), (), ("README.md",))


@pytest.mark.parametrize("name", ["readme.md", "Readme.rst", "docs/INSTALL.md", "docs/install_zh.md", "INSTALL.md"])
def test_names_in_any_case_are_found(tmp_path: Path, name: str) -> None:
    assert project(tmp_path, {name: "CANN 7.0.0\n"}).files == (name,)


@pytest.mark.parametrize(
    ("one", "other", "conflicting"),
    [
        ("CANN 8.0.RC1", "CANN 8.0.RC2", True),
        ("CANN 8.0.RC2", "CANN 8.0.rc2", False),
        ("CANN 8.0", "CANN 8.0.0", False),
        ("CANN 8.0.RC1+", "CANN 8.0.RC2", False),
        ("PyTorch 2.1", "PyTorch 2.1.0", False),
        ("PyTorch 2.1.0", "PyTorch 2.2.0", True),
        ("Python >= 3.12", "Python 3.8", True),
        ("Python >= 3.12", "Python < 3.12", True),
        ("Python >= 3.8", "Python <= 3.8", False),
        ("Python > 3.8", "Python < 3.9", False),
        ("Python 3.8-3.10", "Python 3.10+", False),
        ("Python 3.8-3.10", "Python 3.11+", True),
        ("PyTorch >= 2.7", "PyTorch == 2.1.0", True),
        ("PyTorch >= 2.1", "PyTorch == 2.1.0.post6", False),
        ("CANN >= 8.0.RC3", "CANN <= 8.0.RC2", True),
        ("CANN > 8.0.RC1", "CANN < 8.0.RC3", False),
        ("CANN >= 8.0.RC1", "CANN < 8.0.0", False),
        ("CANN < 8.0", "CANN >= 7.0", False),
    ],
)
def test_conflicts(tmp_path: Path, one: str, other: str, conflicting: bool) -> None:
    assert bool(project(tmp_path, {"README.md": one, "README.en.md": other}).conflicts()) is conflicting


@pytest.mark.parametrize(
    ("lines", "conflicting"),
    [
        (["numpy<2; python_version < '3.9'", "numpy>=2; python_version >= '3.9'"], False),
        (["numpy~=1.24.0", "numpy>=2"], True),
        (["numpy!=1.24.0", "numpy==1.24.0"], True),
        (["numpy==1.24.*", "numpy>=1.24.3"], False),
        (["numpy^1.24", "numpy>=2"], False),
    ],
)
def test_conflicts_of_requirements(tmp_path: Path, lines: list[str], conflicting: bool) -> None:
    assert bool(project(tmp_path, {"requirements.txt": "\n".join(lines)}).conflicts()) is conflicting


def test_a_conflict_is_told_once_however_often_it_is_written(tmp_path: Path) -> None:
    files = {"README.md": "torch 2.1.0\n" * 3, "requirements.txt": "torch==2.2.0\ntorch==2.2.0\n"}
    [(one, other)] = project(tmp_path, files).conflicts()
    assert (str(one.source), str(other.source)) == ("README.md:1", "requirements.txt:1")


VERSIONS = st.builds("{}.{}".format, st.integers(0, 4), st.integers(0, 4))
CLAUSES = st.builds(str.__add__, st.sampled_from([">=", "<=", ">", "<", "==", "!=", "~=", ""]), VERSIONS)


@given(CLAUSES, CLAUSES)
def test_what_one_version_meets_is_no_conflict(one: str, other: str) -> None:
    met = [v for v in GRID if satisfies(v, one) and satisfies(v, other)]
    assert compatible(one, other) is True or not met


GRID = [Version(f"{major}.{minor}.{patch}") for major in range(6) for minor in range(6) for patch in range(3)]
