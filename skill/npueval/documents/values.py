"""What may be written into a document, and what is a blank to be filled."""

from __future__ import annotations

import re
import unicodedata

from npueval.errors import DocumentError

# Control characters, line and paragraph separators, direction overrides, byte order marks, halves of surrogate pairs.
_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_PLACEHOLDER = re.compile(
    r"""
    | <[^<>]*>
    | \((?:如|例|示例).*\) | \(.*(?:填写|待填|待补).*\)
    | todo | tbd | x{2,} | yyyy[-/.]mm[-/.]dd | _{2,} | \.{3,} | 待填写? | 待补[充采]?
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LONGEST_PLACEHOLDER = 200


def one_line(text: str) -> str:
    """Several lines as one, with ``<br>`` between them."""
    return "<br>".join(line.strip(" \t") for line in re.split(r"\r\n?|\n", text))


def checked_line(value: str) -> str:
    """``value`` as it is written into a cell or a field: without blanks at its ends.

    Raises :class:`DocumentError` for a line break or a character that nobody sees.
    """
    if "\n" in value or "\r" in value:
        raise _invalid("a value of one place is one line", "put <br> for the line breaks, or set --br")
    return _printable(value).strip(" \t")


def checked_lines(value: str) -> str:
    """``value`` as it is written into a code block: ``\\n`` between lines, none at the end."""
    lines = re.sub(r"\r\n?", "\n", value).rstrip("\n").split("\n")
    return "\n".join(map(_printable, lines))


def is_placeholder(text: str) -> bool:
    """Whether a text says no more than that something is to be put here. ``N/A`` is a statement, not a placeholder."""
    if len(text) > _LONGEST_PLACEHOLDER:
        return False
    bare = unicodedata.normalize("NFKC", text).strip(" \t*`~")
    return _PLACEHOLDER.fullmatch(bare) is not None


def _printable(value: str) -> str:
    if found := _UNPRINTABLE.search(value):
        raise _invalid(f"the value holds the character U+{ord(found[0]):04X}", "remove it; nobody would see it")
    return value


def _invalid(message: str, hint: str) -> DocumentError:
    return DocumentError(message, code="VALUE_INVALID", hint=hint)
