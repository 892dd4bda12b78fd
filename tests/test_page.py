"""The page: complete, self-contained, safe whatever a name holds, and small."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from npueval import plan, runs, triggers
from npueval.environment import Environment
from npueval.language import same
from npueval.records import Citation, Fact
from npueval.reporting import Dossier, page
from npueval.reporting.dossier import Statement
from npueval.runs.conditions import DeviceFacts, Resources
from support import dossiers, small_project
from support.outline import Node, parse

PLAN = small_project.PLAN.replace(
    "segments: [infer, postprocess]", "segments: [preprocess, h2d, infer, d2h, postprocess]"
).replace("  latency_p50_ms: 1000", "  latency_p50_ms: 5\n  ratio_to_baseline: 0.9")
SECTIONS = list(page.CONTENTS)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return dossiers.environment_of(tmp_path_factory.mktemp("machine") / "bare")


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> plan.Plan:
    return dossiers.project(tmp_path_factory.mktemp("project"), text=PLAN)


def brought(kind: str, factor: float = 1.0, **changes: object) -> runs.Run:
    cases = [dossiers.lifelike(batch, factor * (1 + 0.3 * batch), n=100, seed=batch) for batch in (4, 1)]
    return dossiers.made_on(kind, cases, **changes)


@pytest.fixture(scope="module")
def complete(wanted: plan.Plan, machine: Environment) -> Dossier:
    """All three sides measured."""
    environment = machine.as_json()
    npu, cpu = brought("npu", environment=environment), brought("cpu", 6, environment=environment)
    return dossiers.dossier(wanted, machine, npu, brought("cuda", 1.3, environment={"digest": "x"}), cpu)


@pytest.fixture(scope="module")
def absent(wanted: plan.Plan, machine: Environment) -> Dossier:
    """No NPU: the CPU alone was measured."""
    return dossiers.dossier(wanted, machine, brought("cpu", 6))


@pytest.fixture(scope="module")
def simulated(wanted: plan.Plan, machine: Environment) -> Dossier:
    """The NPU's Run is a simulated one."""
    return dossiers.dossier(wanted, machine, brought("npu", simulated=True), brought("cpu", 6))


@pytest.fixture(scope="module", params=["complete", "absent", "simulated"])
def dossier(request: pytest.FixtureRequest) -> Dossier:
    found: Dossier = request.getfixturevalue(request.param)
    return found


def rendered(dossier: Dossier) -> str:
    return page.render(dossier, triggers.commands(dossier.plan, dossier.diagnosis))


@pytest.fixture(scope="module")
def root(dossier: Dossier) -> Node:
    return parse(rendered(dossier))


def section(root: Node, name: str) -> Node:
    return next(node for node in root.all("section") if node.attributes["id"] == name)


class TestEveryPage:
    def test_the_verdict_comes_first_then_the_sections_in_their_order(self, root: Node) -> None:
        assert root.one("html").attributes["lang"] == "zh"
        assert [part.tag for part in root.one("body").parts if isinstance(part, Node)] == ["header", "div", "footer"]
        words = [node.text for node in root.one("header").all(class_="word")]
        assert len(words) == 3
        assert all(re.fullmatch("[✓◐✕?](通过|有条件通过|不通过|待定)", word) for word in words)
        assert [node.attributes["id"] for node in root.one("main").all("section")] == SECTIONS

    def test_headings_step_down_one_level_at_a_time(self, root: Node) -> None:
        levels = [int(node.tag[1]) for node in root.all("h1", "h2", "h3", "h4")]
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_names_are_unique_and_every_reference_has_its_target(self, root: Node) -> None:
        names = [node.attributes["id"] for node in root.all() if "id" in node.attributes]
        assert len(set(names)) == len(names)
        pointed = {(node.attributes["href"] or "")[1:] for node in root.all("a")}
        labels = {node.attributes["aria-labelledby"] for node in root.all("section")}
        assert pointed | labels <= set(names)
        assert set(SECTIONS) <= pointed

    def test_nothing_is_fetched_and_nothing_runs(self, root: Node) -> None:
        assert not list(root.all("script", "iframe", "object", "embed", "img", "base", "form"))
        policy = next(n for n in root.all("meta") if n.attributes.get("http-equiv") == "Content-Security-Policy")
        assert (policy.attributes["content"] or "").startswith("default-src 'none'")
        for node in root.all():
            assert not [name for name in node.attributes if name.startswith("on") or name in ("src", "srcset")]
            assert (node.attributes.get("href") or "#").startswith(("#", "data:,"))
            assert "url(" not in (node.attributes.get("style") or "")
        assert not re.search(r"url\(|@import|http", root.one("style").text)

    def test_every_drawing_is_described_and_has_its_table(self, root: Node) -> None:
        figures = list(root.all("figure"))
        assert figures
        for figure in figures:
            assert figure.one("figcaption").text.strip()
            assert list(figure.all("table"))
        for drawing in root.all("svg"):
            if drawing.attributes.get("aria-hidden") != "true":
                assert drawing.attributes["role"] == "img"
                assert [part.tag for part in drawing.parts[:2] if isinstance(part, Node)] == ["title", "desc"]
                assert drawing.one("title").text
                assert drawing.one("desc").text

    def test_tables_name_their_rows_and_columns(self, root: Node) -> None:
        for table in root.all("table"):
            assert table.one("caption").text
            assert all(head.attributes["scope"] in ("col", "row", "rowgroup") for head in table.all("th"))
            widths = {
                sum(int(cell.attributes.get("colspan") or 1) for cell in row.all("th", "td")) for row in table.all("tr")
            }
            assert len(widths) == 1, table.one("caption").text

    def test_what_is_not_there_says_why(self, root: Node) -> None:
        remarks = {node.attributes["id"] for node in root.all("li") if "id" in node.attributes}
        for gap in root.all(class_="gap"):
            mark = next(gap.all("a"), None)
            if mark is not None:
                assert (mark.attributes["href"] or "")[1:] in remarks
            elif gap.text.startswith("N/A"):
                assert re.fullmatch("N/A（.+）", gap.text, re.DOTALL)

    def test_the_same_records_give_the_same_page(self, dossier: Dossier, tmp_path: Path) -> None:
        read = tuple(runs.load(runs.save(run, tmp_path)) for run in dossier.runs)
        assert rendered(replace(dossier, runs=read)) == rendered(dossier)


