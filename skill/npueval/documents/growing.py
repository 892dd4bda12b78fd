"""From blocks to the tree: sections, and in each its tables, fields, check boxes and code blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from npueval.documents.blocks import Block
from npueval.documents.items import split_field
from npueval.documents.labels import split_number
from npueval.documents.lines import Lines, Span
from npueval.documents.suspects import suspicious_item, suspicious_lines
from npueval.documents.tree import CheckBox, CodeBlock, Document, Field, Row, Section, Suspect, Table, counted

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOWHERE = Span(0, 0)
_CHECK = re.compile(r"\[([ xX])\](?:[ \t]+|$)")


@dataclass
class _Draft:
    """A section while it grows."""

    title: str = ""
    level: int = 0
    line: int = 1
    span: Span = _NOWHERE
    tables: list[Table] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    checks: list[CheckBox] = field(default_factory=list)
    code: list[CodeBlock] = field(default_factory=list)

    @property
    def name(self) -> str:
        number, title = split_number(self.title)
        return number or title

    def finished(self, key: str, parent: str) -> Section:
        number, title = split_number(self.title)
        return Section(
            key,
            number,
            title,
            self.level,
            parent,
            self.line,
            self.span,
            tuple(self.tables),
            tuple(self.fields),
            tuple(self.checks),
            tuple(self.code),
        )


@dataclass
class _Grower:
    data: bytes
    lines: Lines
    render: Callable[[str], str]
    drafts: list[_Draft] = field(default_factory=lambda: [_Draft()])
    suspects: list[Suspect] = field(default_factory=list)

    def span(self, block: Block, index: int) -> Span:
        """The text of one line of a block, without the prefix of its quote or list."""
        line = block.line + index
        return Span(self.lines.starts[line - 1] + block.columns[index], self.lines.ends[line - 1])

    def take(self, block: Block, following: Block | None) -> None:
        if block.kind == "heading_open" and block.level == 0:
            level, span = int(block.tag[1:]), self.span(block, 0)
            self.drafts.append(_Draft(self.render(block.text), level, block.line, span))
        elif block.kind == "table":
            self.drafts[-1].tables.append(self.table(block))
        elif block.kind == "fence":
            self.drafts[-1].code.append(self.code(block))
        elif block.kind == "list_item_open" and following and following[:2] == ("paragraph_open", block.level + 1):
            self.item(following)
        elif block.kind == "paragraph_open":
            spans = [self.span(block, index) for index in range(len(block.columns))]
            self.suspects += suspicious_lines(self.data, block, spans)

    def table(self, block: Block) -> Table:
        rows = [Row(self.data, block.line + index, *self.span(block, index)) for index in range(len(block.columns))]
        return Table(rows[0], rows[1], tuple(rows[2:]), self.render)

    def code(self, block: Block) -> CodeBlock:
        inside = block.stop - block.line - 1
        held = block.text.count("\n") + (not block.text.endswith("\n") and block.text != "")
        stops = [self.lines.stops[block.line - 1], self.lines.stops[block.line - 1 + held]]
        text = block.text.removesuffix("\n")
        prefix, closed = block.prefix.encode(), held < inside
        start = self.span(block, 0).start
        return CodeBlock(block.info, block.line, start, Span(*stops), text, block.markup, prefix, closed)

    def item(self, paragraph: Block) -> None:
        spans = [self.span(paragraph, index) for index in range(len(paragraph.columns))]
        texts = [self.data[span.start : span.end].decode() for span in spans]
        start = spans[0].start
        if check := _CHECK.match(texts[0]):
            label = self.render("\n".join([texts[0][check.end() :], *texts[1:]]).strip())
            box = CheckBox(label, paragraph.line, Span(start + 1, start + 2), check[1] != " ")
            self.drafts[-1].checks.append(box)
        elif suspect := suspicious_item(texts[0], paragraph.line, start):
            self.suspects.append(suspect)
        elif found := split_field(texts[0]):
            value = start + len(texts[0][: found.value].encode())
            end = max(value, spans[-1].start + len(texts[-1].rstrip(" \t").encode()))
            text = "\n".join([texts[0][found.value :], *texts[1:]]).strip(" \t\n")
            key = self.render(found.key)
            self.drafts[-1].fields.append(Field(key, paragraph.line, start, Span(value, end), text, found.colon))

    def sections(self) -> Iterator[Section]:
        keys = counted(draft.name for draft in self.drafts)
        above: list[tuple[int, str]] = []
        for key, draft in zip(keys, self.drafts, strict=True):
            above = [(level, name) for level, name in above if level < draft.level]
            yield draft.finished(key, above[-1][1] if above else "")
            # The first-level heading is the document's title, not the parent of its chapters.
            if draft.level > 1:
                above.append((draft.level, key))


def grow(data: bytes, blocks: Sequence[Block], *, path: str, name: str, render: Callable[[str], str]) -> Document:
    """The tree of ``data``, whose blocks the parser has found."""
    lines = Lines(data, first=len(_BYTE_ORDER_MARK) * data.startswith(_BYTE_ORDER_MARK))
    grower = _Grower(data, lines, render)
    for block, following in zip_longest(blocks, blocks[1:]):
        grower.take(block, following)
    preamble, *sections = grower.sections()
    shape = tuple(block[:4] for block in blocks)
    return Document(path, name, data, lines, preamble, tuple(sections), tuple(grower.suspects), shape)
