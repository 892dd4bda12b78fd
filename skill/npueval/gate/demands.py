"""Read the demands out of one line of a project's file: one small scanner a kind of file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

Kind = Literal["python", "framework", "package", "cuda", "cann", "driver", "chip", "container"]
Found = Iterator[tuple[Kind, str, str]]
"""(kind, name, constraint as far as the line writes one)."""

_FRAMEWORKS = frozenset(
    ["torch", "torchvision", "torchaudio", "torch-npu", "mindspore", "tensorflow", "paddlepaddle", "jax"]
)
_NOTABLE = frozenset(["numpy", "transformers", "deepspeed", "accelerate", "onnxruntime", "timm", "mmcv", "mmengine"])
_CUDA_ONLY = re.compile(
    r"flash-attn[\w-]*|xformers|apex|cupy(-cuda\w+)?|nvidia-[\w-]+|tensorrt[\w-]*|pycuda|bitsandbytes|onnxruntime-gpu"
    r"|tensorflow-gpu|paddlepaddle-gpu|faiss-gpu|spconv-cu\d+|cudf[\w-]*|torch2trt|pytorch3d|mmcv-full|numba-cuda"
    r"|cudatoolkit|pytorch-cuda|cuda-[\w-]+"
)
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?P<constraint>(?:[=~!<>^]=?=?\s*v?\d[\w.*+-]*\s*,?\s*)*)(?:[;#@].*)?"
)
_NUMBER = r"v?(?P<version>\d+\.\d+(?:\.[A-Za-z0-9]+)*)"
_MORE = (
    r"(?:\s*(?P<more>\+(?!\w)|及以上|或以上|以上|or (?:later|newer|above|higher))"
    r"|\s*(?:-|~|–|至|到|to)\s*(?P<last>\d+\.\d+)"
    r"|(?:\s*[,/、]\s*\d+\.\d+(?!\.?\w)){0,8}\s*[,/、]\s*(?P<listed>\d+\.\d+)(?!\.?\w))?"
)
_MARKUP = r"[\s*`_\]-]{0,6}"
_SAYS = (
    rf"{_MARKUP}(?:\([^()\s]{{0,200}}\))?{_MARKUP}(?:version|toolkit|版本)?[\s*`_:：|（(-]{{0,8}}"
    r"(?P<operator>>=|<=|==|=|>|<|≥|≤)?[\s`*]{0,4}"
)


def scanner(file_name: str) -> Callable[[str], Found]:
    """The reader for the lines of a file with this name."""
    lowered = file_name.lower()
    if lowered.startswith("dockerfile"):
        return _dockerfile
    if lowered.endswith((".yml", ".yaml")):
        return _conda
    if lowered.endswith((".toml", ".py", ".cfg")):
        return _build_file
    prose = lowered.startswith("readme") or "install" in lowered
    return _requirement if lowered.endswith(".txt") and not prose else _prose


def _requirement(line: str) -> Found:
    """One line of a requirements file."""
    if index := re.search(r"/(cu\d{2,3})\b", line):
        yield "cuda", "wheel index", index[1]
    found = _REQUIREMENT.fullmatch(line)
    if found and not line.startswith(("#", "-")):
        yield from _package(found["name"], found["constraint"])


def _package(name: str, constraint: str) -> Found:
    name = name.lower().replace("_", "-")
    name = {"pytorch": "torch"}.get(name, name)
    constraint = re.sub(r"\s|,\s*$", "", constraint)
    local = re.search(r"\+cu\d+", constraint)
    if local:
        yield "cuda", name, local[0]
    constraint = re.sub(r"\+[\w.]+", "", constraint)
    if name == "python":
        yield "python", name, constraint
    elif name in _FRAMEWORKS:
        yield "framework", name, constraint
    elif _CUDA_ONLY.fullmatch(name):
        yield "cuda", name, constraint
    elif name in _NOTABLE:
        yield "package", name, constraint


def _build_file(line: str) -> Found:
    """pyproject.toml, setup.py, setup.cfg: a key for Python, and every string that reads as a requirement."""
    python = re.match(r"(?:requires-python|python_requires)\s*=\s*[\"']?([^\"'#]+)", line)
    if python:
        yield "python", "python", re.sub(r"[\s,]+$", "", python[1].replace(" ", ""))
        return
    if "CUDAExtension" in line:
        yield "cuda", "CUDAExtension", ""
    pinned = re.match(r"(?P<name>[\w-]+)\s*=\s*\"(?P<constraint>[\^~=<>!\d][^\"]*)\"", line)
    if pinned:
        yield from _package(pinned["name"], pinned["constraint"])
    for quoted in re.findall(r"[\"']([^\"']+)[\"']", line) or [line]:
        yield from _requirement(quoted.strip())


def _conda(line: str) -> Found:
    """One entry of a conda environment file, ``name=version=build`` or pip's form."""
    entry = line.removeprefix("-").strip().strip("\"'").rpartition("::")[2]
    conda = re.fullmatch(r"([A-Za-z][\w.-]*)\s*=\s*(\d[\w.*]*)(?:=\S+)?", entry)
    if line.startswith("-"):
        yield from _package(conda[1], f"={conda[2]}") if conda else _requirement(entry)