@pytest.fixture(scope="module")
def sheet(complete: Dossier) -> Node:
    return parse(rendered(complete))


class TestComplete:
    def test_key_figures_have_their_interval_and_ratio(self, sheet: Node, complete: Dossier) -> None:
        row = complete.comparison.rows[0]
        tile = next(t for t in section(sheet, "figures").all("article") if t.one("h3").text == row.label)
        assert f"{row.npu.value:.4g} ms [{row.npu.low:.4g}, {row.npu.high:.4g}] n=100" in tile.text
        assert f"对 GPU：{row.against_gpu.ratio:.4g} 倍" in tile.text
        assert row.judgement is not None
        assert tile.one(class_="chip").text == row.judgement

    def test_all_sides_are_drawn(self, sheet: Node) -> None:
        histogram, cumulative, timeline = section(sheet, "samples").all("figure")
        assert [node.text for node in cumulative.one(class_="legend").all("li")] == ["NPU", "GPU", "CPU"]
        for figure in (histogram, timeline):
            assert [node.one("b").text for node in figure.all(class_="of")] == ["NPU", "GPU", "CPU"]
        assert [note.text for note in timeline.all(class_="note")][0::2] == ["预热 20"] * 3
        assert all(re.fullmatch(r"漂移 [+-]\d\.\d%", note.text) for note in list(timeline.all(class_="note"))[1::2])

    def test_stages_are_side_by_side(self, sheet: Node) -> None:
        names = [node.one("h3").text for node in section(sheet, "stages").all(class_="stage")]
        assert names == ["预处理", "H2D 拷贝", "推理", "D2H 拷贝", "后处理"]
        shares = next(t for t in section(sheet, "stages").all("table") if t.one("caption").text == "NPU 各环节均值")
        found = [float(row.parts[2].text[:-1]) for row in shares.one("tbody").all("tr")]  # type: ignore[union-attr]
        assert sum(found[:-1]) == pytest.approx(100, abs=0.3)

    def test_the_curve_has_a_point_for_each_case(self, sheet: Node) -> None:
        rows = list(section(sheet, "scaling").one("tbody").all("tr"))
        assert len(rows) == 2 * 3

    def test_conditions_are_listed_and_what_differs_stands_first(self, sheet: Node, complete: Dossier) -> None:
        first = section(sheet, "comparability").one("table")
        found = [node.text for node in first.all(class_="agreement")]
        assert len(found) == len(complete.comparison.points["gpu"])
        assert found == sorted(found, key=["不同", "未知", "相同"].index)

    def test_environments_are_held_against_each_other(self, sheet: Node) -> None:
        environments = section(sheet, "environment")
        gpu, every, cpu = environments.all("table")
        told = {row.one("th").text: [cell.text for cell in row.all("td")] for row in gpu.one("tbody").all("tr")}
        assert told["环境指纹"][1:] == ["x", "不同"]
        assert told["卡数"] == ["1", "1", "相同"]
        assert told["驱动"][2] == "未知"
        assert "python.version" in every.text
        assert {node.text for node in cpu.all(class_="agreement")} == {"相同", "未知", "不同"}
        assert environments.one("summary").text.startswith("NPU 对 GPU 的全部环境差异（")
        assert "NPU 对 CPU 的全部环境差异（0 项）" in environments.text

    def test_the_baseline_is_quoted_with_its_line(self, sheet: Node) -> None:
        quoted = next(row for row in section(sheet, "evidence").all("tr") if row.text.startswith("val_accuracy"))
        assert "logs/train.log:13" in quoted.text
        assert "val_accuracy 0.9750 (n=360)" in quoted.text

    def test_sampled_readings_are_summed_up(self, complete: Dossier) -> None:
        taken = Resources(0.5, {"power_w": (100.0, None, 300.0)}, {"temperature_c": same("not readable")})
        told = parse(rendered(dossiers.with_run(complete, complete.npu_run, resources=taken)))
        rows = [[cell.text for cell in row.all("th", "td")] for row in section(told, "costs").all("tr")]
        assert ["power_w", "100", "100", "300", "2 / 3"] in rows
        assert ["temperature_c", "N/A（not readable）", "—", "—", "—"] in rows

    def test_many_doubts_are_folded_and_none_is_lost(self, complete: Dossier) -> None:
        doubts = tuple(f"doubt {number}." for number in range(30))
        told = parse(rendered(replace(complete, comparison=replace(complete.comparison, doubts=doubts))))
        assert [item.text for item in section(told, "doubts").all("li")][:30] == list(doubts)
        assert section(told, "doubts").one("summary").text.startswith("其余")

    def test_what_was_verified_is_said(self, complete: Dossier) -> None:
        found = {"golden": Statement(False, "最大误差 0.3"), "checkpoint": Statement(None, "?")}
        told = parse(rendered(replace(complete, verified=found)))
        rows = [row.text for row in section(told, "verified").one("tbody").all("tr")]
        assert rows == ["checkpoint无法判断?", "Golden 样本一致性未通过最大误差 0.3"]


