"""Layers that compute otherwise while training, caught at doing so during inference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from npueval.language import Text

_KINDS = ("Dropout", "BatchNorm", "DropPath")


@contextmanager
def caught_training(workload: Any) -> Iterator[list[Text]]:
    """Fills the list with the dropout and BatchNorm layers of the workload that run in training mode inside."""
    found: list[Text] = []
    with ExitStack() as stack:
        for name, module in _modules(workload):
            hook = module.register_forward_pre_hook(_look(name, found))
            stack.callback(hook.remove)
        yield found


def _modules(workload: Any) -> Iterator[tuple[str, Any]]:
    for attribute, value in vars(workload).items() if hasattr(workload, "__dict__") else ():
        for name, module in value.named_modules() if hasattr(value, "named_modules") else ():
            if any(kind in type(module).__name__ for kind in _KINDS):
                yield f"{attribute}.{name}".rstrip("."), module


def _look(name: str, found: list[Text]) -> Any:
    def look(module: Any, _arguments: Any) -> None:
        text = Text(
            "{name}（{kind}）在推理时处于训练模式：缺 eval()",
            "{name} ({kind}) runs in training mode: eval() is missing",
        )
        doubt = text.filled({"name": name, "kind": type(module).__name__})
        if module.training and doubt not in found:
            found.append(doubt)

    return look
