"""The CSV: every row of the comparison, every side of it, nothing rounded, nothing that a spreadsheet would run."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from npueval import gate
from npueval.cli import cli
from npueval.records import AccuracyRow, Value
from npueval.reporting import Dossier, spreadsheet
from support import dossiers, small_project

PLAN = small_project.PLAN.replace("  latency_p50_ms: 1000", "  latency_p50_ms: 5\n  ratio_to_baseline: 0.9")


@pytest.fixture(scope="module")
def dossier(tmp_path_factory: pytest.TempPathFactory) -> Dossier:
    """An NPU held against a GPU; the CPU was not measured, and one batch failed on the GPU."""
    machine = dossiers.environment_of(tmp_path_factory.mktemp("machine") / "bare")
    wanted = dossiers.project(tmp_path_factory.mktemp("project"), text=PLAN)
    npu, gpu = (
        dossiers.made_on(kind, [dossiers.lifelike(batch, factor * batch, n=100) for batch in batches])
        for kind, factor, batches in (("npu", 1.0, (4, 1)), ("cuda", 1.3, (4,)))
    )
    return dossiers.dossier(wanted, machine, npu, gpu)


def lines(dossier: Dossier) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(spreadsheet.render(dossier).removeprefix("\ufeff"))))


def number(value: float | None) -> str:
    return "" if value is None else repr(value)


def test_every_side_of_every_row_is_there_as_measured(dossier: Dossier) -> None:
    found = iter(lines(dossier))
    for kind, rows in (("performance", dossier.comparison.rows), ("stage", dossier.comparison.stages)):
        for row in rows:
            for side in ("npu", "gpu", "cpu"):
                line, value = next(found), getattr(row, side)
                assert (line["format"], line["kind"], line["side"]) == (spreadsheet.FORMAT, kind, side)
                assert (line["metric"], line["label"], line["unit"]) == (row.metric, row.label, row.unit)
                assert (line["precision"], line["batch"]) == ("fp32", str(row.batch))
                assert (line["concurrency"], line["arrival_rate"]) == ("1", "")
                assert [line[key] for key in ("value", "low_95", "high_95")] == [
                    number(value.value),
                    number(value.low),
                    number(value.high),
                ]
                assert line["source"] == value.source
    accuracy = list(found)
    assert [(line["kind"], line["side"]) for line in accuracy] == [("accuracy", "npu"), ("accuracy", "baseline")]
    assert accuracy[1]["source"] == dossier.comparison.accuracy_rows[0].baseline.source


def test_the_ratio_stands_with_its_baseline_and_the_target_with_the_npu(dossier: Dossier) -> None:
    npu, gpu, cpu = lines(dossier)[:3]
    change = dossier.comparison.rows[0].against_gpu
    assert gpu["npu_better_by"] == number(change.ratio)
    assert (gpu["npu_better_by_low_95"], gpu["npu_better_by_high_95"]) == (number(change.low), number(change.high))
    assert (gpu["outcome"], gpu["grade"], gpu["target"]) == (change.outcome, change.grade.value, "")
    assert (npu["target"], npu["judgement"], npu["npu_better_by"]) == ("≤ 5 ms；性能 ≥ 基线的 0.9 倍", "达标", "")
    assert cpu["npu_better_by"] == ""
    assert cpu["not_comparable_because"].startswith("N/A（")


def test_a_missing_value_says_why(dossier: Dossier) -> None:
    for line in lines(dossier):
        assert bool(line["value"]) != bool(line["missing_because"])


def test_a_simulated_run_is_marked(dossier: Dossier) -> None:
    marked = lines(dossiers.with_run(dossier, dossier.npu_run, simulated=True))
    assert {line["simulated"] for line in marked if line["side"] == "npu"} == {"true"}
    assert {line["simulated"] for line in marked if line["side"] == "gpu"} == {"false"}


def test_no_cell_is_a_formula(dossier: Dossier) -> None:
    base = Value(reason="@SUM(A1)\ud800")
    evil = AccuracyRow("=1+1", "=1+1", "fp32", "higher", base, Value(-0.5, source="+x"), refusal='"a","b"\n')
    text = spreadsheet.render(replace(dossier, comparison=replace(dossier.comparison, accuracy_rows=(evil,))))
    npu, baseline = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))[-2:]
    assert (npu["metric"], npu["value"], npu["source"]) == ("'=1+1", "-0.5", "'+x")
    assert baseline["missing_because"] == "'@SUM(A1)\ufffd"
    assert baseline["not_comparable_because"] == '"a","b"\n'
    text.encode("utf-8")


class TestCommand:
    @pytest.fixture
    def path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dossier: Dossier) -> Path:
        monkeypatch.setattr(gate, "examine", lambda _root: dossier.diagnosis)
        return small_project.write(tmp_path)

    def test_report_writes_both_views(self, path: Path) -> None:
        html, table = path.parent / "out" / "report.html", path.parent / "out" / "report.csv"
        done = CliRunner().invoke(cli, ["report", str(path), "--html", str(html), "--csv", str(table)])
        assert done.exit_code == 3, done.output
        assert f"written: {html}" in done.output
        assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
        assert table.read_bytes().startswith(b"\xef\xbb\xbfformat,kind,")

    @pytest.mark.parametrize("option", ["--html", "--csv"])
    @pytest.mark.parametrize("command", ["run", "report"])
    def test_nothing_is_written_in_a_dry_run(self, path: Path, command: str, option: str) -> None:
        done = CliRunner().invoke(cli, [command, str(path), "--dry-run", option, str(path.parent / "view")])
        assert done.exit_code == 2
        assert "--dry-run writes nothing" in done.output
        assert not (path.parent / "view").exists()