class TestWithoutAnNpu:
    def test_the_commands_that_fill_the_gaps_are_there(self, absent: Dossier) -> None:
        missing = section(parse(rendered(absent)), "missing")
        scripts = "\n".join(node.text for node in missing.all("pre"))
        for command in ("npueval measure npueval.yaml", "npueval baseline kit npueval.yaml", "npueval golden"):
            assert command in scripts
        assert "torchrun" not in scripts
        assert any("NPU 未执行" in row.text for row in missing.one("table").all("tr"))

    def test_nothing_is_drawn_for_a_side_without_samples(self, absent: Dossier) -> None:
        root = parse(rendered(absent))
        cumulative = list(section(root, "samples").all("figure"))[1]
        assert [node.text for node in cumulative.one(class_="legend").all("li")] == ["CPU"]
        assert "NPU N/A（NPU 未执行" in section(root, "samples").text


class TestSimulated:
    def test_it_is_said_wherever_the_run_is_named(self, simulated: Dossier) -> None:
        root = parse(rendered(simulated))
        assert root.one("title").text.startswith("SIMULATED")
        assert root.one("header").one(class_="banner").text.startswith("SIMULATED")
        names = [node.text for node in root.all("b") if node.text.startswith("NPU")]
        names += [node.text for node in root.all("li", class_="npu")]
        names += [node.text for node in root.all("th", "span") if node.text == "NPU"]
        assert set(names) == {"NPU（模拟）"}

    def test_it_has_no_figure_and_no_verdict(self, simulated: Dossier) -> None:
        root = parse(rendered(simulated))
        assert [node.text for node in root.one("header").all(class_="word")] == ["?待定"] * 3
        for tile in section(root, "figures").all("article"):
            npu = next(node for node in tile.one(class_="bars").parts if isinstance(node, Node))
            assert not list(npu.all("rect"))
            assert "来自模拟设备" in npu.text
        assert "来自模拟设备" in section(root, "stages").one("p").text


