"""Two readings of one machine: what a sandbox hides is its limit, what is bad on either side counts."""

from dataclasses import replace
from pathlib import Path

import pytest

from npueval import gate
from npueval.environment import npu_smi
from npueval.gate.diagnosis import Diagnosis, Outcome
from npueval.records import Gate
from support.examined import examine, said
from support.machines import TORCH_NPU, Machine, working

Sides = tuple[Path, Path]


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    return inside, outside


def hidden(root: Path) -> Diagnosis:
    """A container without the device, in which torch alone works."""
    return examine(Machine(root).container().npu_smi("refused_8005").torch(), {"torch": "2.6.0"})


def test_merge_a_sandbox_hides_a_working_machine(tmp_path: Path, sides: Sides) -> None:
    inside = examine(Machine(sides[0]).container().npu_smi("refused_8005").torch(), {"torch": "2.6.0"})
    outside = examine(working(sides[1]))
    merged = gate.merge(inside, outside, tmp_path)
    assert (merged.gate, merged.runnable, merged.adopted) == (Gate.AUTO, True, "outside")
    assert "a limit of the sandbox" in said(merged, "device_inside")
    assert merged.environment == replace(outside.environment, sandbox=())
    assert merged.other == inside.environment


def test_merge_what_fails_on_both_sides_is_real(tmp_path: Path, sides: Sides) -> None:
    found = examine(Machine(tmp_path).container().torch(), {"torch": "2.6.0"})
    merged = gate.merge(found, found, tmp_path)
    assert merged.gate is Gate.MANUAL_STOP
    assert "this machine has no usable NPU" in said(merged, "device")


def test_merge_a_sandbox_in_which_tests_run_is_adopted(tmp_path: Path, sides: Sides) -> None:
    inside = examine(working(sides[0]).container())
    outside = examine(Machine(sides[1]).torch(), {"torch": "2.6.0"})
    merged = gate.merge(inside, outside, tmp_path)
    assert (merged.gate, merged.adopted) == (Gate.AUTO, "inside")


@pytest.mark.parametrize("bad", [0, 1], ids=["inside", "outside"])
def test_a_critical_chip_counts_on_whichever_side_it_was_read(tmp_path: Path, sides: Sides, bad: int) -> None:
    machines = [working(root).npu_smi("both_good") for root in sides]
    machines[bad].npu_smi("critical_chip")
    machines[0].container()
    merged = gate.merge(examine(machines[0]), examine(machines[1]), tmp_path)
    assert (merged.gate, merged.runnable) == (Gate.MANUAL_STOP, False)
    where = ("inside", "outside")[bad]
    read = merged.found("health") if merged.adopted == where else merged.found("health_aside")
    assert read is not None
    assert "NPU 0 chip 0 Critical" in read.finding.en
    assert not any("limit of the sandbox" in entry.finding.en for entry in merged.evidence)


