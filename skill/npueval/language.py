"""A statement in both languages: documents are Chinese, ``--lang en`` asks for English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Lang = Literal["zh", "en"]
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LANGUAGES: tuple[Lang, ...] = ("zh", "en")


@dataclass(frozen=True)
class Text:
    """The same statement in Chinese and in English."""

    zh: str
    en: str

    def say(self, lang: Lang = "zh") -> str:
        """The statement in one language."""
        return self.zh if lang == "zh" else self.en

    def filled(self, values: Mapping[str, Text | str | int | float]) -> Text:
        """Both forms with their ``{names}`` filled, each in its own language."""
        spoken = {lang: {key: _in(value, lang) for key, value in values.items()} for lang in _LANGUAGES}
        return Text(self.zh.format(**spoken["zh"]), self.en.format(**spoken["en"]))

    def led(self, by: Text | str) -> Text:
        """The statement with what it is about in front of it."""
        return Text(f"{_in(by, 'zh')}：{self.zh}", f"{_in(by, 'en')}: {self.en}")


def _in(value: Text | str | int | float, lang: Lang) -> str:
    return value.say(lang) if isinstance(value, Text) else str(value)


def joined(texts: Iterable[Text], zh: str = "、", en: str = ", ") -> Text:
    """Several statements as one list."""
    texts = tuple(texts)
    return Text(zh.join(text.zh for text in texts), en.join(text.en for text in texts))


def one_line(text: str) -> str:
    """The text with every line break and other control character made a blank: what stands in a list or a cell."""
    return _CONTROL.sub(" ", text).strip()


def same(text: str) -> Text:
    """A statement that needs no translation: a version, a path, a name."""
    return Text(text, text)
