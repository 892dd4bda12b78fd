"""HTML and SVG as values: whatever is not markup already is escaped on its way in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

# Controls, surrogates and the marks that turn the reading direction: shown as escapes, for they could hide text.
_UNSEEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_HIDDEN = re.compile(f"[{_UNSEEN}]")
_SPECIAL = re.compile(f"[<>&\"'{_UNSEEN}]")
_VOID = frozenset({"meta", "link", "path", "rect"})


class Html(str):
    """Text that is markup."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute = str | int | float | bool | None


def element(tag: str, *children: Child, **attributes: Attribute) -> Html:
    """``<tag …>children</tag>``. ``class_`` is ``class``, ``aria_label`` is ``aria-label``; ``None`` leaves one out."""
    head = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}"
    return Html(f"{head}/>" if tag in _VOID else f"{head}>{joined(children)}</{tag}>")


def joined(children: Iterable[Child]) -> Html:
    """Children one after the other; ``None`` is nothing."""
    return Html("".join(map(_child, children)))


def escaped(value: object) -> Html:
    """Text that is safe between tags and in a quoted attribute."""
    text = str(value)
    if _SPECIAL.search(text):
        text = html.escape(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
    return Html(text)


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    return escaped(child) if isinstance(child, str | int) else joined(child)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(value)}"'
