"""What a page holds, as the standard library's parser sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link"}
DRAWN = {"svg", "style", "script", "title"}
INLINE = {"a", "b", "code", "em", "small", "span", "strong", "sup"}


@dataclass
class Node:
    """One element. ``parts`` are its texts and elements in their order."""

    tag: str
    attributes: dict[str, str | None]
    parts: list[Node | str] = field(default_factory=list)

    def all(self, *tags: str, class_: str = "") -> Iterator[Node]:
        """The elements below, in order, of these tags (any, where none is named) and with this class."""
        for part in self.parts:
            if isinstance(part, Node):
                if (not tags or part.tag in tags) and (not class_ or class_ in part.classes):
                    yield part
                yield from part.all(*tags, class_=class_)

    def one(self, tag: str = "", *, class_: str = "") -> Node:
        """The first such element."""
        return next(self.all(*[tag] if tag else [], class_=class_))

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def lines(self, *leave_out: str) -> list[str]:
        """What a reader reads, one block a line, cells apart; drawings and the elements of these ids left out."""
        return [line for line in (" ".join(part.split()) for part in self._spoken(leave_out).split("\n")) if line]

    def _spoken(self, leave_out: tuple[str, ...]) -> str:
        if self.tag in DRAWN or self.attributes.get("id") in leave_out:
            return ""
        inside = "".join(part if isinstance(part, str) else part._spoken(leave_out) for part in self.parts)
        if self.tag in INLINE:
            return inside
        return f" | {' '.join(inside.split())}" if self.tag in ("td", "th") else f"\n{inside}\n"


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.path = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        assert len(node.attributes) == len(attrs), f"an attribute of <{tag}> stands twice"
        self.path[-1].parts.append(node)
        if tag not in VOID:
            self.path.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.path[-1].parts.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.path.pop().tag == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.path[-1].parts.append(data)


def parse(text: str) -> Node:
    """The root of a page in which every element is closed where it should be."""
    builder = _Builder()
    builder.feed(text)
    builder.close()
    assert len(builder.path) == 1, f"not closed: {[node.tag for node in builder.path[1:]]}"
    return builder.path[0]
