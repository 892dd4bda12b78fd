"""What this tool prints is never read as a log, whichever way it was caught in a file: `tee` writes beside the logs."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from npueval import baselines, environment, gate, plan, runs, triggers
from npueval.cli import cli
from npueval.environment import probe
from npueval.logs.extracting import extract
from npueval.reporting import spreadsheet
from support import small_project
from support.dossiers import dossier, environment_of, made_on
from support.machines import working
from support.make_runs import make_case

PLAN = small_project.PLAN.replace("device: npu", "device: cpu") + "training: {metric: loss, steps: 30}\n"
LEARNS = """
        def train_step(self, step): return {"loss": 2.0 * 0.9 ** step}
"""
LOSSES = "print('Epoch 1/1 loss: 0.5 acc: 0.9'); print('latency: 3 ms')"
LONG = small_project.LOG + "".join(f"epoch 2/2 step {step}/90 loss {2.5 * 0.97**step:.4f}\n" for step in range(1, 91))
COMMANDS = {
    "measure": ("measure", "npueval.yaml"),
    "smoke": ("smoke", "npueval.yaml"),
    "black box": ("measure", "--runs", "2", "--", sys.executable, "-c", LOSSES),
    "short test": ("train", "npueval.yaml", "--force"),
    "run": ("run", "npueval.yaml"),
    "report": ("report", "npueval.yaml"),
    "doctor": ("doctor",),
    "check": ("check", "npueval.yaml"),
    "check in English": ("check", "npueval.yaml", "--lang", "en"),
    "scan": ("baseline", "scan", "."),
    "extract": ("baseline", "extract", "logs/train.log"),
    "training": ("train", "logs/train.log"),
    "formal training": ("train", "logs/train.log", "--formal"),
    "show": ("show", "Compare#4"),
    "golden": ("golden", "a.npy", "a.npy"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project on the CPU in which everything can be run."""
    folder = tmp_path / "项目 own"
    folder.mkdir()
    small_project.write(folder, plan=PLAN, workload=small_project.WORKLOAD.rstrip() + LEARNS, log=LONG)
    np.save(folder / "a.npy", np.eye(3))
    return folder


def printed(folder: Path, words: tuple[str, ...]) -> str:
    """Both streams of a command, as `2>&1 | tee` keeps them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        return CliRunner().invoke(cli, list(words), catch_exceptions=False).output


def is_told(path: Path) -> bool:
    found = extract(path)
    return not found.runs and "npueval 自己的输出" in found.rejected


@pytest.fixture
def outputs(project: Path) -> dict[str, str]:
    """What each command prints there, torch not asked."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(probe, "ask", lambda *_host, **_limits: probe.NOT_RUN)
        texts = {name: printed(project, words) for name, words in COMMANDS.items()}
        texts |= {
            f"{name} --json": printed(project, (*COMMANDS[name], "--json")) for name in ("scan", "doctor", "smoke")
        }
    return texts


def test_what_our_commands_print_is_never_a_log(outputs: dict[str, str], project: Path, tmp_path: Path) -> None:
    (tmp_path / "caught").mkdir()
    for name, text in outputs.items():
        (tmp_path / "caught" / f"{name}.log").write_text(text, encoding="utf-16", newline="\r\n")
        (project / "logs" / f"{name}.log").write_text(text, encoding="utf-8")
    assert [path.name for path in sorted((tmp_path / "caught").iterdir()) if not is_told(path)] == []
    found = baselines.scan(project, ("logs/*.log",))
    assert {item.path for item in found.candidates} == {"logs/train.log"}
    assert sum("npueval 自己的输出" in each.reason for each in found.rejected) == len(outputs)


def test_the_answers_of_a_working_machine_are_none_either(tmp_path: Path) -> None:
    folder = tmp_path / "项目"
    folder.mkdir()
    wanted = plan.load(small_project.write(folder))
    seen = environment.record(folder, host=working(tmp_path).host)
    packages = {"torch": "2.6.0", "torch_npu": "2.6.0"}
    seen = replace(seen, packages=packages, python=replace(seen.python, version="3.11.9"))
    found = gate.examine(folder, environment=seen)
    for number, lang in enumerate(("zh", "en")):
        text = triggers.answer(wanted, found, triggers.decide(wanted, found), lang).markdown()
        (tmp_path / f"{number}.log").write_text(text, encoding="utf-8")
        assert text.startswith("## 1. ")
        assert is_told(tmp_path / f"{number}.log")


def test_compared_runs_and_their_table_are_none_either(tmp_path: Path) -> None:
    wanted = plan.load(small_project.write(tmp_path))
    cases = [tuple(make_case(batch, time, n=200) for batch in (1, 4)) for time in (2.0, 3.0)]
    made = [made_on(kind, some) for kind, some in zip(("npu", "cuda"), cases, strict=True)]
    paths = [str(runs.save(run, wanted.runs)) for run in made]
    table = spreadsheet.render(dossier(wanted, environment_of(tmp_path / "machine"), *made))
    (tmp_path / "table.csv").write_text(table, encoding="utf-8")
    compared = printed(tmp_path, ("compare", "npueval.yaml", paths[1], paths[0]))
    assert "延迟 p50 (ms): NPU 2" in compared
    (tmp_path / "compared.log").write_text(compared, encoding="utf-8")
    assert is_told(tmp_path / "compared.log")
    assert is_told(tmp_path / "table.csv")


@pytest.mark.parametrize(
    "line",
    [
        "run 1/5: loss 0.5",
        "passed: loss 0.5",
        "head loss: 0.5",
        "npueval: loss 0.5",
        "AUTO: loss 0.5",
        "grade A: loss 0.5",
        "1. conv/weight: loss 0.5",
    ],
)
def test_the_words_of_others_stay_theirs(tmp_path: Path, line: str) -> None:
    path = tmp_path / "train.log"
    path.write_text(f"{line}\n{small_project.LOG}{line}\n", encoding="utf-8")
    assert extract(path).runs
