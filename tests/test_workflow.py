"""The main job on a machine without an NPU, and with Runs that were brought from one."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npueval import environment, gate, linting, patching, plan, runs, workflow
from npueval.documents import layout, markdown
from npueval.documents.addresses import resolve
from npueval.errors import DocumentError, Exit, MeasurementError, NpuevalError, WorkloadError
from npueval.gate import diagnosis
from npueval.gate.diagnosis import Diagnosis
from npueval.language import same
from npueval.records import Edit
from npueval.runs.conditions import DeviceFacts, OutputCheck
from npueval.workflow import Evaluation
from support import small_project
from support.dossiers import environment_of
from support.machines import Machine, working
from support.make_runs import make_case, make_run
from support.projects import facts_of


@pytest.fixture(scope="module")
def no_npu(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """What the gate says of a bare host."""
    root = tmp_path_factory.mktemp("bare")
    return gate.examine(root, environment=environment.record(root, host=Machine(root).host))


@pytest.fixture(scope="module")
def open_gate(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """What the gate says of a host on which everything fits together."""
    root = tmp_path_factory.mktemp("card")
    seen = environment.record(root, host=working(root).host)
    packages = {"torch": "2.6.0", "torch_npu": "2.6.0"}
    found = gate.examine(
        root, environment=replace(seen, packages=packages, python=replace(seen.python, version="3.11.9"))
    )
    assert found.runnable
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_npu: Diagnosis) -> Path:
    """The plan of a small project, on a machine that has no NPU whatever the tests run on."""
    monkeypatch.setattr(gate, "examine", lambda _root: no_npu)
    folder = tmp_path / "项目 一"
    folder.mkdir()
    return small_project.write(folder)


def run(path: Path, **options: bool) -> Evaluation:
    return workflow.run(path, progress=lambda _line: None, **options)


def report(path: Path) -> Evaluation:
    return workflow.report(path, progress=lambda _line: None)


def cell(path: Path, address: str) -> str:
    folder = path.parent / "mig_docs"
    name = address.partition("#")[0]
    file = layout.find(folder)[name]
    return resolve(markdown.parse(file.read_bytes(), path=file, name=name), address).text


def documents(path: Path) -> dict[str, bytes]:
    return {name: file.read_bytes() for name, file in layout.find(path.parent / "mig_docs").items()}


def bring_npu_run(path: Path, accuracy: float = 0.9722, **changes: object) -> runs.Run:
    """A Run of this plan as an NPU host would have written it."""
    wanted = plan.load(path)
    check = OutputCheck(True, result={"metric": "val_accuracy", "value": accuracy, "n": 360, "direction": "higher"})
    known = {
        "id": "20260201T000000Z-npu-0000",
        "device": DeviceFacts("npu:0", "npu", 0, "Ascend910B3"),
        "unit": wanted.unit,
        "plan_sha256": wanted.sha256,
        "workload": facts_of(wanted),
        "output_check": check,
        "cases": (make_case(1, 2.0), make_case(4, 4.0)),
    }
    made = make_run(**{**known, **changes})
    runs.save(made, wanted.runs)
    return made


def of_case(**samples: int | list[int]) -> dict[str, object]:
    """Changes of a Run: series of a case, all of one duration (ns) or as listed."""
    case = make_case(4, 4.0)
    series = {
        name: np.full(case.n, value) if isinstance(value, int) else np.array(value) for name, value in samples.items()
    }
    return {"cases": (replace(case, samples={**case.samples, **series}),)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, no_npu: Diagnosis) -> Path:
    """The plan of a project on which the main job has run; for tests that only look."""
    path = small_project.write(tmp_path_factory.mktemp("项目 二"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "examine", lambda _root: no_npu)
        done = run(path)
    assert done.status == Exit.NOT_EXECUTED
    assert done.findings == ()
    return path


class TestWithoutAnNpu:
    @pytest.mark.parametrize("row", ["延迟 p50 (ms)", "延迟 p95 (ms)", "吞吐", "延迟 p50 (ms)（batch=1）"])
    def test_cpu_figures_are_in_the_cpu_column_and_nowhere_else(self, path: Path, row: str) -> None:
        assert float(cell(path, f"Compare#4/{row}/CPU 基线")) > 0
        for column in ("GPU 基线", "NPU（迁移后）", "对 CPU 提升/回退", "对 GPU 提升/回退"):
            assert re.fullmatch("N/A（.+）", cell(path, f"Compare#4/{row}/{column}"))

    def test_the_accuracy_baseline_is_quoted_with_its_line_and_the_npu_has_none(self, path: Path) -> None:
        assert cell(path, "Compare#3/val_accuracy/基线") == "0.975（logs/train.log:13）"
        assert cell(path, "Compare#3/val_accuracy/迁移后").startswith("N/A（NPU 未执行")
        assert cell(path, "Compare#3/val_accuracy/阈值") == "≥ 基线 − 0.005"

    def test_the_conclusions_wait_and_say_why(self, path: Path) -> None:
        for row in ("精度是否达标", "性能是否达标", "总体结论"):
            assert cell(path, f"Compare#1/{row}").startswith("待定（NPU 未执行")

    def test_the_gpu_commands_are_there_because_the_log_has_no_latency(self, path: Path) -> None:
        row = "Mig_Readme#2.6/推理 baseline（默认）"
        assert cell(path, f"{row}/设备") == "GPU（用户执行）"
        assert "--device cuda:0" in cell(path, f"{row}/入口（脚本或命令）")
        assert "logs/train.log 不含推理延迟" in cell(path, f"{row}/备注")
        assert "logs/train.log" in cell(path, "Mig_Readme#2.6/训练 baseline（若适用，默认）/入口（脚本或命令）")

    def test_datasets_agree_in_every_document(self, path: Path) -> None:
        assert cell(path, "Mig_Readme#3.1/全量精度 / 性能评测/使用的数据集") == "digits"
        assert cell(path, "Mig_report#2.1/全量精度/性能/数据集名称与版本") == "digits"
        assert cell(path, "Mig_report#2.1/短测/数据集名称与版本") == "N/A（计划中本项目不涉及该用途）"

    def test_no_box_is_ticked_and_the_logs_are_named(self, path: Path) -> None:
        boxes = markdown.parse(documents(path)["Mig_report"], path="r.md", name="Mig_report").as_json()
        assert not any(check["checked"] for check in boxes["sections"]["6"]["checks"])
        assert re.search(r"CPU 测量（fp32）runs/\S+-cpu-\w+\.json", cell(path, "Mig_report#8/运行日志路径"))

    def test_the_block_is_kept_beside_the_runs(self, path: Path) -> None:
        block = (path.parent / "runs" / "not-executed.md").read_text(encoding="utf-8")
        assert "npueval measure npueval.yaml" in block
        assert {item.name for item in (path.parent / "runs").glob("*.json")} >= {"baseline.json", "comparison.json"}

    def test_lint_is_clean(self, path: Path) -> None:
        assert linting.lint([path.parent]) == []


def test_a_second_run_changes_only_what_was_measured_anew_and_keeps_a_persons_text(project: Path) -> None:
    run(project)
    compare = layout.find(project.parent / "mig_docs")["Compare"]
    written = compare.read_bytes().replace("## 5. 瓶颈".encode(), "人工补充：先看 IO。\r\n\r\n## 5. 瓶颈".encode())
    written = written.replace("- 已尝试优化：".encode(), "- 已尝试优化：换过 batch ".encode())
    compare.write_bytes(written)
    before = documents(project)
    run(project, fresh=True)
    after = documents(project)
    changed = [
        (old, new)
        for name in before
        for old, new in zip(before[name].split(b"\n"), after[name].split(b"\n"), strict=True)
        if old != new
    ]
    ours = re.compile(r"\| (延迟|吞吐)|-cpu-|generated_at".encode())
    assert changed
    assert all(ours.search(old) and ours.search(new) for old, new in changed)
    assert "人工补充：先看 IO。\r\n".encode() in after["Compare"]


def runs_of(project: Path) -> set[str]:
    return {path.name for path in (project.parent / "runs").glob("*-cpu-*.json")}


def test_a_second_run_measures_only_what_has_changed(project: Path) -> None:
    run(project)
    before, measured = documents(project), runs_of(project)
    run(project)
    assert (documents(project), runs_of(project)) == (before, measured)
    change(project, "latency_p50_ms: 1000", "latency_p50_ms: 900  # a remark")
    run(project)
    assert runs_of(project) == measured
    change(project.parent / "logs" / "train.log", "val_accuracy 0.9750", "val_accuracy 0.9650")
    assert cell(project, "Compare#3/val_accuracy/基线").startswith("0.975（")
    run(project)
    assert runs_of(project) == measured
    assert cell(project, "Compare#3/val_accuracy/基线").startswith("0.965（")
    (project.parent / "weights.bin").write_bytes(b"weights")
    needy = small_project.WORKLOAD.replace("class Model:", "class Model:\n        needs = ('weights.bin',)")
    for step, measure_anew in enumerate(
        (
            lambda: small_project.write_workload(project.parent, needy),
            lambda: (project.parent / "weights.bin").write_bytes(b"other weights"),
            lambda: change(project, "batches: [1, 4]", "batches: [1, 2, 4]"),
        ),
        1,
    ):
        measure_anew()
        run(project)
        assert len(runs_of(project)) == len(measured) + step
    run(project)
    assert len(runs_of(project)) == len(measured) + 3


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def test_each_precision_is_measured_once_and_has_its_rows(project: Path) -> None:
    run(project)
    measured = runs_of(project)
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("precision: fp32", "precision: [fp32, fp16]"), encoding="utf-8")
    done = run(project)
    added = runs_of(project) - measured
    assert len(added) == 1, "what was measured in the first precision stays"
    assert runs.load(project.parent / "runs" / added.pop()).precision == "fp16"
    assert done.findings == ()
    for label in ("延迟 p50 (ms)", "延迟 p50 (ms)（fp16，batch=4）", "吞吐 (samples/s)（fp16，batch=1）"):
        assert float(cell(project, f"Compare#4/{label}/CPU 基线")) > 0
    assert cell(project, "Compare#3/val_accuracy（fp16）/是否达标") == "N/A（计划未对此设目标）"
    assert cell(project, "Mig_report#8/运行日志路径").count("CPU 测量") == 2
    before = documents(project)
    run(project)
    assert documents(project) == before


def test_a_profile_that_is_asked_for_and_missing_is_measured_anew(project: Path) -> None:
    project.write_text(small_project.PLAN.replace("device: npu", "device: cpu"), encoding="utf-8")
    run(project)
    measured = runs_of(project)
    run(project, profiled=True)
    with_profile = runs_of(project) - measured
    made = runs.load(project.parent / "runs" / with_profile.pop()).profile
    assert made is not None
    assert made.reason is not None
    run(project, profiled=True)
    assert len(runs_of(project)) == len(measured) + 1


def test_a_report_made_twice_from_the_same_runs_writes_nothing(project: Path) -> None:
    run(project)
    before = documents(project)
    assert report(project).patch.changed == ()
    assert documents(project) == before


def test_a_second_reading_of_the_same_machine_keeps_its_date_and_the_undo_of_the_first(
    project: Path, no_npu: Diagnosis, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(project)
    before = documents(project)
    later = replace(no_npu, environment=replace(no_npu.environment, taken_at="2027-01-01T00:00:00+00:00"))
    monkeypatch.setattr(gate, "examine", lambda _root: later)
    assert report(project).patch.changed == ()
    assert documents(project) == before
    patching.undo(project.parent / "mig_docs")
    assert documents(project) != before


@pytest.mark.parametrize("sides", [(), ("npu",), ("npu", "cuda")], ids=lambda sides: "+".join(sides) or "cpu only")
def test_without_any_log_the_documents_hold_together(project: Path, sides: tuple[str, ...]) -> None:
    (project.parent / "logs" / "train.log").unlink()
    for kind in sides:
        bring_npu_run(
            project, id=f"20260201T000000Z-{kind}-0000", device=DeviceFacts(f"{kind}:0", kind, 0, f"A {kind}")
        )
    done = run(project)
    assert done.findings == ()
    passed = {done.comparison.performance.verdict, done.comparison.accuracy.verdict} & {"通过", "有条件通过"}
    assert bool(passed) == ("cuda" in sides)


def test_a_dry_run_writes_nothing(project: Path) -> None:
    before = sorted(project.parent.rglob("*"))
    done = run(project, dry_run=True)
    assert done.status == Exit.NOT_EXECUTED
    assert len(done.created) == 5
    assert sorted(project.parent.rglob("*")) == before


def test_a_changed_cell_is_kept_and_reported(project: Path) -> None:
    run(project)
    compare = layout.find(project.parent / "mig_docs")["Compare"]
    text = compare.read_text(encoding="utf-8").replace(
        "| 性能是否达标 | 待定", "| 性能是否达标 | 张工：待复核，原为待定"
    )
    compare.write_text(text, encoding="utf-8", newline="\n")
    bring_npu_run(project)
    done = report(project)
    assert any("性能是否达标" in warning for warning in done.warnings)
    assert cell(project, "Compare#1/性能是否达标").startswith("张工：待复核")
    workflow.report(project, force=["Compare#1/性能是否达标"], progress=lambda _line: None)
    assert not cell(project, "Compare#1/性能是否达标").startswith("张工")


def test_a_text_of_ours_from_a_run_that_is_gone_is_called_stale(project: Path) -> None:
    report(project)
    row = ("infer", "shape [4, 3]", "shape [4, 3]", "0")
    patching.patch(project.parent / "mig_docs", [Edit(f"Compare#3.1[2]/{row[0]}", row, "20250101T000000Z-npu-gone")])
    stale = [warning for warning in report(project).warnings if warning.startswith("stale: ")]
    assert len(stale) == len(row)
    assert all("20250101T000000Z-npu-gone" in warning for warning in stale)


def test_figures_of_a_batch_that_the_plan_gave_up_are_withdrawn_and_a_person_s_row_stays(project: Path) -> None:
    documents = project.parent / "mig_docs"
    report(project)
    own = ("延迟 p50 (ms)（batch=2）", "1", "2", "3", "4", "5", "6", "7")
    file = layout.find(documents)["Compare"]
    text = file.read_text(encoding="utf-8")
    given_up = next(line for line in text.split("\n") if line.startswith("| 延迟 p50 (ms)（batch=1）"))
    file.write_text(text.replace(given_up, f"{given_up}\n| {' | '.join(own)} |"), encoding="utf-8", newline="\n")
    plan_text = project.read_text(encoding="utf-8")
    project.write_text(
        plan_text.replace("batches: [1, 4]", "batches: [4]\nreasons: {batches: 只上线 batch 4}"), encoding="utf-8"
    )
    done = report(project)
    left = file.read_text(encoding="utf-8")
    assert "| 延迟 p50 (ms)（batch=1）" not in left and f"| {' | '.join(own)} |" in left
    assert done.findings == () and cell(project, "Compare#4/延迟 p50 (ms)/是否达标").startswith("无法判定")


def test_a_row_that_a_newer_run_renews_is_not_stale(project: Path) -> None:
    bring_npu_run(project)
    report(project)
    bring_npu_run(project, id="20260301T000000Z-npu-0000", created="2026-03-01T00:00:00Z")
    done = report(project)
    assert "Compare" in done.patch.changed
    assert [warning for warning in done.warnings if warning.startswith("stale: ")] == []


class TestWithAnNpuRun:
    def test_its_figures_come_from_its_samples_and_without_a_baseline_nothing_passes(self, project: Path) -> None:
        brought = bring_npu_run(project)
        done = report(project)
        case = brought.case(4)
        assert case is not None
        assert float(cell(project, "Compare#4/延迟 p50 (ms)/NPU（迁移后）")) == pytest.approx(
            case.summary().p50, rel=1e-3
        )
        assert cell(project, "Compare#2.2/Ascend 型号") == "Ascend910B3"
        assert done.comparison.performance.verdict == "待定"
        assert cell(project, "Compare#3/val_accuracy/迁移后") == "0.9722"
        assert cell(project, "Compare#3/val_accuracy/差值") == "-0.0028"
        assert done.findings == ()

    def test_the_machine_that_measured_is_named_and_not_the_one_that_reports(
        self, project: Path, tmp_path: Path
    ) -> None:
        card = environment_of(tmp_path / "card", npu=True)
        bring_npu_run(project, environment=card.as_json())
        done = report(project)
        assert cell(project, "Compare#2.2/CANN / 运行时").startswith("CANN 8.2.RC1")
        assert cell(project, "Summary#3/Ascend 型号/值") == "Ascend910B3 × 2"
        assert {finding.code for finding in done.findings} == {"NPE302"}, "environment.md tells of another machine"
        bring_npu_run(project, environment={})
        report(project)
        assert cell(project, "Compare#2.2/CANN / 运行时") == "N/A（测量记录未写环境）"

    def test_wrong_outputs_are_an_entry_of_the_problems_and_the_documents_agree(self, project: Path) -> None:
        made = bring_npu_run(project, invalid=(same("末个输出含 2 个 NaN"),))
        done = report(project)
        row = f"Mig_report#7.1/{made.created}"
        assert cell(project, f"{row}/问题标题") == "NPU 测量（fp32）的输出错误"
        assert cell(project, f"{row}/触发命令/条件") == "npueval measure npueval.yaml"
        assert cell(project, f"{row}/关键报错摘要") == f"末个输出含 2 个 NaN（{made.id}）"
        assert done.findings == ()

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            (of_case(infer=-1), "a duration of zero or less"),
            (of_case(infer=0), "a duration of zero or less"),
            (of_case(infer=[1, 2, 3]), "unequal numbers of samples"),
            (of_case(elsewhere=4_000_000), "elsewhere: no segment"),
            ({"device": DeviceFacts("npu:0", "npu", 0, "AMD EPYC 7763")}, "AMD EPYC 7763 is no NPU"),
            ({"created": "2099-01-01T00:00:00Z"}, "made in the future"),
        ],
    )
    def test_a_run_that_cannot_be_true_fills_no_cell_and_is_named(
        self, project: Path, changes: dict[str, object], words: str
    ) -> None:
        made = bring_npu_run(project, **changes)
        done = report(project)
        workflow.keep_views(done, html=project.parent / "page.html", csv=project.parent / "rows.csv")
        assert any(f"{made.id}.json: it cannot be true" in told and words in told for told in done.warnings)
        assert cell(project, "Compare#4/延迟 p50 (ms)/NPU（迁移后）").startswith("N/A")
        assert done.comparison.total.verdict == "待定"

    def test_a_percent_in_the_log_is_held_as_the_fraction_that_check_states(self, project: Path) -> None:
        change(project.parent / "logs" / "train.log", "val_accuracy 0.9750", "val_accuracy 97.50")
        change(project.parent / "logs" / "train.log", "val_accuracy 0.9583", "val_accuracy 95.83")
        bring_npu_run(project, accuracy=0.9722)
        report(project)
        assert cell(project, "Compare#3/val_accuracy/差值") == "-0.0028"
        bring_npu_run(project, accuracy=97.22)
        report(project)
        assert "不可比：一侧是百分数，一侧是小数" in cell(project, "Compare#3/val_accuracy/差值")

    def test_an_accuracy_below_its_threshold_fails_everywhere(self, project: Path) -> None:
        bring_npu_run(project, accuracy=0.80)
        done = report(project)
        assert done.comparison.accuracy.verdict == "不通过"
        assert done.status == Exit.FINDINGS
        assert cell(project, "Compare#1/总体结论").startswith("不通过")
        assert done.findings == ()

    def test_formal_training_that_stands_still_is_an_entry_and_the_documents_agree(self, project: Path) -> None:
        bring_npu_run(project)
        lines = ["date: 2026-02-03", "device: npu (Ascend910B3)"]
        lines += [f"epoch 1/1 step {step}/600 loss {1.7 + step % 7 / 1000:.4f}" for step in range(1, 601)]
        (project.parent / "logs" / "npu.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
        project.write_text(small_project.PLAN + "training: {stagnation_steps: 400}\n", encoding="utf-8")
        done = report(project)
        assert cell(project, "Mig_report#7.1/2026-02-03/问题标题") == "loss 600 步无明显改善"
        assert cell(project, "Mig_Readme#5.3/实际累计步数上限或等价阈值") == "400 步"
        assert cell(project, "Summary#5.3/训练可用性（若适用）/是否达标") == "不达标"
        assert "正式训练 logs/npu.log：停止加步并排查" in cell(project, "Mig_report#8/运行日志路径")
        assert done.findings == ()

    def test_a_simulated_run_gets_no_verdict_and_says_so(self, project: Path) -> None:
        bring_npu_run(project, simulated=True)
        done = report(project)
        assert {each.verdict for each in (done.comparison.performance, done.comparison.accuracy)} == {"待定"}
        assert "模拟" in cell(project, "Compare#1/性能是否达标")
        assert cell(project, "Compare#5/当前瓶颈推测") == "N/A（模拟设备的数据不作结论）"

    def test_a_run_of_another_plan_is_not_used_and_named(self, project: Path) -> None:
        bring_npu_run(project, plan_sha256="1" * 64)
        done = report(project)
        assert cell(project, "Compare#4/延迟 p50 (ms)/NPU（迁移后）").startswith("N/A（NPU 测量已过期：计划已改变")
        assert any("another version of the plan" in warning for warning in done.warnings)

    def test_figures_of_an_older_workload_are_no_evidence(self, project: Path) -> None:
        bring_npu_run(project)
        bring_npu_run(project, id="20260201T000000Z-cuda-0000", device=DeviceFacts("cuda:0", "cuda", 0, "A GPU"))
        assert report(project).comparison.performance.verdict in ("通过", "有条件通过")
        (project.parent / "workload.py").write_text("# another model\n", encoding="utf-8")
        done = report(project)
        assert done.comparison.run_id is None
        assert {done.comparison.performance.verdict, done.comparison.accuracy.verdict} == {"待定"}
        said = "N/A（NPU 测量已过期：workload.py 已改变，须重新执行 npueval run npueval.yaml）"
        assert cell(project, "Compare#4/延迟 p50 (ms)/NPU（迁移后）") == said
        assert any("measured with other files than are here now: workload.py" in each for each in done.warnings)
        assert done.findings == ()

    def test_a_damaged_run_is_passed_over_and_named(self, project: Path) -> None:
        (project.parent / "runs").mkdir()
        (project.parent / "runs" / "cut.json").write_text('{"format": "npueval/run/1", "id": ', encoding="utf-8")
        assert any("cut.json" in warning for warning in report(project).warnings)

    def test_an_open_gate_gives_the_five_parts(
        self, project: Path, open_gate: Diagnosis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gate, "examine", lambda _root: open_gate)
        bring_npu_run(project)
        assert report(project).status == Exit.OK
        assert (project.parent / "runs" / "five-parts.md").exists()


def without_section_4(folder: Path) -> None:
    path = folder / "mig_docs" / "working" / "Compare.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("## 4.")] + text[text.index("## 5.") :], encoding="utf-8", newline="\n")


def in_gbk(folder: Path) -> None:
    path = folder / "mig_docs" / "Summary.md"
    path.write_bytes(path.read_text(encoding="utf-8").encode("gbk", errors="replace"))


@pytest.mark.parametrize(
    ("spoil", "words"), [(without_section_4, ("Compare.md", "no section '4'")), (in_gbk, ("Summary.md", "UTF-8"))]
)
def test_documents_that_cannot_be_patched_stay_as_they_are(
    project: Path, spoil: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    layout.create(project.parent / "mig_docs")
    spoil(project.parent)
    before = documents(project)
    with pytest.raises(DocumentError) as caught:
        report(project)
    assert all(word in str(caught.value) for word in words)
    assert len(caught.value.problems) <= 3
    assert documents(project) == before


@pytest.mark.parametrize(
    ("workload", "kind", "word"),
    [
        ("import no_such_module", WorkloadError, "no_such_module"),
        (
            small_project.WORKLOAD.replace("self.weights = np.eye(4, dtype=np.float32)", "raise OSError('no weights')"),
            WorkloadError,
            "no weights",
        ),
        (small_project.WORKLOAD.replace("x @ self.weights", "x * np.nan"), MeasurementError, "NaN"),
        ("", WorkloadError, "Model"),
    ],
    ids=["import", "load", "nan", "class"],
)
def test_a_workload_that_fails_is_one_error_and_no_document(
    project: Path, workload: str, kind: type[NpuevalError], word: str
) -> None:
    small_project.write_workload(project.parent, workload)
    with pytest.raises(kind) as caught:
        run(project)
    assert word in str(caught.value)
    assert not (project.parent / "mig_docs").exists()


def test_a_missing_workload_file_is_named(project: Path) -> None:
    (project.parent / "workload.py").unlink()
    with pytest.raises(WorkloadError, match=r"workload\.py"):
        run(project)


def test_diagnosis_is_stored_and_read(no_npu: Diagnosis) -> None:
    assert diagnosis.from_json(no_npu.as_json()) == no_npu
