"""Training verdicts in the documents: Mig_report §6 (check boxes), §7.1 (a draft entry), §8; Mig_Readme §5.3."""

from __future__ import annotations

from npueval.plan import Training
from npueval.records import Edit
from npueval.training.formal import CLEAR, Formal
from npueval.training.short import ShortTest

SHORT_BOX = "Mig_report#6/训练短测"
FORMAL_BOX = "Mig_report#6/正式训练"
_STATUS = {"passed": "通过，即止", "failed": "未通过", "undecided": "无法判定"}
_FORMAL_STATUS = {"fine": "有改善", "more": "可再加步", "stop": "停止加步并排查", "undecided": "无法判定"}


def short_edits(result: ShortTest, *, device: str, simulated: bool = False, source: str = "") -> list[Edit]:
    """The check box of the short test; nothing where it did not run on a real NPU."""
    real = device.partition(":")[0] == "npu" and not simulated
    return [Edit(SHORT_BOX, result.passed, source)] if real else []


def outdated_edits(source: str) -> list[Edit]:
    """The check box of a short test on the NPU that no longer counts."""
    return [Edit(SHORT_BOX, False, source)]


def short_statement(result: ShortTest, path: str) -> str:
    """The verdict with the exact drop and the path of the log or record, for Mig_report §8."""
    notes = "".join(f"；{note.zh}" for note in result.notes)
    return f"训练短测 {path}：{_STATUS[result.status]}，{result.reason.zh}{notes}"


def formal_edits(result: Formal, *, when: str, command: str, log: str, source: str = "") -> list[Edit]:
    """The check box of formal training, and the draft entry of §7.1 where the verdict is to stop.

    ``when`` is the label of the entry's row (date and time); ``command`` and ``log`` are what was run and what it left.
    """
    box = Edit(FORMAL_BOX, result.status == "fine", source)
    return [box, problem_row(result, when=when, command=command, log=log, source=source)] if result.checks else [box]


def problem_row(result: Formal, *, when: str, command: str, log: str, source: str = "") -> Edit:
    """The draft entry of Mig_report §7.1: what is known is filled in, what a person must find out is left open."""
    checks = "；".join(f"{number}. {check.zh}" for number, check in enumerate(result.checks, 1))
    cells = (
        when,
        _title(result),
        command,
        f"{result.reason.zh}（{log}）",
        f"已训练 {result.steps:.0f} 步（阈值 {result.limit} 步），不再加步",
        f"待查，依次检查：{checks}",
        "待修复；修复后从小步数回归，再逐步加步",
    )
    return Edit(f"Mig_report#7.1/{when}", cells, source)


def _title(result: Formal) -> str:
    if result.high is None:
        return f"{result.metric} 失效"
    return f"{result.metric} {result.steps:.0f} 步{'持续变差' if result.high < -CLEAR else '无明显改善'}"


def formal_statement(result: Formal, path: str) -> str:
    """The verdict on formal training with the path of its log, for Mig_report §8."""
    notes = "".join(f"；{note.zh}" for note in result.notes)
    return f"正式训练 {path}：{_FORMAL_STATUS[result.status]}，{result.reason.zh}{notes}"


def threshold_edits(training: Training, log: str = "") -> list[Edit]:
    """What the project means by "no clear improvement" (Mig_Readme §5.3), from the plan."""
    place = "Mig_Readme#5.3"
    measure = f"{training.metric}：首末窗口中位数的相对改善低于 {CLEAR:.0%}，或其 95% 区间含 0"
    found = [
        Edit(f"{place}/实际采用的「无明显改善」判定指标", measure),
        Edit(f"{place}/实际累计步数上限或等价阈值", f"{training.stagnation_steps} 步"),
    ]
    return [*found, Edit(f"{place}/相关训练命令与日志路径", log)] if log else found