class TestTrouble:
    def test_wrong_outputs_are_said_first(self, wanted: plan.Plan, machine: Environment) -> None:
        wrong = brought("npu", invalid=(same("输出含 NaN"),), complete=False)
        root = parse(rendered(dossiers.dossier(wanted, machine, wrong)))
        banners = [node.text for node in root.one("header").all(class_="banner")]
        assert banners[0] == "NPU fp32（输出错误）：输出含 NaN"
        assert "未完成" in banners[1]

    def test_a_side_without_samples_of_a_case_says_what_ended_it(self, wanted: plan.Plan, machine: Environment) -> None:
        ended = dossiers.lifelike(4, 2.0, n=100, samples={}, warmup={}, complete=False, error="out of memory")
        run = dossiers.made_on("npu", [ended, dossiers.lifelike(1, 1.0, n=100)])
        root = parse(rendered(dossiers.dossier(wanted, machine, run)))
        assert "N/A（out of memory）" in section(root, "samples").text

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_few_samples_are_drawn_and_not_judged(self, wanted: plan.Plan, machine: Environment, n: int) -> None:
        few = dossiers.made_on("npu", [dossiers.lifelike(4, 2.0, n=n, warmup={})])
        root = parse(rendered(dossiers.dossier(wanted, machine, few)))
        assert f"样本不足 (n={n})" in section(root, "figures").text
        assert f"N/A（样本不足 n={n}）" in section(root, "samples").text

    def test_equal_samples_are_drawn(self, wanted: plan.Plan, machine: Environment) -> None:
        case = dossiers.lifelike(4, 2.0, n=100)
        flat = {name: series * 0 + 1_000_000 for name, series in case.samples.items()}
        same = dossiers.made_on("npu", [replace(case, samples=flat)])
        assert "nan" not in rendered(dossiers.dossier(wanted, machine, same)).lower().replace("nanosecond", "")


EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>\u202e\x00\x1b[31m\udcff"
SHOWN = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>\\u202e\\u0000\\u001b[31m\\udcff"


@pytest.fixture(scope="module")
def attacked(complete: Dossier) -> str:
    assert complete.npu_run is not None
    evil = dossiers.with_run(
        complete,
        complete.npu_run,
        device=DeviceFacts(EVIL, "npu", 0, EVIL),
        doubts=(same(EVIL),),
        environment={"packages": {"torch": EVIL}, EVIL: EVIL},
        output_check=None,
    )
    fact = Fact(EVIL, Citation(EVIL, 1, EVIL))
    return rendered(
        replace(
            evil,
            plan=replace(complete.plan, project=plan.Project(EVIL)),
            baseline=replace(complete.baseline, facts={EVIL: fact}, doubts=(EVIL,)),
            comparison=replace(complete.comparison, doubts=(EVIL,)),
            files={complete.npu_run.id: EVIL},
        )
    )


class TestAttack:
    def test_it_is_text_and_nothing_else(self, attacked: str) -> None:
        root = parse(attacked)
        assert not list(root.all("script", "img"))
        assert not [name for node in root.all() for name in node.attributes if name.startswith("on")]
        assert root.one("h1").text == SHOWN
        for name in ("environment", "evidence", "doubts"):
            assert SHOWN in section(root, name).text

    def test_it_can_be_written(self, attacked: str) -> None:
        assert attacked.encode("utf-8").decode("utf-8") == attacked


def test_fifty_cases_fit_into_a_megabyte(complete: Dossier) -> None:
    batches = range(1, 51)
    cases = {b: dossiers.lifelike(b, 1 + 0.3 * b, n=1000, seed=b) for b in batches}
    first = complete.comparison.rows[:3]
    rows = tuple(replace(row, batch=batch, label=f"{row.label}（batch={batch}）") for batch in batches for row in first)
    made = tuple(replace(run, cases=tuple(cases.values())) for run in complete.runs)
    text = rendered(replace(complete, comparison=replace(complete.comparison, rows=rows), runs=made))
    assert len(text.encode("utf-8")) <= 1_000_000
    drawn = [node for node in parse(text).all("details") if node.classes == ["case"]]
    assert len(drawn) == len(batches) - 1
    assert "1000 个样本画成 60 段，每段从最小到最大，极值都在" in drawn[0].text


def test_several_precisions_stand_beside_each_other(tmp_path: Path, machine: Environment) -> None:
    text = PLAN.replace("precision: fp32", "precision: [fp32, fp16]")
    both = dossiers.project(tmp_path / "project", text=text)
    half = brought("npu", 0.5, id="20260202T000000Z-npu-0000", precision="fp16")
    root = parse(rendered(dossiers.dossier(both, machine, brought("npu"), half, brought("cuda", 1.3))))
    cases = [node.text for node in section(root, "cases").all(class_="case") if node.tag == "tr"]
    assert cases == [f"{p} · batch={b} · 顺序单请求" for p in ("fp32", "fp16") for b in (4, 1)]
    curves = {note.text for note in section(root, "scaling").all(class_="note")}
    assert {"fp32·b4", "fp16·b4"} <= curves
    heads = [node.text for node in section(root, "costs").one("table").all("th")]
    assert heads[1:4] == ["NPU fp32", "NPU fp16", "GPU fp32"]
    assert "该测量的精度为 fp32，与计划 fp16 不同" in section(root, "missing").text
