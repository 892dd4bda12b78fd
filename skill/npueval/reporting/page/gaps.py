"""What a reader must doubt, what is missing and why, and the commands that would fill the gaps."""

from __future__ import annotations

from collections.abc import Iterator

from npueval.commands import Shell, Template
from npueval.reporting.page.blocks import code, fold, listed, paragraph, section, table, with_code
from npueval.reporting.page.markup import Child, Html, element
from npueval.reporting.page.view import View, value_of

_MOST = 12
_FILLS = {
    "npu": ("environment", "npu", "failure_log"),
    "gpu": ("gpu_kit", "gpu_run", "gpu_ingest"),
    "accuracy": ("golden",),
}


def doubts(view: View) -> Html:
    """Everything that the Runs, the baseline and the comparison call doubtful."""
    dossier = view.dossier
    found = list(dict.fromkeys((*dossier.comparison.doubts, *(f"基线：{doubt}" for doubt in dossier.baseline.doubts))))
    more = fold(f"其余 {len(found) - _MOST} 条", listed(found[_MOST:])) if len(found) > _MOST else None
    return section("doubts", "存疑", [listed(found[:_MOST]), more] if found else paragraph("没有存疑之处。"))


def missing(view: View) -> Html:
    """Every empty value by its reason, what the gate asks for, and the commands to paste."""
    rows = [(side, reason, _enumerated(labels)) for (side, reason), labels in _gaps(view).items()]
    commands = [template for template in view.commands if template.key in _wanted(view)]
    return section(
        "missing",
        "缺什么、为什么、怎么补",
        table("空缺的数字", ("哪一侧", "原因", "项目"), rows) if rows else paragraph("没有空缺的数字。"),
        _gate(view),
        [element("h3", "补齐空缺的命令"), [_command(template) for template in commands]] if commands else None,
    )


def _enumerated(labels: list[str]) -> str:
    names = list(dict.fromkeys(labels))
    return "、".join(names[:_MOST]) + (f" 等 {len(names)} 项" if len(names) > _MOST else "")


def _gaps(view: View) -> dict[tuple[str, str], list[str]]:
    """The labels of the empty values, by side and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    comparison = view.dossier.comparison
    for row in (*comparison.rows, *comparison.stages):
        for side in view.sides:
            value = value_of(row, side.column)
            if value.value is None:
                found.setdefault((side.name, value.reason), []).append(row.label)
    for score in comparison.accuracy_rows:
        for name, value in ((view.sides[0].name, score.npu), ("基线", score.baseline)):
            if value.value is None:
                found.setdefault((name, value.reason), []).append(score.label)
    return found


def _wanted(view: View) -> set[str]:
    """The keys of the commands that would fill what is empty."""
    comparison = view.dossier.comparison
    lacking = {
        side.column for side in view.sides if any(value_of(r, side.column).value is None for r in comparison.rows)
    }
    accuracy = {"accuracy"} if any(score.npu.value is None for score in comparison.accuracy_rows) else set()
    return {key for what in (*lacking, *accuracy) for key in _FILLS.get(what, ())}


def _gate(view: View) -> Iterator[Child]:
    diagnosis = view.dossier.diagnosis
    if view.dossier.npu_run is not None or diagnosis.runnable:
        return
    yield element("h3", f"门禁 {diagnosis.gate.value}")
    yield listed(reason.say() for reason in diagnosis.reasons)
    rows = [
        (with_code(a.text.say()), with_code(a.proof.say()), code(a.command) if a.command else "—")
        for a in diagnosis.actions
    ]
    if rows:
        yield table("先要做到", ("条件", "如何确认已满足", "命令"), rows)


def _command(template: Template) -> Html:
    return element(
        "article",
        element("h4", template.title.say()),
        paragraph(template.note.say()),
        _lines(template, "bash"),
        fold("PowerShell", _lines(template, "powershell")),
        class_="command",
    )


def _lines(template: Template, shell: Shell) -> Html:
    text = code("\n".join(template.lines(shell)))
    return element("pre", text, role="group", tabindex=0, aria_label=f"{template.title.say()}（{shell}）")
