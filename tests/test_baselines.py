"""Baselines out of a tree: what may be one, and what may not."""

import shutil
from pathlib import Path

from npueval import baselines, plan
from support import small_project


def test_what_the_tool_wrote_is_no_evidence(tmp_path: Path) -> None:
    """Neither in the plan's folder of Runs nor by an explicit pattern: a figure must not survive by quoting itself."""
    project = tmp_path / "项目"
    project.mkdir()
    wanted = plan.load(small_project.write(project))
    found = baselines.best(baselines.scan(project), wanted)
    assert found.path == "logs/train.log"
    baselines.save(found, project / "runs" / "baseline.json")
    (project / "runs" / "five-parts.md").write_text("| val_accuracy | 0.99 |\nloss: 0.1\n", encoding="utf-8")
    shutil.copy(project / "runs" / "baseline.json", project / "logs" / "copied.json")
    (project / "logs" / "train.log").unlink()
    for globs in ((), ("runs/*.json",), ("**/*.json",)):
        assert baselines.scan(project, globs).candidates == ()
    assert baselines.best(baselines.scan(project), wanted).source == "none"
