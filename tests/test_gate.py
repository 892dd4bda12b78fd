"""The verdict for machines of every kind: what is there, what is missing, what a person must do, and never a guess."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from npueval import environment, gate
from npueval.environment import npu_smi
from npueval.errors import FormatError
from npueval.gate import compatibility, diagnosis
from npueval.gate.diagnosis import Diagnosis, Outcome, Stage
from npueval.records import Gate
from support.examined import PAIRED, examine, read, said
from support.machines import HOME, Machine, working

NO_CANN = 'raise ImportError("libhccl.so: cannot open shared object file: No such file or directory.")'


def stages(found: Diagnosis) -> list[Stage]:
    return [action.stage for action in found.actions]


def test_everything_fits(tmp_path: Path) -> None:
    found = examine(working(tmp_path))
    assert (found.gate, found.runnable, found.actions, found.reasons) == (Gate.AUTO, True, (), ())
    assert "2 chip(s): 910B3 × 2" in said(found, "device")


def test_nothing_there_on_a_plain_host(tmp_path: Path) -> None:
    found = examine(Machine(tmp_path).torch(), {"torch": "2.6.0"})
    assert (found.gate, found.runnable) == (Gate.MANUAL_STOP, False)
    assert stages(found) == [Stage.HARDWARE, Stage.CANN, Stage.FRAMEWORK, Stage.AGAIN]


def test_nothing_there_in_a_container_proves_nothing(tmp_path: Path) -> None:
    found = examine(Machine(tmp_path).container().torch(), {"torch": "2.6.0"})
    assert found.gate is Gate.UNKNOWN
    assert "the host may still have one" in said(found, "device")
    assert stages(found)[0] is Stage.RECHECK


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("refused_8005", "does not mean that the host has no NPU"),
        ("refused_8020", "held by another container"),
        ("refused_dcmi_library", "not absent hardware"),
        ("refused_driver_library", "a mount is missing"),
        ("refused_permission", "may not access"),
        ("empty_table", "lists no chip"),
        ("nonsense", "unknown"),
        ("nothing", "unknown"),
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_refusals_of_npu_smi_ask_for_a_look_outside(tmp_path: Path, sample: str, words: str, status: int) -> None:
    found = examine(Machine(tmp_path).npu_smi(sample, status).torch(), {"torch": "2.6.0"})
    assert found.gate is not Gate.AUTO
    assert words in said(found, "device")
    assert stages(found)[0] is Stage.RECHECK
    device = found.found("device")
    assert device is not None
    assert (device.outcome, device.verdict) == (Outcome.UNKNOWN, Gate.UNKNOWN)


def test_a_table_without_device_nodes_is_not_believed(tmp_path: Path) -> None:
    found = examine(Machine(tmp_path).npu_smi("a2_no_device_column").cann("8.2.RC1").torch())
    assert found.gate is Gate.UNKNOWN
    assert "contradict" in said(found, "device")


def test_device_nodes_without_npu_smi(tmp_path: Path) -> None:
    found = examine(Machine(tmp_path).cards().cann("8.2.RC1").torch())
    assert found.gate is Gate.UNKNOWN
    assert "no npu-smi" in said(found, "device")


@pytest.mark.parametrize(
    "sample",
    [
        "no_such_layout",
        "unknown_state",
        "cut_in_the_middle",
        "cut_between_chips",
        "cut_in_a_rule",
        "cut_at_the_column_of_a_rule",
        "refused_after_the_table",
        "refused_8020",
        "chip_listed_twice",
        "nothing",
        "nonsense",
        "title_only",
        "header_only",
        "empty_table",
        "chinese_headers_critical",
        "renamed_header_critical",
    ],
)
def test_what_cannot_be_read_is_never_healthy(tmp_path: Path, sample: str) -> None:
    machine = working(tmp_path).npu_smi(sample)
    found = examine(machine)
    health = found.found("health")
    assert health is not None
    assert (health.outcome, found.gate, found.runnable) == (Outcome.UNKNOWN, Gate.UNKNOWN, False)
    assert health.finding in found.reasons


def test_a_table_of_a_program_that_crashed_or_hung_is_not_healthy(tmp_path: Path) -> None:
    crashed = examine(working(tmp_path).npu_smi("a2_no_device_column", 139))
    assert (crashed.gate, "status 139" in said(crashed, "health")) == (Gate.UNKNOWN, True)
    hung = replace(crashed.environment, npu=npu_smi.Reading(npu_smi.Outcome.TIMED_OUT))
    found = gate.examine(tmp_path, environment=hung)
    assert (found.gate, "did not answer in time" in said(found, "health")) == (Gate.UNKNOWN, True)


@pytest.mark.parametrize(
    ("sample", "boxed", "verdict"),
    [("refused_8005", True, Gate.AUTO), ("refused_8005", False, Gate.UNKNOWN), ("refused_permission", True, Gate.AUTO)],
)
def test_health_that_a_container_hides_is_not_called_good(
    tmp_path: Path, sample: str, boxed: bool, verdict: Gate
) -> None:
    machine = working(tmp_path).npu_smi(sample)
    found = examine(machine.container() if boxed else machine)
    health = found.found("health")
    assert health is not None
    assert (health.outcome, found.gate) == (Outcome.UNKNOWN, verdict)


def test_health_without_the_program_is_not_called_good(tmp_path: Path) -> None:
    machine = Machine(tmp_path).cards().driver("25.2.0").cann("8.2.RC1").torch().torch_npu()
    found = examine(machine)
    assert (found.gate, "health is not confirmed" in said(found, "health")) == (Gate.AUTO, True)


@pytest.mark.parametrize(("cards", "count", "place"), [(3, 2, "/dev/davinci"), (2, 3, "torch_npu")])
def test_a_table_with_fewer_chips_than_there_are_may_be_cut(tmp_path: Path, cards: int, count: int, place: str) -> None:
    found = examine(working(tmp_path).cards(cards).torch_npu(count=count))
    assert found.gate is Gate.UNKNOWN
    assert f"npu-smi lists 2 chip(s) and {place}" in said(found, "health")


@pytest.mark.parametrize(
    ("visible", "verdict"),
    [
        ("1", Gate.AUTO),
        ("0", Gate.MANUAL_STOP),
        ("1,7", Gate.UNKNOWN),
        ("1-3", Gate.MANUAL_STOP),
        ("", Gate.MANUAL_STOP),
    ],
)
def test_only_the_visible_chips_count_if_npu_smi_lists_them(tmp_path: Path, visible: str, verdict: Gate) -> None:
    machine = working(tmp_path).npu_smi("critical_chip")
    machine.variables["ASCEND_RT_VISIBLE_DEVICES"] = visible
    assert examine(machine).gate is verdict


def test_a_container_counts_its_chips_from_0(tmp_path: Path) -> None:
    machine = working(tmp_path).npu_smi("a3_two_chips_a_card")
    machine.variables["ASCEND_RT_VISIBLE_DEVICES"] = "0"
    assert "2 chip(s), all OK" in said(examine(machine), "health")


def test_a_bad_chip_stops_whatever_else_is_unreadable(tmp_path: Path) -> None:
    found = examine(working(tmp_path).npu_smi("critical_and_cut"))
    assert found.gate is Gate.MANUAL_STOP
    assert "Critical; the table is cut off" in said(found, "health")


def test_what_npu_smi_says_by_the_way_is_shown(tmp_path: Path) -> None:
    found = examine(working(tmp_path).npu_smi("noise_after_the_table"))
    assert (found.gate, "DrvMngGetConsoleLogLevel" in said(found, "npu_smi")) == (Gate.AUTO, True)


def test_a_critical_chip_stops(tmp_path: Path) -> None:
    found = examine(working(tmp_path).npu_smi("critical_chip"))
    assert found.gate is Gate.MANUAL_STOP
    assert "NPU 0 chip 0 Critical" in said(found, "health")
    assert "export ASCEND_RT_VISIBLE_DEVICES=1" in [action.command for action in found.actions]


def test_the_healthy_chip_alone_may_be_used(tmp_path: Path) -> None:
    machine = working(tmp_path).npu_smi("critical_chip")
    machine.variables["ASCEND_RT_VISIBLE_DEVICES"] = "1"
    assert examine(machine).gate is Gate.AUTO


def test_a_warning_is_noted_and_holds_nothing_up(tmp_path: Path) -> None:
    found = examine(working(tmp_path).npu_smi("310p_two_chips_one_bus"))
    assert (found.gate, found.runnable) == (Gate.AUTO, True)
    assert "warnings" in said(found, "health")


def test_a_310p_compiles_each_new_shape(tmp_path: Path) -> None:
    source = "import torch\n__version__ = '2.6.0'\nclass npu:\n    is_available = lambda: False\ntorch.npu = npu\n"
    machine = working(tmp_path).npu_smi("310p_two_chips_one_bus").torch_npu(source)
    assert "on 310P jit_compile is True by default" in said(examine(machine), "compile_mode")
    assert "jit_compile=False" in said(examine(working(tmp_path)), "compile_mode")


def test_cann_is_there_and_not_loaded(tmp_path: Path) -> None:
    machine = working(tmp_path).torch_npu(NO_CANN)
    machine.variables.pop("ASCEND_TOOLKIT_HOME")
    found = examine(machine, files={"README.md": "需要 CANN 8.2.RC1\n"})
    assert (found.gate, found.runnable) == (Gate.AUTO, False)
    assert "its set_env.sh is not loaded" in said(found, "torch_npu")
    assert "plain `import torch` raises" in said(found, "torch_npu")
    assert "source /usr/local/Ascend/ascend-toolkit/set_env.sh" in [action.command for action in found.actions]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "not loaded: this process has none of CANN's variables"),
        ({"ASCEND_TOOLKIT_HOME": "/nowhere"}, "point to a folder that does not exist"),
        ({"ASCEND_TOOLKIT_HOME": HOME}, "LD_LIBRARY_PATH lacks CANN's folder"),
    ],
    ids=["unset", "nowhere", "half"],
)
def test_an_operator_that_runs_does_not_load_set_env(tmp_path: Path, variables: dict[str, str], words: str) -> None:
    machine = working(tmp_path)
    machine.variables = {"PYTHONPATH": machine.variables["PYTHONPATH"], **variables}
    found = examine(machine)
    state = found.found("set_env")
    assert state is not None
    assert (state.outcome, found.runnable, words in state.finding.en) == (Outcome.NOTE, True, True)
    assert by_key(found)["set_env"].startswith("未加载")


def test_two_sources_of_the_cann_version_that_contradict(tmp_path: Path) -> None:
    found = examine(working(tmp_path).torch_npu(cann="7.0.0"))
    assert (found.gate, found.runnable) == (Gate.UNKNOWN, False)
    assert "torch_npu reports CANN 7.0.0" in said(found, "cann")
    assert "says 8.2.RC1" in said(found, "cann")
    assert Stage.SET_ENV in stages(found)


def test_the_folder_of_another_cann_is_not_named_beside_a_version(tmp_path: Path) -> None:
    machine = working(tmp_path).torch_npu(cann="7.0.0")
    machine.variables = {"PYTHONPATH": machine.variables["PYTHONPATH"]}
    found = examine(machine)
    assert (said(found, "cann"), found.gate) == ("CANN 7.0.0", Gate.AUTO)


@pytest.mark.parametrize("spelling", ["8.2.RC1.alpha003", "8.2.rc1", "V100R001C20", ""])
def test_other_spellings_of_a_release_do_not_contradict(tmp_path: Path, spelling: str) -> None:
    assert examine(working(tmp_path).torch_npu(cann=spelling)).gate is Gate.AUTO


def test_the_plugin_fails_where_there_is_no_ascend_at_all(tmp_path: Path) -> None:
    found = examine(Machine(tmp_path).torch().torch_npu(NO_CANN))
    assert found.gate is Gate.MANUAL_STOP
    assert "says nothing about the hardware" in said(found, "torch_npu")


def test_cards_and_no_cann(tmp_path: Path) -> None:
    machine = Machine(tmp_path).npu_smi("a2_no_device_column").cards().torch().torch_npu(NO_CANN)
    found = examine(machine)
    assert found.gate is Gate.MANUAL_STOP
    assert "NPU device nodes and no CANN" in said(found, "torch_npu")
    assert Stage.CANN in stages(found)


def test_another_error_of_the_plugin_is_quoted(tmp_path: Path) -> None:
    found = examine(working(tmp_path).torch_npu("raise ImportError('undefined symbol: _ZN3c10')"))
    assert "undefined symbol: _ZN3c10" in said(found, "torch_npu")
    assert not found.runnable


def test_numpy_2_breaks_the_operator_although_all_imports(tmp_path: Path) -> None:
    machine = working(tmp_path).torch_npu(fails="SetPrecisionMode failed, error code is 500001")
    found = examine(machine, {**PAIRED, "numpy": "2.1.0"})
    assert not found.runnable
    assert "numpy 2" in said(found, "operator")
    assert "python -m pip install 'numpy<2'" in [action.command for action in found.actions]


def test_the_same_failure_with_numpy_1_is_not_blamed_on_numpy(tmp_path: Path) -> None:
    found = examine(working(tmp_path).torch_npu(fails="SetPrecisionMode failed, error code is 500001"))
    assert found.gate is Gate.UNKNOWN
    assert "numpy" not in said(found, "operator")


def test_the_plugin_is_not_installed(tmp_path: Path) -> None:
    machine = Machine(tmp_path).npu_smi("a2_no_device_column").cards().cann("8.2.RC1").torch()
    found = examine(machine, {"torch": "2.6.0"}, {"README.md": "CANN 8.2.RC1"})
    assert (found.gate, found.runnable) == (Gate.AUTO, False)
    assert "python -m pip install torch==2.6.0 torch-npu==2.6.0" in [action.command for action in found.actions]


def test_the_plugin_for_the_torch_that_the_project_pins(tmp_path: Path) -> None:
    machine = Machine(tmp_path).npu_smi("a2_no_device_column").cards().cann("8.2.RC1").torch()
    found = examine(machine, {"torch": "2.6.0"}, {"requirements.txt": "torch==2.1.0\n", "README.md": "CANN 8.2.RC1"})
    assert "python -m pip install torch==2.1.0 torch-npu==2.1.0.post13" in [action.command for action in found.actions]


def test_a_plugin_for_another_torch(tmp_path: Path) -> None:
    found = examine(working(tmp_path), {**PAIRED, "torch": "2.5.1"})
    assert not found.runnable
    assert "does not go with" in said(found, "torch_pair")


def test_an_unpublished_pair_that_runs_is_noted(tmp_path: Path) -> None:
    found = examine(working(tmp_path), {**PAIRED, "torch": "2.7.1", "torch_npu": "2.7.1"})
    assert found.runnable
    assert "was published for CANN 8.3.RC1, here is 8.2.RC1" in said(found, "cann_pair")


def test_an_unpublished_pair_that_does_not_run(tmp_path: Path) -> None:
    packages = {**PAIRED, "torch": "2.7.1", "torch_npu": "2.7.1"}
    found = examine(working(tmp_path).torch_npu(NO_CANN), packages, {"README.md": "CANN 8.2.RC1"})
    assert "goes with CANN 8.3.RC1" in said(found, "cann_pair")
    assert any("torch-npu==2.6.0" in action.command for action in found.actions)


def test_beyond_the_table_is_unknown(tmp_path: Path) -> None:
    found = examine(working(tmp_path), {**PAIRED, "torch": "9.9.0", "torch_npu": "9.9.0"})
    pair = found.found("cann_pair")
    assert pair is not None
    assert pair.outcome is Outcome.UNKNOWN
    assert compatibility.AS_OF in pair.finding.en
    assert found.runnable


def test_the_plugin_sees_no_device_although_there_are_cards(tmp_path: Path) -> None:
    found = examine(working(tmp_path).torch_npu(count=0))
    assert (found.gate, found.runnable) == (Gate.UNKNOWN, False)
    assert "sees no NPU" in said(found, "torch_npu")


def test_what_changes_a_measurement_is_noted(tmp_path: Path) -> None:
    machine = working(tmp_path)
    machine.variables["TASK_QUEUE_ENABLE"] = "0"
    found = examine(machine)
    assert found.runnable
    assert "TASK_QUEUE_ENABLE=0 in this process" in said(found, "runtime")


def test_a_python_that_no_wheel_is_made_for(tmp_path: Path) -> None:
    seen = read(working(tmp_path))
    found = gate.examine(tmp_path, environment=replace(seen, python=replace(seen.python, version="3.12.1")))
    assert "is published for Python 3.9, 3.10, 3.11, here is 3.12.1" in said(found, "interpreter")
    assert Stage.PYTHON in stages(found)


def test_torch_that_hangs(tmp_path: Path) -> None:
    machine = working(tmp_path).torch("import time; time.sleep(60)")
    seen = environment.record(tmp_path, host=machine.host, probe_timeout_s=1.0)
    found = gate.examine(tmp_path, environment=replace(seen, packages=PAIRED))
    assert (found.gate, found.runnable) == (Gate.UNKNOWN, False)
    assert "did not end" in said(found, "torch")


@pytest.mark.parametrize(
    ("readme", "key", "verdict"),
    [
        ("要求 CANN 8.3.RC1", "needs_cann", Gate.MANUAL_STOP),
        ("CANN 8.2.RC1 或以上", "needs_cann", Gate.AUTO),
        ("| CANN | 8.2.RC1 |", "needs_cann", Gate.AUTO),
        ("NPU 驱动 25.5.0", "needs_driver", Gate.MANUAL_STOP),
        ("NPU driver 23.0.3", "needs_driver", Gate.AUTO),
        ("只在 Ascend 310P3 上验证", "needs_chip", Gate.MANUAL_STOP),
        ("支持 Ascend 310P3 与 910B4", "needs_chip", Gate.AUTO),
        ("已在 Ascend 910C 验证", "needs_chip", Gate.MANUAL_STOP),
        ("Requires CUDA 11.8 and flash-attn", "cuda_only", Gate.AUTO),
    ],
)
def test_demands_of_the_project(tmp_path: Path, readme: str, key: str, verdict: Gate) -> None:
    found = examine(working(tmp_path), files={"README.md": readme + "\n"})
    evidence = found.found(key)
    assert evidence is not None
    assert evidence.verdict is verdict
    assert found.gate is verdict


def test_a_bare_name_on_cards_of_two_chips_is_an_a3(tmp_path: Path) -> None:
    machine = working(tmp_path).npu_smi("a3_two_chips_a_card")
    found = examine(machine, files={"README.md": "已在 Ascend 910C 验证\n"})
    assert found.gate is Gate.AUTO
    assert "as here" in said(found, "needs_chip")


def test_demands_that_contradict_each_other(tmp_path: Path) -> None:
    found = examine(working(tmp_path), files={"README.md": "CANN 8.2.RC1\n", "README.en.md": "CANN 8.1.RC1\n"})
    assert "README.md:1" in said(found, "conflict")
    assert Stage.QUESTION in stages(found)
    assert found.gate is not Gate.AUTO


def test_nothing_is_prepared_for_demands_that_contradict_each_other(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": 'requires-python = ">=3.12"\ndependencies = ["torch>=2.7"]\n',
        "environment.yml": "dependencies:\n  - python=3.8\n  - pip:\n    - torch==2.1.0\n",
    }
    found = examine(working(tmp_path), files=files)
    told = [entry.finding.en for entry in found.evidence if entry.key == "conflict"]
    assert len(told) == 2
    assert "python>=3.12 (pyproject.toml:1) ≠ python=3.8 (environment.yml:2)" in told
    assert set(stages(found)) == {Stage.QUESTION, Stage.AGAIN}


def test_no_cann_is_installed_before_it_is_known_which(tmp_path: Path) -> None:
    files = {"README.md": "CANN 8.3.RC1\n", "README.en.md": "CANN 7.0.0\n"}
    found = examine(working(tmp_path), files=files)
    assert found.gate is Gate.MANUAL_STOP
    assert Stage.CANN not in stages(found)
    (tmp_path / "bare").mkdir()
    bare = examine(Machine(tmp_path / "bare").torch(), {"torch": "2.6.0"}, files)
    assert next(action.text.en for action in bare.actions if action.stage is Stage.CANN).startswith(
        "download and install CANN: "
    )


def test_a_file_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    machine = working(tmp_path)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "requirements.txt").write_bytes(b"\xff\xfet\x00o")
    found = examine(machine)
    assert (found.gate, found.runnable) == (Gate.UNKNOWN, False)
    assert said(found, "needs_unread").startswith("requirements.txt: no text that can be read")


def test_no_word_about_cann_and_no_proof_either(tmp_path: Path) -> None:
    found = examine(working(tmp_path).torch_npu(NO_CANN))
    assert found.gate is Gate.UNKNOWN
    assert "not proven to work" in said(found, "needs_cann")


def test_another_python_is_a_matter_of_a_virtual_environment(tmp_path: Path) -> None:
    found = examine(working(tmp_path), files={"pyproject.toml": 'requires-python = "<3.8"\n'})
    assert (found.gate, found.runnable) == (Gate.AUTO, True)
    assert stages(found) == [Stage.PYTHON, Stage.AGAIN]


def test_the_list_is_in_the_order_in_which_to_do_it(tmp_path: Path) -> None:
    files = {"README.md": "CANN 8.3.RC1, NPU driver 25.5.0\n", "requirements.txt": "torch==2.1.0\n"}
    found = examine(working(tmp_path).torch_npu(NO_CANN), files=files)
    assert stages(found) == sorted(stages(found))
    assert len(found.actions) == len(set(found.actions))
    assert found.actions[-1].stage is Stage.AGAIN


def test_there_and_back(tmp_path: Path) -> None:
    found = examine(working(tmp_path), files={"README.md": "CANN 8.3.RC1\n"})
    assert diagnosis.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_load_reads_what_doctor_writes(tmp_path: Path) -> None:
    found = examine(working(tmp_path))
    path = tmp_path / "沙箱 内.json"
    path.write_text(json.dumps({"ok": True, "data": found.as_json()}), encoding="utf-8")
    assert gate.load(path) == found


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"data": {"format": "npueval/diagnosis/9"}}', "\u0000", '{"a":' * 100_000],
    ids=["empty", "a list", "no format", "newer", "no JSON", "too deep"],
)
def test_load_refuses_anything_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as raised:
        gate.load(path)
    assert raised.value.path == str(path)


def test_load_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        gate.load(tmp_path / "none.json")


def by_key(found: Diagnosis) -> dict[str, str]:
    return {edit.address.rpartition("/")[2]: str(edit.value) for edit in gate.edits(found, data_dir="data")}


def test_environment_md_of_a_working_machine(tmp_path: Path) -> None:
    written = by_key(examine(working(tmp_path), files={"README.md": "Python 3.9+, CANN 8.2.RC1\n"}))
    assert written["判定"] == "AUTO"
    assert written["set_env"] == "/usr/local/Ascend/ascend-toolkit/set_env.sh（已加载）"
    assert written["data_dir"] == "data"
    assert written["readme_python_hint"] == "python>=3.9（README.md:1）"
    assert written["驱动版本"] == "cann 8.2.RC1（README.md:1）"


def test_environment_md_keeps_both_raw_outputs(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    inside = examine(Machine(tmp_path / "in").container().npu_smi("refused_8005").torch(), {"torch": "2.6.0"})
    merged = gate.merge(inside, examine(working(tmp_path / "out")), tmp_path)
    device = next(edit for edit in gate.edits(merged) if "设备可见性" in edit.address)
    text = str(device.value)
    assert text.index("[沙箱外（采信）]") < text.index("910B3") < text.index("[沙箱内]") < text.index("-8005")


def test_environment_md_lists_what_a_person_has_to_do(tmp_path: Path) -> None:
    written = by_key(examine(Machine(tmp_path).torch(), {"torch": "2.6.0"}))
    assert written["判定"].startswith("MANUAL_STOP；待办（按顺序）：1. ")
    assert "AUTO" not in written["判定"]
