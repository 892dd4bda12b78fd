"""The machine facts: read from a pretended machine, redacted, told apart by a digest, never changed."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from npueval import environment
from npueval.environment import Difference, Environment, ascend, machine, probe
from npueval.environment.host import Host, Ran
from npueval.environment.npu_smi import Outcome
from npueval.environment.redaction import redact
from npueval.errors import FormatError
from support.machines import HOME, TORCH, TORCH_NPU, Machine, working

NO_CANN = 'raise ImportError("libhccl.so: cannot open shared object file: No such file or directory.")'


@pytest.fixture
def good(tmp_path: Path) -> Environment:
    return environment.record(tmp_path, host=working(tmp_path).host)


def test_a_working_machine(good: Environment) -> None:
    assert good.devices == ("Ascend910B3", "Ascend910B3")
    assert (good.cann, good.driver) == ("8.2.RC1", "24.1.rc3")
    assert good.ascend.set_env == "loaded"
    assert good.ascend.cards == ("/dev/davinci0", "/dev/davinci1")
    assert good.probe.worked("operator")
    assert good.probe.fact("torch_npu", "jit_compile_off") is True
    assert good.sandbox == ()


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = working(tmp_path)
    here.torch(TORCH + "\nimport os; os.mkdir('kernel_meta')\n")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    monkeypatch.chdir(tmp_path)
    environment.record(tmp_path, host=here.host)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_there_and_back(good: Environment) -> None:
    stored = json.loads(json.dumps(good.as_json()))
    assert environment.from_json(stored) == good
    assert environment.from_json(stored).digest == good.digest == stored["digest"]


@pytest.mark.parametrize("data", [{"format": "npueval/environment/2"}, {}, {"format": "npueval/environment/1"}])
def test_what_is_not_ours_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(FormatError):
        environment.from_json(data)


def test_the_moment_does_not_make_another_environment(good: Environment) -> None:
    warmer = tuple(replace(chip, temperature_c=90.0, hbm_used_mb=60000) for chip in good.npu.chips)
    later = replace(good, taken_at="2031-01-01T00:00:00+00:00", load=(9.0,), npu=replace(good.npu, chips=warmer))
    assert later.digest == good.digest
    assert environment.difference(good, later) == []


def test_a_difference_names_its_field_and_both_values(good: Environment) -> None:
    other = replace(good, packages={**good.packages, "torch": "2.7.1"}, variables={"TASK_QUEUE_ENABLE": "2"})
    assert other.digest != good.digest
    found = environment.difference(good, other)
    assert Difference("packages.torch", good.packages["torch"], "2.7.1") in found
    assert Difference("variables.TASK_QUEUE_ENABLE", None, "2") in found
    assert environment.difference(good.as_json(), other.as_json()) == found


def test_an_empty_machine(tmp_path: Path) -> None:
    bare = environment.record(tmp_path, host=Machine(tmp_path).torch().host)
    assert bare.npu.outcome is Outcome.NOT_FOUND
    assert (bare.cann, bare.driver, bare.ascend.cards) == (None, None, ())
    assert bare.commit is None


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("x86_64-linux/ascend_toolkit_install.info", "8.0.RC2"),
        ("ascend_nnae_install.info", "8.0.RC2"),
        ("aarch64-linux/ascend_nnrt_install.info", "8.0.RC2"),
    ],
)
def test_cann_version_files(tmp_path: Path, info: str, expected: str) -> None:
    here = Machine(tmp_path).file(f"{HOME}/{info}", f'package="x"\nversion={expected}\narch=any\n')
    found = ascend.look(here.host).cann
    assert found is not None
    assert (found.version, found.home) == (expected, HOME)


def test_kernels_name_their_version_otherwise(tmp_path: Path) -> None:
    here = Machine(tmp_path).file(
        "/usr/local/Ascend/cann/opp_kernel/version.info", "Version=7.6.0\nversion_dir=8.5.0\n"
    )
    found = ascend.look(here.host).cann
    assert found is not None
    assert found.version == "8.5.0"


def test_a_driver_in_another_place(tmp_path: Path) -> None:
    here = Machine(tmp_path).file("/etc/ascend_install.info", "Driver_Install_Path_Param=/opt/Ascend\n")
    here.file("/opt/Ascend/driver/version.info", "Version=25.5.2\n").file(
        "/opt/Ascend/firmware/version.info", "Version=7.8\n"
    )
    assert ascend.look(here.host).driver == ascend.Driver("25.5.2", "7.8", "/opt/Ascend/driver/version.info")


@pytest.mark.parametrize(
    ("variables", "state"),
    [
        ({}, "not loaded"),
        ({"ASCEND_HOME_PATH": HOME, "LD_LIBRARY_PATH": f"{HOME}/lib64:/usr/lib"}, "loaded"),
        ({"ASCEND_HOME_PATH": HOME}, "incomplete"),
        ({"ASCEND_TOOLKIT_HOME": "/nowhere"}, "points nowhere"),
    ],
)
def test_set_env(tmp_path: Path, variables: dict[str, str], state: str) -> None:
    here = Machine(tmp_path, variables).cann("8.0.0", loaded=False)
    assert ascend.look(here.host).set_env == state


def test_the_import_fails_without_cann(tmp_path: Path) -> None:
    found = probe.ask(Machine(tmp_path).torch().torch_npu(NO_CANN).host)
    plugin = found.stage("torch_npu")
    assert found.worked("torch")
    assert plugin is not None
    assert "libhccl.so" in (plugin.error or "")
    assert found.stage("operator") is None


def test_the_import_succeeds_and_the_operator_fails(tmp_path: Path) -> None:
    here = Machine(tmp_path).torch().torch_npu(fails="SetPrecisionMode: error code is 500001")
    found = probe.ask(here.host)
    assert found.worked("torch_npu")
    stage = found.stage("operator")
    assert stage is not None
    assert stage.ok is False
    assert "500001" in (stage.error or "")


def test_a_wrong_result_is_a_failure(tmp_path: Path) -> None:
    stage = probe.ask(Machine(tmp_path).torch().torch_npu(total=7.0).host).stage("operator")
    assert stage is not None
    assert "should sum to 8" in (stage.error or "")


def test_without_a_device_no_operator_is_tried(tmp_path: Path) -> None:
    found = probe.ask(Machine(tmp_path).torch().torch_npu(count=0).host)
    assert found.worked("torch_npu")
    assert found.stage("operator") is None


def test_a_side_question_that_fails_spoils_nothing(tmp_path: Path) -> None:
    source = TORCH_NPU.format(count=1, on_set_device="pass", total=8.0, cann="8.2.RC1").replace(
        "is_jit_compile_false = staticmethod(lambda: True)", "is_jit_compile_false = staticmethod(lambda: 1 / 0)"
    )
    first, second = (
        environment.record(tmp_path, host=Machine(tmp_path).torch().torch_npu(text).host)
        for text in (source, source.replace("1 / 0", "2 / 0 or 'PID 7'"))
    )
    assert first.probe.worked("operator")
    assert "ZeroDivisionError" in first.probe.fact("torch_npu", "jit_compile_off_error")
    assert first.digest == second.digest


def test_an_import_that_hangs_is_ended(tmp_path: Path) -> None:
    found = probe.ask(Machine(tmp_path).torch("import time; time.sleep(60)").host, timeout_s=1.0)
    assert found.ended == "timed out"
    stage = found.stage("torch")
    assert stage is None or stage.ok is None


def test_an_import_that_crashes_leaves_what_was_said(tmp_path: Path) -> None:
    found = probe.ask(Machine(tmp_path).torch().torch_npu("import os; os._exit(11)").host)
    assert found.ended == "crashed"
    assert found.worked("torch")
    plugin = found.stage("torch_npu")
    assert plugin is not None
    assert plugin.ok is None


def test_an_old_release_without_the_side_questions(tmp_path: Path) -> None:
    old = "import torch\n__version__ = '1.11.0'\nclass npu:\n    is_available = lambda: False\ntorch.npu = npu\n"
    plugin = probe.ask(Machine(tmp_path).torch().torch_npu(old).host).stage("torch_npu")
    assert plugin is not None
    assert plugin.ok is True
    assert plugin.facts == {"version": "1.11.0", "available": False, "count": 0, "names": []}


def test_warnings_that_change_a_measurement_are_kept() -> None:
    stderr = (
        "UserWarning: The operator 'torchvision::nms' is not currently supported on the NPU backend and will fall back"
        " to run on the CPU.\nsomething else\nUserWarning: TASK_QUEUE_ENABLE is 0 on the interactive interface\n"
    )
    assert len(probe.read(Ran("", stderr, 0)).warnings) == 2


def test_chatter_on_the_line_of_a_result_does_not_hide_it() -> None:
    said = 'loading ... npueval-probe:{"stage": "torch", "ok": true}\nnpueval-probe:{"stage": "torch_npu", "o'
    found = probe.read(Ran(said, "", -9))
    assert [stage.name for stage in found.stages] == ["torch"]


@pytest.mark.parametrize(
    ("file", "text", "sign"),
    [
        ("/.dockerenv", "", "/.dockerenv"),
        ("/run/.containerenv", "", "/run/.containerenv"),
        ("/proc/1/cgroup", "0::/kubepods/pod1\n", "cgroup of a container"),
        ("/proc/self/status", "Seccomp:\t2\n", "seccomp filter"),
        ("/proc/version", "Linux version 4.4 (gVisor)\n", "gVisor"),
    ],
)
def test_sandbox_signs(tmp_path: Path, file: str, text: str, sign: str) -> None:
    assert machine.sandbox_signs(Machine(tmp_path).file(file, text).host) == (sign,)


def test_only_variables_that_matter_are_kept_and_no_secret(tmp_path: Path) -> None:
    given = {
        "ASCEND_RT_VISIBLE_DEVICES": "0,1",
        "HCCL_IF_IP": "192.168.7.21",
        "TORCH_HOME": "/home/wang.xiaoming/.cache",
        "HF_TOKEN": "hf_abcdefghijklmnopqrst",
        "LD_LIBRARY_PATH": "/opt/private:/usr/local/Ascend/lib64",
    }
    assert machine.variables(Host(tmp_path, given)) == {
        "ASCEND_RT_VISIBLE_DEVICES": "0,1",
        "HCCL_IF_IP": "<address>",
        "TORCH_HOME": "/home/<user>/.cache",
        "LD_LIBRARY_PATH": "/usr/local/Ascend/lib64",
    }


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://bob:pa55@host.cn/x", "https://<secret>@host.cn/x"),
        ("API_KEY=abc123 next", "API_KEY=<secret> next"),
        ('{"password": "hunter2", "a": 1}', '{"password": "<secret>", "a": 1}'),
        ("Authorization: Bearer abc.def", "Authorization: Bearer <secret>"),
        ("sk-abcdefghijklmnopqrstuv", "<secret>"),
        ("/Users/alice/x /home/bob/y", "/Users/<user>/x /home/<user>/y"),
        ("link 10.1.2.3 and 00:1b:44:11:3a:b7", "link <address> and <address>"),
        ("fe80::1ff:fe23:4567:890a", "<address>"),
        ("torch 2.1.0 and bus 0000:5A:00.0 at 12:30:45", "torch 2.1.0 and bus 0000:5A:00.0 at 12:30:45"),
    ],
)
def test_redaction(text: str, clean: str) -> None:
    assert redact(text) == clean


def test_four_part_versions_are_no_addresses_where_versions_stand() -> None:
    assert redact("Version: 24.1.0.1", addresses=False) == "Version: 24.1.0.1"


def test_the_commit_of_the_project(tmp_path: Path) -> None:
    host = Host()
    project = tmp_path / "项目 one"
    project.mkdir()
    (project / "a.txt").write_text("1\n", encoding="utf-8")
    person = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for words in (["init", "-q"], ["add", "."], [*person, "commit", "-q", "-m", "one"]):
        subprocess.run(
            ["git", "-C", str(project), *words], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        )
    clean = machine.commit(host, project)
    assert clean is not None
    assert (len(clean.sha), clean.dirty) == (40, False)
    (project / "a.txt").write_text("2\n", encoding="utf-8")
    changed = machine.commit(host, project)
    assert changed is not None
    assert changed.dirty


def test_processors_without_a_model_name(tmp_path: Path) -> None:
    cpuinfo = "processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n\nprocessor\t: 1\n"
    found = machine.system(Machine(tmp_path).file("/proc/cpuinfo", cpuinfo).host)
    assert (found.cpu, found.cpus) == ("Kunpeng-920", 2)


def test_the_pretended_torch_is_the_one_that_was_asked(tmp_path: Path) -> None:
    found = probe.ask(Machine(tmp_path).torch(TORCH.replace("2.6.0", "0.0.7")).host)
    assert found.fact("torch", "version") == "0.0.7"
