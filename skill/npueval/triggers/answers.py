"""The mandatory answer: five parts when tests are triggered and can run, else the block that says why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from npueval.commands import SHELLS, Template
from npueval.language import Lang, Text, one_line
from npueval.records import Gate

PART_KEYS = ("scope", "setup", "metrics", "reproduction", "report")
PART_TITLES = (
    Text("测量范围", "Scope of the measurement"),
    Text("实验设置", "Experimental setup"),
    Text("指标口径", "Definition of the metrics"),
    Text("基准复现", "Reproducing the baseline"),
    Text("性能报告模板", "Performance report"),
)


@dataclass(frozen=True)
class Condition:
    """One condition of a trigger, with the evidence that it is met or not. Any one is enough."""

    name: Text
    met: bool
    evidence: Text


@dataclass(frozen=True)
class Trigger:
    """Whether a section of the work is to be done at all."""

    conditions: tuple[Condition, ...]

    @property
    def met(self) -> bool:
        return any(condition.met for condition in self.conditions)

    @property
    def because(self) -> tuple[Condition, ...]:
        """The conditions that are met; when none is, all of them (each with why it is not)."""
        met = tuple(condition for condition in self.conditions if condition.met)
        return met or self.conditions


@dataclass(frozen=True)
class Decision:
    """What is triggered: performance and accuracy apart."""

    performance: Trigger
    accuracy: Trigger

    @property
    def met(self) -> bool:
        return self.performance.met or self.accuracy.met

    def as_json(self, lang: Lang) -> dict[str, Any]:
        """Both triggers with every condition and its evidence."""
        pairs = (("performance", self.performance), ("accuracy", self.accuracy))
        return {name: {"met": trigger.met, "conditions": _conditions(trigger, lang)} for name, trigger in pairs}


def _conditions(trigger: Trigger, lang: Lang) -> list[dict[str, Any]]:
    return [
        {"name": condition.name.say(lang), "met": condition.met, "evidence": one_line(condition.evidence.say(lang))}
        for condition in trigger.conditions
    ]


@dataclass(frozen=True)
class Row:
    """A labelled statement of a part."""

    label: str
    value: str


@dataclass(frozen=True)
class Table:
    """A table of a part: columns, and rows of as many cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Part:
    """One of the five parts."""

    key: str
    title: str
    rows: tuple[Row, ...]
    table: Table | None = None

    def as_json(self) -> dict[str, Any]:
        rows = [{"label": row.label, "value": row.value} for row in self.rows]
        plain: dict[str, Any] = {"key": self.key, "title": self.title, "rows": rows}
        if self.table:
            plain["table"] = {"columns": list(self.table.columns), "rows": [list(row) for row in self.table.rows]}
        return plain

    def markdown(self, number: int, colon: str = "：") -> str:
        """The part under its numbered heading."""
        lines = [f"## {number}. {self.title}", ""]
        lines += [f"- **{row.label}**{colon}{row.value}" for row in self.rows]
        return "\n".join([*lines, *(["", _table(self.table.columns, self.table.rows)] if self.table else [])])


@dataclass(frozen=True)
class FiveParts:
    """The five parts, in their order, none missing."""

    lang: Lang
    decision: Decision
    parts: tuple[Part, ...]

    def with_part(self, part: Part) -> FiveParts:
        """The same answer with one part replaced, by its key."""
        return replace(self, parts=tuple(part if part.key == old.key else old for old in self.parts))

    def as_json(self) -> dict[str, Any]:
        return {
            "format": "npueval/five-part/1",
            "lang": self.lang,
            "triggers": self.decision.as_json(self.lang),
            "parts": [part.as_json() for part in self.parts],
        }

    def markdown(self) -> str:
        colon = "：" if self.lang == "zh" else ": "
        return "\n\n".join(part.markdown(number, colon) for number, part in enumerate(self.parts, 1)) + "\n"


@dataclass(frozen=True)
class Pending:
    """A condition that must be met first, how to tell that it is, and a command where there is one."""

    condition: str
    proof: str
    command: str = ""


@dataclass(frozen=True)
class Block:
    """Nothing was executed: why, what must be met first, and the commands for then."""

    lang: Lang
    gate: Gate
    decision: Decision
    reasons: tuple[str, ...]
    pending: tuple[Pending, ...]
    templates: tuple[Template, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "format": "npueval/not-executed/1",
            "lang": self.lang,
            "gate": self.gate.value,
            "triggers": self.decision.as_json(self.lang),
            "reasons": list(self.reasons),
            "pending": [vars(pending) for pending in self.pending],
            "commands": [self._command(template) for template in self.templates],
        }

    def _command(self, template: Template) -> dict[str, Any]:
        lines: dict[str, Any] = {shell: list(template.lines(shell)) for shell in SHELLS}
        title, note = template.title.say(self.lang), template.note.say(self.lang)
        return {"key": template.key, "title": title, "note": note, **lines}

    def markdown(self) -> str:
        """The three sections; the commands in bash (the JSON also has PowerShell)."""
        said = {key: text.say(self.lang) for key, text in _WORDS.items()}
        reasons = "\n".join(f"{number}. {reason}" for number, reason in enumerate(self.reasons, 1))
        header = (said["condition"], said["proof"], said["command"])
        rows = [(p.condition, p.proof, f"`{p.command}`" if p.command else "—") for p in self.pending]
        sections = [
            f"## {said['why']}",
            reasons,
            f"## {said['pending']}",
            _table(header, rows),
            f"## {said['commands']}",
        ]
        return "\n\n".join([*sections, *map(self._fence, self.templates)]) + "\n"

    def _fence(self, template: Template) -> str:
        body = "\n".join(template.lines("bash"))
        return f"### {template.title.say(self.lang)}\n\n{template.note.say(self.lang)}\n\n```bash\n{body}\n```"


_WORDS = {
    "why": Text("未执行原因", "Why nothing was executed"),
    "pending": Text("待满足条件", "What must be met first"),
    "commands": Text("可直接复用的测试命令模板", "Commands to use then"),
    "condition": Text("条件", "Condition"),
    "proof": Text("如何确认已满足", "How to tell that it is met"),
    "command": Text("命令", "Command"),
}


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
