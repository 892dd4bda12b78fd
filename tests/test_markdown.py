"""The tree of a document, and the place of everything in its bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npueval.documents.markdown import parse, render
from npueval.documents.places import places_in
from npueval.documents.tree import Document
from npueval.errors import DocumentError

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


# Inputs of our own for each chapter of the CommonMark specification and for the GFM extensions that matter here.
CONSTRUCTS = [
    "\tfoo\tbaz\n\n>\t\tcode\n\n-\t\tx\n",
    "\\# no\\| \\` \\\\\n\n&amp; &#35; &nosuch;\n",
    "***\n\n- - -\n\n+++\n\n_____________\n",
    "# a\n## b ##\n####### c\n#d\n#\n### ###\n",
    "a\n===\n\nb\nc\n---\n\n---\n\n> x\n---\n",
    "    code\n\n      more\n\n- a\n\n      code\n",
    "```a b\n<\n```\n~~~\n`\n~~~\n````\n```\n",
    "<table><tr><td>\n| a |\n|---|\n</td></tr></table>\n\n<!-- - a：b -->\n<?php\n?>\n<![CDATA[\n]]>\n",
    "[a]: /u 'v'\n[b]: <>\n[c]:\n  /u\n[d]: x y\n\n[a] [b][] ![c](d 'e')\n",
    "a\n b\n    c\n\n   d  \ne\\\nf\n",
    "> a\nb\n\n> > c\n> - d\n>   > e\n\n>\n",
    "- a\n - b\n  - c\n\n1. x\n2) y\n- \n-\n  z\n",
    "- a\n\n  b\n\n\n- c\n1234567890. d\n- - - e\n",
    "`a` ``b`c`` *d* **e** _f_ __g__ ~~h~~ <i> <http://j.k> l@m.n\n",
    "| a | b |\n| - | :-: |\n| c | d | e |\n| f\n\n| g |\n|---|---|\n",
    "a | b\n-|-\nc\n# d\n\na | b\n:-|:\nx\n",
    "- [ ] a\n- [x] b\n- [X]\n- [ ]c\n- [] d\n1. [ ] e\n",
    "> | a |\n> |---|\n> | b |\n| c |\n\n- | d |\n  |---|\n  | e |\n | f |\n",
    "\u2028 \u0085 \u000b \u000c \u00a0\n# \u3000a\n|\u3000a\u3000|\n|---|\n",
    "---\nа: b\n---\n---\nc\n...\n",
    "\n\n\n",
    "",
    "x",
    "|",
    "|-|\n|-|",
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("around", ["{}", "## 1 a\n\n{}## 2 b\n\n- c：d\n", "\ufeff{}", "- x\n\n{}"], ids=str)
def test_every_construct_is_read_and_found_in_its_bytes(around: str, end: str) -> None:
    for construct in CONSTRUCTS:
        data = around.format(construct).replace("\n", end).encode()
        document = parse(data, path="x.md")
        assert document.data == data
        assert_consistent(document)


@settings(max_examples=150, deadline=None)
@given(st.text("#|-:=`~>*+_[]()<!x1. \t\n\r\\&\u3000表：", max_size=80))
def test_any_text_is_read_and_found_in_its_bytes(text: str) -> None:
    assert_consistent(parse(text.encode(), path="x.md"))


def assert_consistent(document: Document) -> None:
    json.dumps(document.as_json())
    lines = document.lines
    assert b"".join(document.data[a:b] for a, b in zip(lines.starts, lines.stops, strict=True)) in document.data
    for number, section in enumerate(document.sections):
        assert document.locate(("sections", list(document.as_json()["sections"])[number]))[0] == section.line
        for place in places_in(document, number):
            line, column = place.position
            assert 1 <= line <= len(lines)
            assert column >= 1
            if place.kind == "cell" and place.span:
                assert document.read(place.span).replace("\\|", "|") == place.text
            elif place.kind == "check" and place.span:
                assert document.read(place.span) in " xX"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("## 4 性能".encode("gbk"), "byte 0xd0 at offset 5; it looks like GB18030"),
        ("## 4 性能".encode("utf-16"), "byte 0xff at offset 0; it looks like UTF-16LE"),
        ("## 4 性能".encode("utf-16-be"), "it looks like UTF-16BE"),
        ("## 4 abc".encode("utf-16-le"), "byte 0x00 at offset 1; it looks like UTF-16LE"),
        ("第一行\n性".encode() + b"\xff\xfe", "x.md:2: not UTF-8: byte 0xff at offset 13"),
        ("性能".encode()[:-1], "byte 0xe8 at offset 3"),
        (b"a\0b", "byte 0x00 at offset 1"),
        (b"\xed\xa0\x80", "byte 0xed at offset 0"),
    ],
)
def test_other_encodings_are_named_and_refused(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError) as refused:
        parse(data, path="x.md")

    assert words in str(refused.value)
    assert refused.value.code == "DOCUMENT_ENCODING"


def test_a_byte_order_mark_is_no_text_and_no_column() -> None:
    document = parse("\ufeff# 标题\n\n- 甲：乙\n".encode(), path="x.md")

    assert document.sections[0].title == "标题"
    assert document.locate(("sections", "标题")) == (1, 1)
    assert document.data.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("heading", "number", "title"),
    [
        ("2.6 基线", "2.6", "基线"),
        ("２．６　基线（默认）", "2.6", "基线（默认）"),
        ("§2.6 基线", "2.6", "基线"),
        ("2.6. 基线", "2.6", "基线"),
        ("2.6基线", "2.6", "基线"),
        ("3、精度", "3", "精度"),
        ("3) 精度", "3", "精度"),
        ("4", "4", ""),
        ("3D 检测", None, "3D 检测"),
        ("1.5x 加速", None, "1.5x 加速"),
        ("3个月", None, "3个月"),
        ("**总览**", None, "总览"),
    ],
)
def test_numbers_of_headings(heading: str, number: str | None, title: str) -> None:
    (section,) = page(f"## {heading}\n").sections

    assert (section.number, section.title, section.key) == (number, title, number or title)


@pytest.mark.parametrize(
    ("item", "key", "text"),
    [
        ("延迟定义：端到端", "延迟定义", "端到端"),
        ("**延迟定义：** 端到端", "延迟定义", "端到端"),
        ("**延迟**定义：**端到端**", "延迟定义", "**端到端**"),
        ("`set_env`: /usr/local/a:b", "set_env", "/usr/local/a:b"),
        ("`a:b`：c", "a:b", "c"),
        ("校验（如 sha256：…）：无", "校验（如 sha256：…）", "无"),
        ("[日志](http://a.cn)：x", "日志", "x"),
        ("路径: C:\\a", "路径", "C:\\a"),
        ("漏括号（a：b", "漏括号（a", "b"),
        ("没有冒号", None, None),
        ("12:30 开会", None, None),
        ("http://a.cn", None, None),
        ("：值", None, None),
    ],
)
def test_keys_of_list_items(item: str, key: str | None, text: str | None) -> None:
    (section,) = page(f"## 1 a\n\n- {item}\n").sections

    assert [(each.key, each.text) for each in section.fields] == ([(key, text)] if key else [])


def test_what_only_looks_like_structure_is_told_with_its_mend() -> None:
    text = "# a\n\n###2.6 b\n\n###\u3000c\n\n＃＃ d\n\n#标签\n\n- [✓] e\n- ［ ］ f\n- [] g\n\n| x | y |\n|---|\n"

    found = page(text).suspects

    assert [(each.kind, each.line, each.replacement) for each in found] == [
        ("heading", 3, "### "),
        ("heading", 5, "### "),
        ("heading", 7, "## "),
        ("check box", 11, "[x]"),
        ("check box", 12, "[ ]"),
        ("check box", 13, "[ ]"),
        ("table", 16, ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5000 + " a",
        "- " * 2000 + "a",
        "[" * 20000,
        "|" * 50000 + "\n" + "|-" * 25000,
        "```\n" * 2001,
        "*a" * 50000,
    ],
    ids=["quotes", "lists", "brackets", "columns", "fences", "emphasis"],
)
def test_depth_and_width_end_well(text: str) -> None:
    assert_consistent(page(f"## 1 a\n\n{text}\n"))


def test_what_a_reader_sees_of_a_label() -> None:
    seen = {
        "**a** _b_": "a b",
        "`x|y`": "x|y",
        "[a](b.md)": "a",
        "![c](d)": "c",
        "a<br>b": "a b",
        "a&lt;b": "a<b",
        "a_b": "a_b",
    }

    assert {text: render(text) for text in seen} == seen
    assert render("*" * 5000) == "*" * 5000
