"""The three situations whole: NPU absent, NPU present (simulated), a GPU result brought back. To the byte.

``NPUEVAL_UPDATE_SNAPSHOTS=1 pytest tests/test_snapshots.py`` writes them anew; read the difference before committing.
"""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from npueval import environment, gate, plan, runs, workflow
from npueval.documents import layout
from support import small_project
from support.dossiers import made_on
from support.machines import Machine
from support.make_runs import make_case
from support.outline import parse

SNAPSHOTS = Path(__file__).parent / "data" / "snapshots"
UPDATE = bool(os.environ.get("NPUEVAL_UPDATE_SNAPSHOTS"))
CASES = (make_case(1, 2.0), make_case(4, 4.0))
SLOWER = (make_case(1, 3.0), make_case(4, 6.0))
SIDES: dict[str, Callable[[], list[runs.Run]]] = {
    "npu absent": lambda: [made_on("cpu", SLOWER)],
    "npu simulated": lambda: [made_on("npu", CASES, simulated=True), made_on("cpu", SLOWER)],
    "gpu brought back": lambda: [made_on("npu", CASES), made_on("cuda", SLOWER), made_on("cpu", SLOWER)],
}
# What the machine that runs the tests says of itself.
LOCAL = (
    (re.compile(r"(?<=OS / 容器镜像（如有） \| ).*?(?= \|)"), "<OS>"),
    (re.compile(r"Python \d+\.\d+\.\d+\w*"), "Python <version>"),
    (re.compile(r"(?<=PyTorch\+torch_npu 或 MindSpore 等版本 \| ).*?(?= \|)"), "<frameworks>"),
    (re.compile(r"(?<=Python / 关键依赖 \| ).*?(?= \|)"), "<dependencies>"),
)


@pytest.fixture
def evaluated(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> workflow.Evaluation:
    (tmp_path / "machine").mkdir()
    found = gate.examine(
        tmp_path / "machine", environment=environment.record(tmp_path, host=Machine(tmp_path / "machine").host)
    )
    monkeypatch.setattr(gate, "examine", lambda _root: found)
    (tmp_path / "项目").mkdir()
    path = small_project.write(tmp_path / "项目")
    wanted = plan.load(path)
    for run in SIDES[request.param]():
        runs.save(replace(run, plan_sha256=wanted.sha256), wanted.runs)
    return workflow.report(path, progress=lambda _line: None)


def held_against(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    for pattern, stand_in in LOCAL:
        text = pattern.sub(stand_in, text)
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("evaluated", SIDES, indirect=True, ids=lambda name: name.replace(" ", "-"))
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
