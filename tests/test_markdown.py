"""The tree of a document, and the place of everything in its bytes."""

from npueval.markdown import parse
from npueval.tree import Document

PAGE = """\
# 性能与精度对比（Compare）

## 4 性能对比（baseline vs NPU）

- **本次性能结论所依据的 baseline**：项目日志
- 与归档对齐: 是
  - 细节：在 §6

| 指标 | GPU 基线 | NPU（迁移后） |
|---|---|---|
| 延迟 p50 (ms) | 12.3 | N/A |
| **吞吐** `samples/s` | |

### 4.1 分阶段耗时

- [x] 推理 smoke：通过
- [ ] 训练 smoke

```bash
python infer.py
```
"""


def page(text: str) -> Document:
    return parse(text.encode(), path="Compare.md")


def test_the_json_form_names_every_anchor() -> None:
    sections = page(PAGE).as_json()["sections"]

    assert list(sections) == ["性能与精度对比（Compare）", "4", "4.1"]
    assert sections["4"]["fields"] == {
        "本次性能结论所依据的 baseline": "项目日志",
        "与归档对齐": "是",
        "细节": "在 §6",
    }
    assert sections["4"]["tables"] == [
        {"columns": ["指标", "GPU 基线", "NPU（迁移后）"], "rows": ["延迟 p50 (ms)", "吞吐 samples/s"], "line": 9}
    ]
    assert sections["4.1"]["parent"] == "4"
    assert sections["4.1"]["code"] == ["bash"]
    assert sections["4.1"]["checks"] == [
        {"text": "推理 smoke：通过", "checked": True},
        {"text": "训练 smoke", "checked": False},
    ]


def test_a_pointer_leads_back_to_line_and_column() -> None:
    document = page(PAGE)

    assert document.locate(("sections", "4", "tables", 0, "rows", 1)) == (12, 1)
    assert document.locate(("sections", "4", "tables", 0, "columns", 2)) == (9, 17)
    assert document.locate(("sections", "4", "fields", "细节")) == (7, 5)
    assert document.locate(("sections", "4.1", "checks", 1, "text")) == (17, 4)
    assert document.locate(("sections", "4.1", "code", 0)) == (19, 1)
    assert document.locate(("sections", "4")) == (3, 1)
    assert document.locate(()) == (1, 1)