def test_a_critical_chip_outside_counts_where_npu_smi_is_hidden_inside(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().npu_smi("refused_8005").cards().cann("8.2.RC1").torch().torch_npu()
    merged = gate.merge(examine(inside), examine(working(sides[1]).npu_smi("critical_chip")), tmp_path)
    assert merged.gate is Gate.MANUAL_STOP
    assert "NPU 0 chip 0 Critical" in said(merged, "health")


def test_a_critical_chip_inside_counts_where_nothing_else_works_there(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().npu_smi("critical_chip").cards().torch()
    merged = gate.merge(examine(inside, {"torch": "2.6.0"}), examine(working(sides[1]).npu_smi("both_good")), tmp_path)
    assert (merged.gate, merged.adopted) == (Gate.MANUAL_STOP, "outside")


def test_a_critical_chip_that_a_container_was_not_given_is_not_its_own(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().cards(1).npu_smi("second_of_two").cann("8.2.RC1").torch().torch_npu(count=1)
    merged = gate.merge(examine(inside), examine(working(sides[1]).npu_smi("critical_chip")), tmp_path)
    assert (merged.gate, merged.adopted) == (Gate.AUTO, "inside")


def test_health_is_known_from_outside_where_the_container_hides_npu_smi(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().cards().cann("8.2.RC1").torch().torch_npu()
    merged = gate.merge(examine(inside), examine(working(sides[1])), tmp_path)
    assert (merged.gate, merged.adopted) == (Gate.AUTO, "inside")
    assert said(merged, "health") == "read outside the sandbox: NPU 0 chip 0 OK, NPU 5 chip 0 OK"


def test_health_that_neither_side_can_tell_is_unknown(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().cards().cann("8.2.RC1").torch().torch_npu()
    merged = gate.merge(examine(inside), examine(working(sides[1]).npu_smi("unknown_state")), tmp_path)
    assert merged.gate is Gate.UNKNOWN
    assert merged.found("health") is not None


@pytest.mark.parametrize(("total", "fails"), [(9.0, ""), (8.0, "aicore exception")], ids=["wrong", "fails"])
def test_an_operator_that_is_wrong_where_nothing_is_hidden_contradicts(
    tmp_path: Path, sides: Sides, total: float, fails: str
) -> None:
    inside = examine(working(sides[0]).container().torch_npu(total=total, fails=fails))
    merged = gate.merge(inside, examine(working(sides[1])), tmp_path)
    assert (merged.gate, merged.runnable) == (Gate.UNKNOWN, False)
    assert "contradicts this side" in said(merged, "operator_aside")


def test_an_operator_that_fails_where_the_devices_are_hidden_is_a_limit(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().npu_smi("refused_8005").cann("8.2.RC1").torch().torch_npu(fails="no device")
    merged = gate.merge(examine(inside), examine(working(sides[1])), tmp_path)
    assert (merged.gate, merged.runnable) == (Gate.AUTO, True)
    assert said(merged, "operator_inside").startswith("a limit of the sandbox")


def test_what_a_sandbox_does_not_hide_is_not_called_its_limit(tmp_path: Path, sides: Sides) -> None:
    inside = examine(working(sides[0]).container().npu_smi("chip_listed_twice"))
    merged = gate.merge(inside, examine(working(sides[1])), tmp_path)
    assert (merged.gate, merged.adopted) == (Gate.AUTO, "outside")
    assert said(merged, "health_inside").startswith("inside the sandbox only, and tests run outside: ")


NO_UTILS = TORCH_NPU.format(count=2, on_set_device="pass", total=8.0, cann="8.2.RC1").replace("    utils = utils\n", "")


def test_the_project_s_demands_are_read_when_readings_are_merged(tmp_path: Path, sides: Sides) -> None:
    (tmp_path / "README.md").write_text("需要 CANN 7.0.0 与驱动 25.5.0\n", encoding="utf-8")
    found = [examine(working(root)) for root in sides]
    assert {each.gate for each in found} == {Gate.AUTO}
    merged = gate.merge(*found, tmp_path)
    assert merged.gate is Gate.MANUAL_STOP
    assert "asks for CANN 7.0.0" in said(merged, "needs_cann")
    assert "asks for driver 25.5.0" in said(merged, "needs_driver")
    written = {edit.address: str(edit.value) for edit in gate.edits(merged)}
    declared = next(value for address, value in written.items() if "文档是否声明" in address)
    assert declared == "cann 7.0.0（README.md:1）；driver 25.5.0（README.md:1）"


def test_demands_that_a_reading_brings_count_where_the_project_has_no_such_file(tmp_path: Path, sides: Sides) -> None:
    inside = examine(working(sides[0]), files={"README.md": "CANN 7.0.0\n"})
    outside = examine(working(sides[1]))
    assert gate.merge(inside, outside, tmp_path).gate is Gate.MANUAL_STOP
    assert gate.merge(outside, inside, tmp_path).gate is Gate.MANUAL_STOP
    (tmp_path / "README.md").write_text("CANN 8.2.RC1\n", encoding="utf-8")
    assert gate.merge(inside, outside, tmp_path).gate is Gate.AUTO, "the demand has been changed since"


def test_a_driver_that_only_one_side_can_read_is_held_against_the_demand(tmp_path: Path, sides: Sides) -> None:
    (tmp_path / "README.md").write_text("NPU 驱动 25.5.0，Ascend 310P3\n", encoding="utf-8")
    inside = Machine(sides[0]).container().cards().cann("8.2.RC1").torch().torch_npu(NO_UTILS)
    merged = gate.merge(examine(inside), examine(working(sides[1])), tmp_path)
    assert said(merged, "needs_driver") == "README.md:1 asks for driver 25.5.0, here is 24.1.rc3"
    assert merged.gate is Gate.MANUAL_STOP


def test_two_drivers_of_one_machine_are_doubted(tmp_path: Path, sides: Sides) -> None:
    inside = Machine(sides[0]).container().cards().driver("25.5.0").cann("8.2.RC1").torch().torch_npu()
    (tmp_path / "README.md").write_text("NPU 驱动 25.0.0\n", encoding="utf-8")
    merged = gate.merge(examine(inside), examine(working(sides[1])), tmp_path)
    assert said(merged, "driver") == "the two readings name different drivers: 24.1.rc3 / 25.5.0"
    assert merged.gate is Gate.MANUAL_STOP, "the older one does not meet the demand"


def test_a_stored_verdict_is_found_again(tmp_path: Path, sides: Sides) -> None:
    found = examine(working(sides[0]).npu_smi("critical_chip"))
    forged = replace(found, gate=Gate.AUTO, evidence=(), actions=())
    assert forged.runnable
    assert gate.against(tmp_path, forged).gate is Gate.MANUAL_STOP
    assert gate.merge(forged, examine(working(sides[1]).npu_smi("both_good")), tmp_path).gate is Gate.MANUAL_STOP


def test_a_stored_merge_is_held_against_the_project_as_a_merge(tmp_path: Path, sides: Sides) -> None:
    merged = gate.merge(hidden(sides[0]), examine(working(sides[1])), tmp_path)
    assert gate.against(tmp_path, merged) == merged
    (tmp_path / "README.md").write_text("CANN 7.0.0\n", encoding="utf-8")
    assert gate.against(tmp_path, merged).gate is Gate.MANUAL_STOP


def test_readings_that_time_out_inside_prove_nothing_against_the_outside(tmp_path: Path, sides: Sides) -> None:
    inside = hidden(sides[0])
    hung = replace(inside, environment=replace(inside.environment, npu=npu_smi.Reading(npu_smi.Outcome.TIMED_OUT)))
    merged = gate.merge(hung, examine(working(sides[1])), tmp_path)
    device = merged.found("device_inside")
    assert device is not None
    assert (merged.gate, device.outcome) == (Gate.AUTO, Outcome.NOTE)
