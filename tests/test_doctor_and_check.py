"""The two commands as a user runs them: text, JSON, exit status, environment.md, bad input."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from npueval import environment, gate
from npueval.documents import layout
from npueval.errors import Exit
from npueval.gate import diagnosis
from npueval.gate.diagnosis import Diagnosis
from support.machines import Machine, working

PLAN = """
format: npueval/plan/1
project: {name: digits}
workload: workload.py:Digits
device: npu
precision: fp32
batches: [1, 8]
target_batch: 8
seed: 1
unit: images/s
segments: [infer]
datasets: {short_test: null, smoke: null, golden: null, full: null, training: null, inference: null}
baseline: {logs: []}
documents: mig_docs
request: {performance: true, accuracy: false, agreed: true}
"""


def npueval(*words: str, folder: Path, machine: Machine | None = None) -> "subprocess.CompletedProcess[str]":
    pretended = machine.variables if machine else {}
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **pretended}
    command = [sys.executable, "-m", "npueval", *words]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, cwd=folder)


def stored(found: Diagnosis, path: Path) -> str:
    path.write_text(json.dumps({"ok": True, "data": found.as_json()}, ensure_ascii=False), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two stored readings: inside a container that hides the device, and outside, where all is well."""
    folder = tmp_path_factory.mktemp("readings 读数")
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    hidden = Machine(folder / "in").container().npu_smi("refused_8005").torch()
    inside = gate.examine(folder / "in", environment=environment.record(folder, host=hidden.host))
    seen = environment.record(folder, host=working(folder / "out").host)
    packages = {"torch": "2.6.0", "torch_npu": "2.6.0"}
    seen = replace(seen, packages=packages, python=replace(seen.python, version="3.11.9"))
    outside = gate.examine(folder / "out", environment=seen)
    return {"inside": stored(inside, folder / "in.json"), "outside": stored(outside, folder / "out.json")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "我的 project"
    folder.mkdir()
    (folder / "npueval.yaml").write_text(PLAN, encoding="utf-8")
    layout.create(folder / layout.FOLDER)
    return folder


def data(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_doctor_reads_this_machine(project: Path, tmp_path: Path) -> None:
    done = npueval("doctor", str(project), "--json", folder=tmp_path, machine=Machine(tmp_path).torch())
    found = diagnosis.from_json(data(done)["data"])
    assert done.returncode == (Exit.OK if found.runnable else Exit.FINDINGS)
    assert found.environment.probe.fact("torch", "version") == "2.6.0"
    assert json.loads(json.dumps(found.as_json())) == data(done)["data"]


def test_merge_says_so_and_fills_environment_md(project: Path, readings: dict[str, str]) -> None:
    written = project / layout.FOLDER / "working" / "environment.md"
    before = written.read_text(encoding="utf-8")
    pair = (readings["inside"], readings["outside"])
    dry = npueval("doctor", ".", "--merge", *pair, "--dry-run", "--diff", folder=project)
    assert written.read_text(encoding="utf-8") == before
    assert "+- 判定：AUTO" in dry.stdout
    done = npueval("doctor", ".", "--merge", *pair, "--lang", "en", folder=project)
    assert (done.returncode, done.stdout.splitlines()[0]) == (Exit.OK, "AUTO: tests can run here")
    assert "environment.md is left" not in done.stderr
    text = written.read_text(encoding="utf-8")
    assert "- 判定：AUTO" in text
    assert "沙箱限制" not in text.split("设备可见性")[0]
    assert text.index("[沙箱外（采信）]") < text.index("[沙箱内]")


@pytest.mark.parametrize(("outer", "verdict"), [("outside", "AUTO"), ("inside", "MANUAL_STOP")])
def test_the_exit_status_is_what_help_says(project: Path, readings: dict[str, str], outer: str, verdict: str) -> None:
    done = npueval("doctor", ".", "--merge", readings["inside"], readings[outer], "--json", folder=project)
    assert data(done)["data"]["gate"] == verdict
    assert done.returncode == (Exit.OK if verdict == "AUTO" else Exit.FINDINGS)
    told = " ".join(npueval("doctor", "--help", folder=project).stdout.split())
    assert "Exit status 0 where tests can run here; 1 for MANUAL_STOP, UNKNOWN" in told


def test_merge_twice_is_once(project: Path, readings: dict[str, str]) -> None:
    pair = (readings["inside"], readings["outside"])
    npueval("doctor", ".", "--merge", *pair, folder=project)
    written = project / layout.FOLDER / "working" / "environment.md"
    first = written.read_bytes()
    npueval("doctor", ".", "--merge", *pair, folder=project)
    assert written.read_bytes() == first


def test_merge_and_check_hold_the_readings_against_the_project(project: Path, readings: dict[str, str]) -> None:
    (project / "README.md").write_text("需要 CANN 7.0.0 与驱动 25.5.0\n", encoding="utf-8")
    done = npueval("doctor", str(project), "--merge", readings["inside"], readings["outside"], folder=project.parent)
    assert (done.returncode, done.stdout.partition(":")[0]) == (Exit.FINDINGS, "MANUAL_STOP")
    text = (project / layout.FOLDER / "working" / "environment.md").read_text(encoding="utf-8")
    assert "驱动版本：cann 7.0.0（README.md:1）；driver 25.5.0（README.md:1）" in text
    asked = npueval("check", "npueval.yaml", "--diagnosis", readings["outside"], folder=project)
    assert asked.returncode == Exit.NOT_EXECUTED
    assert "文档要求 CANN 7.0.0（README.md:1）" in asked.stdout


def test_a_project_without_documents_gets_none(tmp_path: Path, readings: dict[str, str]) -> None:
    npueval("doctor", ".", "--merge", readings["inside"], readings["outside"], folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--merge", "a.json", "b.json"], ["nowhere"], ["--timeout", "0"]])
def test_bad_use_is_one_clear_line(tmp_path: Path, words: list[str]) -> None:
    done = npueval("doctor", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("npueval: ")


def test_check_with_an_open_gate(project: Path, readings: dict[str, str]) -> None:
    done = npueval("check", "npueval.yaml", "--diagnosis", readings["outside"], "--json", folder=project)
    assert done.returncode == Exit.OK
    assert [part["title"] for part in data(done)["data"]["parts"]] == [
        "测量范围",
        "实验设置",
        "指标口径",
        "基准复现",
        "性能报告模板",
    ]


def test_check_with_a_closed_gate(project: Path, readings: dict[str, str]) -> None:
    done = npueval("check", "npueval.yaml", "--diagnosis", readings["inside"], "--lang", "en", folder=project)
    assert done.returncode == Exit.NOT_EXECUTED
    assert done.stdout.startswith("## Why nothing was executed")
    as_json = npueval("check", "npueval.yaml", "--diagnosis", readings["inside"], "--json", folder=project)
    assert as_json.returncode == Exit.NOT_EXECUTED
    assert data(as_json)["data"]["format"] == "npueval/not-executed/1"


def test_check_writes_the_commands_as_files(project: Path, readings: dict[str, str]) -> None:
    npueval("check", "npueval.yaml", "--diagnosis", readings["outside"], "--scripts", "命令 x", folder=project)
    scripts = project / "命令 x"
    assert {path.suffix for path in scripts.iterdir()} == {".sh", ".ps1"}
    for script in scripts.glob("*.sh"):
        subprocess.run(["bash", "-n", str(script)], check=True)
        assert b"\r" not in script.read_bytes()
    assert (scripts / "npu.ps1").read_bytes().startswith(b"\xef\xbb\xbf")


def test_check_names_what_is_wrong_with_the_plan(tmp_path: Path) -> None:
    (tmp_path / "npueval.yaml").write_text("format: npueval/plan/1\n", encoding="utf-8")
    done = npueval("check", "npueval.yaml", folder=tmp_path)
    assert done.returncode == Exit.BAD_INPUT
    assert "Traceback" not in done.stderr
