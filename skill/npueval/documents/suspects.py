"""Lines that their writer surely meant as a heading, a check box or a table, and that no parser takes for one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from npueval.documents.blocks import Block
from npueval.documents.lines import Span
from npueval.documents.rows import delimiter_cells
from npueval.documents.tree import Suspect

_CHECKED = re.compile(r"\[[✓✔√]\]|［\s*[xXｘＸ✓✔√]\s*］|[☑✅](?=\s)")
_UNCHECKED = re.compile(r"\[\]|［\s*］|☐(?=\s)")
# A "#" right before a letter may be a tag or an issue number with text; before a section number it is a heading.
_HEADING = re.compile(r"(?:#{1,6}[\u3000\xa0]+(?=\S)|#{2,6}(?=[^#\s])|#(?=\d+\.)|＃{1,6}[ \t\u3000\xa0]*(?=\S))")


def suspicious_item(text: str, line: int, start: int) -> Suspect | None:
    """A list item that starts with a mark which looks like a check box."""
    for pattern, mend in ((_CHECKED, "[x]"), (_UNCHECKED, "[ ]")):
        if found := pattern.match(text):
            return Suspect("check box", line, Span(start, start + len(found[0].encode())), mend)
    return None


def suspicious_lines(data: bytes, paragraph: Block, spans: Sequence[Span]) -> Iterator[Suspect]:
    """The lines of a paragraph that look like headings or like the head of a table."""
    for index, (start, end) in enumerate(spans):
        line = paragraph.line + index
        text = data[start:end].decode()
        if paragraph.level == 0 and (found := _HEADING.match(text)):
            marks = "#" * len(found[0].strip(" \t\u3000\xa0"))
            yield Suspect("heading", line, Span(start, start + len(found[0].encode())), f"{marks} ")
        elif index and "|" in text and delimiter_cells(text) and b"|" in data[slice(*spans[index - 1])]:
            yield Suspect("table", line, Span(start, end), "")
