"""Bytes in, a tree with the place of everything in those bytes out.

markdown-it-py decides what is a block and on which lines it stands; the columns, which it does not give, are noted by
the rules below while it works, and rows are split by :mod:`npueval.documents.rows`. Linear in the size of the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import zip_longest
from os import PathLike
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, fence, heading, lheading, paragraph
from markdown_it.token import Token

from npueval.documents.blocks import Block
from npueval.documents.encoding import decode
from npueval.documents.growing import grow
from npueval.documents.rows import count_cells, delimiter_cells
from npueval.documents.tree import Document

_FRONT_MATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_MARKED_UP = re.compile(r"[\\`*_\[\]<>&!~\n]")
_LONGEST_RENDERED = 4096
_DEEPEST = 100
_Rule = Callable[[StateBlock, int, int, bool], bool]


def parse(data: bytes, *, path: str | PathLike[str], name: str | None = None) -> Document:
    """The tree of a document. ``name`` is the document's (``Compare``), by default the file's without its suffix.

    Raises :class:`npueval.errors.DocumentError` when the bytes are not UTF-8.
    """
    text = re.sub("\r\n?", "\n", decode(data, path=path))
    text = _without_front_matter(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    blocks = list(_blocks(_BLOCKS.parse(text, {"starts": starts})))
    return grow(data, blocks, path=str(path), name=name or PurePath(path).stem, render=render)


@lru_cache(maxsize=8192)
def render(text: str) -> str:
    """What a reader sees of inline Markdown: no emphasis marks, link targets or code ticks; ``<br>`` is a space.

    A text of more than 4096 characters is nobody's label and comes back as it is.
    """
    if not _MARKED_UP.search(text) or len(text) > _LONGEST_RENDERED:
        return text
    (token,) = _INLINE.parseInline(text)
    return "".join(map(_visible, token.children or ())).strip()


def _visible(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak") or (token.type == "html_inline" and token.content.startswith("<br")):
        return " "
    if token.type == "image":
        return "".join(map(_visible, token.children or ()))
    return "" if token.type == "html_inline" else token.content


def _without_front_matter(text: str) -> str:
    """Blank the YAML head, keeping its lines; ``---`` followed by a blank line is a thematic break."""
    first, _, rest = text.partition("\n")
    if first.rstrip(" \t") != "---" or not rest.partition("\n")[0].strip(" \t"):
        return text
    end = _FRONT_MATTER_END.search(text, len(first) + 1)
    return "\n" * text.count("\n", 0, end.end()) + text[end.end() :] if end else text


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.nesting < 0 or token.type == "inline" or token.map is None:
            continue
        first, stop = token.map
        inline = following is not None and following.type == "inline"
        text = following.content if inline and following else token.content
        yield Block(
            token.type,
            token.level,
            first + 1,
            stop + 1,
            token.meta.get("columns", ()),
            token.tag,
            text,
            token.info.strip(),
            token.markup,
            token.meta.get("prefix", ""),
        )


def _noting_columns(rule: _Rule) -> _Rule:
    def noting(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        place = len(state.tokens)
        if not rule(state, start, end, silent):
            return False
        if not silent:
            state.tokens[place].meta["columns"] = _columns(state, start, state.line)
        return True

    return noting


def _columns(state: StateBlock, first: int, stop: int) -> tuple[int, ...]:
    starts = state.env["starts"]
    return tuple(state.bMarks[line] + state.tShift[line] - starts[line] for line in range(first, stop))


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    indent = state.sCount[start]
    if not fence(state, start, end, silent):
        return False
    if not silent:
        last = state.line - 1
        quote = state.src[state.env["starts"][last] : state.bMarks[last]]
        state.tokens[-1].meta.update(columns=_columns(state, start, state.line), prefix=quote + " " * indent)
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The rule of GFM without a token per cell, and without a limit on how many cells short rows may lack."""
    if not _table_starts(state, start, end):
        return False
    if silent:
        return True
    outer, state.parentType = state.parentType, "table"
    line = start + 2
    while line < end and not _table_ends(state, line, end):
        line += 1
    state.parentType = outer
    token = state.push("table", "table", 0)
    token.map = [start, line]
    token.meta["columns"] = _columns(state, start, line)
    state.line = line
    return True


def _table_starts(state: StateBlock, start: int, end: int) -> bool:
    below = start + 1
    if below >= end or state.sCount[below] < state.blkIndent or state.is_code_block(below):
        return False
    dashes = delimiter_cells(state.src[state.bMarks[below] + state.tShift[below] : state.eMarks[below]])
    header = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not dashes or "|" not in header or state.is_code_block(start):
        return False
    return count_cells(header.encode()) == dashes


def _table_ends(state: StateBlock, line: int, end: int) -> bool:
    if state.sCount[line] < state.blkIndent or state.isEmpty(line) or state.is_code_block(line):
        return True
    if state.src[state.bMarks[line] + state.tShift[line]] == "|":
        return False
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("blockquote"))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    parser.core.ruler.enableOnly(["block"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.at("fence", _fence, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    parser.block.ruler.at("heading", _noting_columns(heading), {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.at("lheading", _noting_columns(lheading))
    parser.block.ruler.at("paragraph", _noting_columns(paragraph))
    return parser


_BLOCKS = _parser()
_INLINE = MarkdownIt("commonmark").enable("strikethrough")
