"""What a project's files demand: each kind of file, each way of writing a version, and what is not a demand."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npueval.gate import needs
from npueval.gate.demands import scanner
from npueval.gate.needs import Needs


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


def test_files_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"\xff\xfe\x00Python 3.9+\r\n\x80")
    (tmp_path / "requirements.txt").mkdir()
    assert needs.find(tmp_path).files == ("README.md",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Python 3.9+", encoding="utf-8")
    (tmp_path / "README.md").chmod(0)
    assert needs.find(tmp_path) == Needs((), ())


def test_links_that_lead_nowhere_and_giants_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to(tmp_path / "README.md")
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\n" * 50_000, encoding="utf-8")
    assert needs.find(tmp_path) == Needs((), ())


@pytest.mark.parametrize(
    ("one", "other", "conflicting"),
    [
        ("CANN 8.0.RC1", "CANN 8.0.RC2", True),
        ("CANN 8.0.RC2", "CANN 8.0.rc2", False),
        ("CANN 8.0", "CANN 8.0.0", False),
        ("CANN 8.0.RC1+", "CANN 8.0.RC2", False),
        ("PyTorch 2.1", "PyTorch 2.1.0", False),
        ("PyTorch 2.1.0", "PyTorch 2.2.0", True),
    ],
)
def test_conflicts(tmp_path: Path, one: str, other: str, conflicting: bool) -> None:
    assert bool(project(tmp_path, {"README.md": one, "README.en.md": other}).conflicts()) is conflicting
