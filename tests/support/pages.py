"""Random documents built from everything that is hard about Markdown, and random texts to write into them."""

from __future__ import annotations

from hypothesis import strategies as st

LABELS = [
    "延迟 p50 (ms)",
    "吞吐",
    "**粗**体",
    "`x \\| y`",
    "[链](a.md)",
    "NPU（迁移后）",
    "框架/工程栈",
    "p_50",
    "ｐ９５",
    "&lt;a&gt;",
]
CELLS = [
    "",
    "",
    "1",
    "表",
    "a\\|b",
    "`c\\|d`",
    "\u3000",
    "\u00a0x",
    "**x**",
    "<!-- -->",
    "\\\\",
    "<x>",
    "[x]",
]
ALPHABET = "ab1|\\`*_<>[]!#-+. ：:表\u3000\xa0~&=\t,（）"
AWKWARD = [
    "",
    "|",
    "\\",
    "\\|",
    "||\\",
    "`|`",
    "<!--",
    "-->",
    "- x",
    "# x",
    "> x",
    "```",
    "---",
    "===",
    "[x] y",
    "1. x",
    "**",
    "a：b",
]

texts = st.one_of(st.sampled_from(AWKWARD), st.text(ALPHABET, max_size=12))
labels = st.sampled_from(LABELS)
cells = st.sampled_from(CELLS)


@st.composite
def rows(draw: st.DrawFn, first: str, count: int, style: int) -> str:
    """A row: both pipes, none, or one of them; padded or not."""
    pad = draw(st.sampled_from(["", " ", "   ", "\t"]))
    inner = [first, *(draw(cells) for _ in range(count - 1))]
    if style == 0:
        return "|" + "|".join(f"{pad}{cell}{pad or ' '}" for cell in inner) + "|"
    # Without a pipe at the edge an empty or blank last cell would not be one.
    inner[-1] = inner[-1].strip() or "z"
    line = f"{pad or ' '}|{pad or ' '}".join(inner)
    return {1: line, 2: f"| {line}", 3: f"{line} |"}[style]


@st.composite
def tables(draw: st.DrawFn) -> list[str]:
    count, style = draw(st.integers(2, 4)), draw(st.sampled_from([0, 0, 0, 1, 2, 3]))
    head = draw(st.lists(labels, min_size=count, max_size=count))
    dashes = draw(st.lists(st.sampled_from(["---", ":-:", "-", "--:"]), min_size=count, max_size=count))
    lines = [f"| {' | '.join(head)} |" if style == 0 else " | ".join(head), f"|{'|'.join(dashes)}|"]
    for label in draw(st.lists(labels, max_size=4)):
        width = draw(st.sampled_from([count, count, count, 1, count + 1]))
        lines.append(draw(rows(label, width, style)))
    return lines


@st.composite
def fields(draw: st.DrawFn) -> list[str]:
    marker = draw(st.sampled_from(["-", "*", "+", "1."]))
    lines = []
    for label in draw(st.lists(labels, min_size=1, max_size=3)):
        form = draw(st.sampled_from(["{}：{}", "{}: {}", "{}:{}", "**{}**：{}", "**{}：** {}", "`{}`： {}"]))
        bare = label.strip("*`")
        lines.append(f"{marker} " + form.format(bare, draw(st.sampled_from(["", "值", "<值>", "a：b", "10"]))))
        lines += draw(st.sampled_from([[], [], ["  - 细节：x"], ["  续行"], ["", "   段落"]]))
    return lines


@st.composite
def checks(draw: st.DrawFn) -> list[str]:
    mark = draw(st.sampled_from(["[ ]", "[x]", "[X]", "[✓]", "[]"]))
    return [f"- {mark} {label}" for label in draw(st.lists(labels, min_size=1, max_size=3))]


@st.composite
def fences(draw: st.DrawFn) -> list[str]:
    fence = draw(st.sampled_from(["```", "~~~~", "````"]))
    inside = draw(st.sampled_from([[], ["# 4 假", "| a |", "|---|"], ["", "x  ", ""], ["<!--"]]))
    return [f"{fence}bash", *inside, fence]


noise = st.sampled_from(
    [
        ["一段话，|不是表。", "第二行"],
        ["<!-- 注", "## 4 假", "-->"],
        ["<div>", "## 5 假", "</div>"],
        ["    indented", "    code"],
        ["> 引用", "懒行"],
        ["***"],
        ["###2.6 假", "＃ 假"],
        ["| 坏 | 表 |", "|---|"],
        ["[ref]: http://a.cn '题'"],
        ["标题", "---"],
    ]
)


@st.composite
def contained(draw: st.DrawFn, block: st.SearchStrategy[list[str]]) -> list[str]:
    """A block as it is, in a quote, or in a list item."""
    lines = draw(block)
    first, further = draw(
        st.sampled_from([("", ""), ("", ""), ("> ", "> "), (">", ">"), ("- ", "  "), ("3.  ", "    ")])
    )
    return [(first if number == 0 else further) + line for number, line in enumerate(lines)]


@st.composite
def pages(draw: st.DrawFn) -> bytes:
    """A whole document: byte order mark, front matter, sections, any line endings, with or without a last one."""
    lines = draw(st.sampled_from([[], [], ["---", "标题: x", "---"]]))
    block = contained(st.one_of(tables(), tables(), fields(), checks(), fences(), noise))
    for number in draw(st.lists(st.sampled_from(["1", "2.1", "２．３", "§4", "5."]), min_size=1, max_size=3)):
        lines += [f"## {number} 节{draw(labels)}", *draw(st.sampled_from([[], [""]]))]
        for piece in draw(st.lists(block, max_size=3)):
            lines += [*piece, *draw(st.sampled_from([[""], [""], ["", " "], []]))]
    ends = draw(st.sampled_from([["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]]))
    text = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
    text = draw(st.sampled_from(["", "\ufeff"])) + text
    return text.encode() if draw(st.booleans()) else text.rstrip("\r\n").encode()
