"""What must stand in the documents, and where what is missing is reported."""

import pytest

from npueval.documents import markdown
from npueval.documents.layout import HOMES, template
from npueval.documents.structure import blank, problems

NAMES = [home.name for home in HOMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_document_has_everything(name: str) -> None:
    assert problems(blank(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_more_is_welcome(name: str) -> None:
    more = (
        template(name).decode()
        + "\n## 99 更多\n\n| a | b |\n|---|---|\n| c | d |\n\n- 键：值\n- [ ] 待办\n\n```\nx\n```\n"
    )

    assert problems(markdown.parse(more.encode(), path="x.md", name=name)) == []


def test_labels_in_another_width_or_case_are_the_same() -> None:
    text = template("Compare").decode()
    for old, new in [
        ("NPU（迁移后）", "NPU(迁移后)"),
        ("| 延迟 p50 (ms) |", "| **延迟　P50（ms）** |"),
        ("- Warmup 次数：", "- `warmup次数`: "),
        ("## 4. ", "## §４ "),
    ]:
        assert old in text
        text = text.replace(old, new)

    assert problems(markdown.parse(text.encode(), path="Compare.md")) == []


@pytest.mark.parametrize(
    ("gone", "words", "heading"),
    [
        ("- Warmup 次数：\n", "missing 'Warmup 次数' in section 2.3", "### 2.3"),
        ("| 延迟 p95 (ms) |  |  |  |  |  |  |  |\n", "missing '延迟 p95 (ms)' in section 4", "| 指标 | CPU"),
    ],
)
def test_what_is_missing_is_reported_at_what_encloses_it(gone: str, words: str, heading: str) -> None:
    text = template("Compare").decode()
    assert gone in text
    text = text.replace(gone, "")

    (problem,) = problems(markdown.parse(text.encode(), path="Compare.md"))

    assert words in problem.message
    assert problem.line
    assert text.split("\n")[problem.line - 1].startswith(heading)
    assert problem.column == 1
