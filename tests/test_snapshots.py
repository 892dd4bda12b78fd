"""The situations whole: NPU absent, NPU present (simulated), a kit's result from a GPU and from a CPU. To the byte.

``NPUEVAL_UPDATE_SNAPSHOTS=1 pytest tests/test_snapshots.py`` writes them anew; read the difference before committing.
"""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from npueval import gate, plan, runs, workflow
from npueval.documents import layout
from npueval.environment import Environment
from npueval.kit.ingest import ingest
from npueval.records import Grade
from support import kits, small_project
from support.dossiers import environment_of, made_on
from support.make_runs import make_case
from support.outline import parse

SNAPSHOTS = Path(__file__).parent / "data" / "snapshots"
UPDATE = bool(os.environ.get("NPUEVAL_UPDATE_SNAPSHOTS"))
CASES, SLOWER = (
    tuple(make_case(batch, time, n=100, beside="postprocess") for batch, time in times)
    for times in (((1, 2.0), (4, 4.0)), ((1, 3.0), (4, 6.0)))
)


def measure(wanted: plan.Plan, machine: Environment, kind: str, **changes: Any) -> None:
    runs.save(measured_of(wanted, kind, environment=machine.as_json(), **changes), wanted.runs)


def bring(wanted: plan.Plan, _machine: Environment, kind: str) -> None:
    """A kit's result, taken in as the user takes it in."""
    result = kits.result_of(wanted, measured_of(wanted, kind))
    assert ingest(kits.written(wanted.root / "gpu_result.json", result), wanted).grade is Grade.A


def measured_of(wanted: plan.Plan, kind: str, **changes: Any) -> runs.Run:
    made = made_on(kind, CASES if kind == "npu" else SLOWER)
    known = {"id": made.id, "device": made.device, "output_check": made.output_check, "cases": made.cases}
    return kits.run_of(wanted, **{**known, **changes})


Step = Callable[[plan.Plan, Environment], None]
on_cpu, on_npu, on_simulated = (
    partial(measure, **known) for known in ({"kind": "cpu"}, {"kind": "npu"}, {"kind": "npu", "simulated": True})
)
SITUATIONS: dict[str, tuple[Step, ...]] = {
    "npu absent": (on_cpu,),
    "npu simulated": (on_simulated, on_cpu),
    "gpu brought back": (on_npu, partial(bring, kind="cuda"), on_cpu),
    "cpu brought back": (partial(bring, kind="cpu"),),
}
# What the machine that runs the tests says of itself.
LOCAL = (
    (re.compile(r"torch \d[^；|]*；numpy \d[^ |]*"), "<torch and numpy>"),
    (re.compile(r"(?<=OS / 容器镜像（如有） \| ).*?(?= \|)"), "<OS>"),
    (re.compile(r"Python \d+\.\d+\.\d+\w*"), "Python <version>"),
    (re.compile(r"(?<=PyTorch\+torch_npu 或 MindSpore 等版本 \| ).*?(?= \|)"), "<frameworks>"),
    (re.compile(r"(?<=Python / 关键依赖 \| ).*?(?= \|)"), "<dependencies>"),
)


@pytest.fixture
def evaluated(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> workflow.Evaluation:
    steps = SITUATIONS[request.param]
    machine = environment_of(tmp_path / "machine", npu=on_npu in steps)
    found = gate.examine(tmp_path / "machine", environment=machine)
    monkeypatch.setattr(gate, "examine", lambda _root: found)
    (tmp_path / "项目").mkdir()
    path = small_project.write(tmp_path / "项目")
    wanted = plan.load(path)
    for step in steps:
        step(wanted, machine)
    return workflow.report(path, progress=lambda _line: None)


def held_against(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    for pattern, stand_in in LOCAL:
        text = pattern.sub(stand_in, text)
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("evaluated", SITUATIONS, indirect=True, ids=lambda name: name.replace(" ", "-"))
def test_documents_and_page(evaluated: workflow.Evaluation, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    situation = request.node.callspec.id
    for name, path in layout.find(evaluated.reading.plan.documents).items():
        if name != "environment":
            held_against(f"{situation}/{name}.md", path.read_text(encoding="utf-8"))
    workflow.keep_views(evaluated, html=tmp_path / "page.html")
    page = parse((tmp_path / "page.html").read_text(encoding="utf-8"))
    held_against(f"{situation}/page.txt", "\n".join(page.lines("environment", "verified")) + "\n")
    assert evaluated.findings == ()


@pytest.mark.parametrize("evaluated", ["npu simulated"], indirect=True)
def test_a_simulated_card_is_named_wherever_its_figures_stand(evaluated: workflow.Evaluation) -> None:
    assert {evaluated.comparison.performance.verdict, evaluated.comparison.accuracy.verdict} == {"待定"}
    compare = layout.find(evaluated.reading.plan.documents)["Compare"].read_text(encoding="utf-8")
    assert compare.count("模拟") >= 5


@pytest.mark.parametrize("evaluated", ["npu simulated"], indirect=True)
def test_a_simulated_card_ticks_no_box(evaluated: workflow.Evaluation) -> None:
    report = layout.find(evaluated.reading.plan.documents)["Mig_report"].read_text(encoding="utf-8")
    assert "- [ ] NPU 加载与单次前向通过" in report and "[x]" not in report