def _dockerfile(line: str) -> Found:
    image = re.match(r"FROM\s+(?:--\S+\s+)?(\S+)", line, re.I)
    if image:
        yield from _image(image[1])
    yield from _pip_command(line)


def _image(name: str) -> Found:
    if re.search(r"nvidia/cuda|nvcr\.io|cuda\d+\.\d+", name):
        yield "cuda", "base image", name
    if re.search(r"ascend|cann", name, re.I):
        yield "container", "base image", name
        tagged = re.search(r"cann\S*?:(\d+\.\d+\.(?:rc\d+|\d+))", name, re.I)
        if tagged:
            yield "cann", "cann", tagged[1]
    python = re.search(r"(?:^|/)python:(\d\.\d+)", name)
    if python:
        yield "python", "python", python[1]


def _pip_command(line: str) -> Found:
    command = re.search(r"\bpip3?\s+install\s+(.+)", line)
    for word in command[1].split() if command else ():
        yield from _requirement(word.strip("\"'`"))


_PROSE: tuple[tuple[Kind, str, str], ...] = (
    ("python", "python", r"\bpython"),
    ("framework", "torch-npu", r"\btorch[_-]npu"),
    ("framework", "torch", r"\b(?:py)?torch(?![_-])"),
    ("framework", "mindspore", r"\bmindspore"),
    ("framework", "tensorflow", r"\btensorflow"),
    ("framework", "paddlepaddle", r"\bpaddle(?:paddle)?"),
    ("cuda", "CUDA", r"\bCUDA"),
    ("cann", "cann", r"\bCANN"),
)
_SENTENCES = tuple((kind, name, re.compile(word + _SAYS + _NUMBER + _MORE, re.I)) for kind, name, word in _PROSE)
_DRIVER = re.compile(r"(?:驱动|\bdriver)" + _SAYS + _NUMBER + _MORE, re.I)
_CHIP = re.compile(r"(?<![\w.])(?:Ascend\s?|昇腾\s?)?(910(?:Pro)?[ABC]\d?C?|310P\d?|310B\d?|950(?:DT|PR))(?!\w)")
_ONLY_GPU = re.compile(r"(?:仅支持|只支持|only supports?|only runs? on|must have).{0,20}(?:NVIDIA|CUDA|GPU)", re.I)
_ONLY_IMAGE = re.compile(r"(?:仅|只能|必须|only|must).{0,30}(?:镜像|容器|docker|container)", re.I)


def _prose(line: str) -> Found:
    """A line of a README: sentences, table rows, badges, and pip commands."""
    for kind, name, pattern in _SENTENCES:
        yield from ((kind, name, _constraint(found)) for found in pattern.finditer(line))
    if not re.search(r"nvidia|cuda|gpu", line, re.I):
        yield from (("driver", "driver", _constraint(found)) for found in _DRIVER.finditer(line))
    yield from (("chip", found[1], "") for found in _CHIP.finditer(line))
    if _ONLY_GPU.search(line):
        yield "cuda", "GPU only", ""
    if _ONLY_IMAGE.search(line):
        yield "container", "container only", ""
    yield from _pip_command(line)


def _constraint(found: re.Match[str]) -> str:
    version, operator = found["version"], found["operator"] or ""
    if found["last"]:
        major, minor = found["last"].split(".")
        return f">={version},<{major}.{int(minor) + 1}"
    if found["more"]:
        return f">={version}"
    if found["listed"] and not operator:
        return _of_list(version, found["listed"])
    return f"{operator.replace('≥', '>=').replace('≤', '<=')}{version}"


def _of_list(first: str, last: str) -> str:
    """``Python 3.8, 3.9, 3.10``: any of them; what has another major number belongs to something else."""
    (major, minor), (last_major, last_minor) = (map(int, text.split(".")[:2]) for text in (first, last))
    return f">={first},<{major}.{last_minor + 1}" if major == last_major and last_minor > minor else first
