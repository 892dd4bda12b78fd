"""A statement in both languages: documents are Chinese, ``--lang en`` asks for English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Lang = Literal["zh", "en"]


@dataclass(frozen=True)
class Text:
    """The same statement in Chinese and in English."""

    zh: str
    en: str

    def say(self, lang: Lang = "zh") -> str:
        """The statement in one language."""
        return self.zh if lang == "zh" else self.en

    def as_json(self) -> dict[str, str]:
        """Both forms."""
        return {"zh": self.zh, "en": self.en}


def same(text: str) -> Text:
    """A statement that needs no translation: a version, a path, a name."""
    return Text(text, text)


def text(data: Any) -> Text:
    """Back from :meth:`Text.as_json`."""
    return Text(str(data["zh"]), str(data["en"]))
