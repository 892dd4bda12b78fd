"""What a written value says."""

import pytest

from npueval.records import Gate
from npueval.rules import wording
from npueval.rules.wording import Verdict


@pytest.mark.parametrize("text", ["", " ", "-", "—", "/", "……", "（）", "<p50>", "（待填写）", "（如 Top-1）"])
def test_blank(text: str) -> None:
    assert wording.is_blank(text)
    assert wording.is_open(text)


@pytest.mark.parametrize("text", ["N/A", "n/a", " N/A。", "NA", "Ｎ／Ａ", "N/A（）", "`N/A`", "**N/A**"])
def test_not_applicable_without_a_reason(text: str) -> None:
    assert wording.lacks_reason(text)


@pytest.mark.parametrize(
    "text", ["N/A（没有 GPU）", "N/A：仅推理", "N/A未测", "N/A (no log)", "N/A - 未测", "NAS 网络存储", "无"]
)
def test_a_reason_or_something_else(text: str) -> None:
    assert not wording.lacks_reason(text)


@pytest.mark.parametrize("text", ["4.2", "约 4.2 ms", "≤ 5", "1,234", "`3.91`"])
def test_measured(text: str) -> None:
    assert wording.is_measured(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N/A（第 2 次失败）",
        "N/A缺 1 项",
        "待按 Mig_Readme §2.6 补采",
        "不可比：batch 1 与 32",
        "未执行",
        "TBD 2025",
        "数字",
    ],
)
def test_not_measured(text: str) -> None:
    assert not wording.is_measured(text)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("通过（p50 3.91 ms）", Verdict.PASSED),
        ("**达标**", Verdict.PASSED),
        ("是", Verdict.PASSED),
        ("✅ 通过", Verdict.PASSED),
        ("有条件通过：仅日志均值", Verdict.CONDITIONAL),
        ("不通过", Verdict.FAILED),
        ("未达标，差 3%", Verdict.FAILED),
        ("否", Verdict.FAILED),
        ("❌", Verdict.FAILED),
        ("是否达标待定", None),
        ("通过率待测", None),
        ("通过后填写", None),
        ("N/A（没有基线）", None),
        ("待定", None),
        ("未执行", None),
        ("不下结论", None),
        ("", None),
    ],
)
def test_verdict(text: str, meaning: Verdict | None) -> None:
    assert wording.verdict(text) is meaning


def test_gate() -> None:
    assert wording.gate("判定为 MANUAL_STOP（CANN 缺失）") is Gate.MANUAL_STOP
    assert wording.gate("`AUTO`（可直接执行测试）") is Gate.AUTO
    assert wording.gate("AUTOMATIC") is None


def test_versions() -> None:
    text = "驱动24.1.rc2.2，CANN8.0.RC3，torch_npu v2.1.0.post10，torch 2.1.0a0+git，batch 32，2025-06-01，train3.py"
    assert wording.versions(text) == ["24.1.rc2.2", "8.0.rc3", "2.1.0.post10", "2.1.0a0"]


def test_figures_carry_their_unit() -> None:
    text = "p50 4.20 ms，batch 32，9 ms，吞吐1,234.5 images/s，top-1 97.8%"
    assert wording.figures(text) == [("4.20", "ms"), ("9", "ms"), ("1234.5", "images/s"), ("97.8", "%")]
    assert wording.figures("8 bits") == []


def test_rounding() -> None:
    assert wording.rounds_to("4.2", ["4.217"])
    assert wording.rounds_to("4.217", ["4.217"])
    assert not wording.rounds_to("4.3", ["4.217"])
    assert not wording.rounds_to("4.21", ["4.2"])
    assert not wording.rounds_to("4.2", [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("项目训练日志（logs/train.log）", "log"),
        ("GPU 实测，日志缺推理延迟", "gpu"),
        ("CPU 实测", "cpu"),
        ("N/A（没有 GPU，也没有日志）", "none"),
        ("见备注", None),
        ("", None),
    ],
)
def test_baseline_kind(text: str, kind: str | None) -> None:
    assert wording.baseline_kind(text) == kind


@pytest.mark.parametrize(("text", "denied"), [("无", True), ("暂无", True), ("N/A（无）", True), ("无法收敛", False)])
def test_denies(text: str, denied: bool) -> None:
    assert wording.denies(text) is denied


@pytest.mark.parametrize("text", ["1" * 100_000, "1,111" * 20_000, "N" + " " * 100_000, "a" * 100_000, "1." * 50_000])
def test_long_values_take_linear_time(text: str) -> None:
    assert wording.figures(text) == []
    assert not wording.lacks_reason(text)
    assert wording.verdict(text) is None
    wording.versions(text)
