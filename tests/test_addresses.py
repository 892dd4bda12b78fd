"""What an address means, and what is said when it means nothing or two things."""

import pytest

from npueval.documents.addresses import Address, resolve
from npueval.documents.markdown import parse
from npueval.documents.tree import Document
from npueval.errors import DocumentError

PAGE = """\
# 对比

## 2.1 基线环境

| 字段 | 值 |
|---|---|
| **硬件型号** | V100 |
| 框架/工程栈 | torch |

| 字段 | GPU 基线（默认） |
|---|---|
| 硬件型号 | A100 |

## ２．３ 测量口径

- **Warmup 次数：** 10
- 采样次数 / iterations：100
- [x] 推理 smoke：跑通
- [ ] 训练 smoke
- [ ] 训练短测

```bash
one
```

~~~
two
~~~

## 4. 性能

| 指标 | NPU（迁移后） | [目标](#t) | `目标` |
|---|---|---|---|
| 延迟 p50 (ms) | 1 | 2 | 3 |
| 吞吐 (samples/s 或 images/s) | 4 | 5 |
| 重复 | a | | |
| 重复 | b | | |

| 坏表 | 两列 |
|---|
| x | y |

## 元信息

- 名称：甲

## 元信息

- 名称：乙
"""


@pytest.fixture(scope="module")
def page() -> Document:
    return parse(PAGE.encode(), path="Compare.md")


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("2.1[2]/硬件型号/GPU 基线（默认）", "cell", "A100"),
        ("2.1[2]/硬件型号", "cell", "A100"),
        ("2.1/硬件型号/值", "cell", "V100"),
        ("2.1/框架/工程栈/值", "cell", "torch"),
        ("2.1/框架/工程栈", "cell", "torch"),
        ("２．１/框架/工程栈", "cell", "torch"),
        ("§2.1 基线环境/框架/工程栈", "cell", "torch"),
        ("2.1./硬件型号/GPU 基线 (默认)", "cell", "A100"),
        ("2.3/warmup次数", "field", "10"),
        ("测量口径/采样次数 / iterations", "field", "100"),
        ("2.3/推理 smoke", "check", "x"),
        ("2.3/训练短", "check", ""),
        ("2.3/code[2]", "code", "two"),
        ("4/延迟 p50 (ms)/NPU（迁移后）", "cell", "1"),
        ("4/延迟 p50 (ms)/昇腾 NPU", "cell", "1"),
        ("4/吞吐 (images/s)/NPU（迁移后）", "cell", "4"),
        ("4/吞吐/目标[2]", "cell", ""),
        ("4/重复[2]/NPU（迁移后）", "cell", "b"),
        ("元信息[2]/名称", "field", "乙"),
        ("元信息[1]/名称", "field", "甲"),
        ("2.3", "section", "## ２．３"),
        ("", "document", "# 对比"),
    ],
)
def test_it_leads_to_one_place(page: Document, path: str, kind: str, text: str) -> None:
    place = resolve(page, f"Compare#{path}")

    assert place.kind == kind
    assert place.text.startswith(text) if kind in ("section", "document") else place.text == text
    if place.span and kind not in ("check", "code"):
        assert page.read(place.span) == place.text
    if kind != "document":
        assert resolve(page, place.address) == place


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("2.6/x", "ADDRESS_MISSING", "no section '2.6'"),
        ("2.10", "ADDRESS_MISSING", "no section '2.10'"),
        ("2.3/Warmup 次", "ADDRESS_MISSING", "nearest: Warmup 次数"),
        ("4/延迟 p50 (ms)/NPU 迁移", "ADDRESS_MISSING", "nearest: NPU（迁移后）"),
        ("4/坏/列", "ADDRESS_MISSING", "no '坏/列' in section 4"),
        ("4/延迟 p50 (ms)/目标", "ADDRESS_AMBIGUOUS", "fits 2 places: Compare#4/延迟 p50 (ms)/目标[1]"),
        ("4/重复/NPU（迁移后）", "ADDRESS_AMBIGUOUS", "重复[2]"),
        ("2.3/训练", "ADDRESS_AMBIGUOUS", "训练 smoke"),
        ("2.3/code", "ADDRESS_AMBIGUOUS", "code[2]"),
        ("2.3/code[3]", "ADDRESS_MISSING", "no 'code[3]'"),
        ("2.3/code[0]", "ADDRESS_MISSING", "no 'code[0]'"),
        ("元信息/名称", "ADDRESS_AMBIGUOUS", "元信息[1]/名称, Compare#元信息[2]/名称"),
    ],
)
def test_it_refuses_with_what_there_is(page: Document, path: str, code: str, words: str) -> None:
    with pytest.raises(DocumentError) as refused:
        resolve(page, f"Compare#{path}")

    assert refused.value.code == code
    assert words in str(refused.value)


def test_a_table_whose_head_does_not_fit_is_named(page: Document) -> None:
    with pytest.raises(DocumentError, match=r"line 40 is no table: its header and delimiter row differ"):
        resolve(page, "Compare#4/x/两列")


@pytest.mark.parametrize("text", ["", "#4/x", "  # ", "Compare#" + "/" * 2000])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(DocumentError, match="not an address"):
        Address.parse(text)


def test_an_address_prints_as_it_is_written() -> None:
    assert str(Address.parse(" Compare#4/延迟 p50 (ms)/目标 ")) == "Compare#4/延迟 p50 (ms)/目标"
    assert str(Address.parse("Compare")) == "Compare"
