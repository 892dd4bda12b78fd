"""Did a segment deliver anything? A time says nothing about work that is still to be done, or was never begun."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import Any

from npueval.language import Text
from npueval.workloads.base import leaves

_LAZY = (Iterator, Awaitable, AsyncIterator)
_HANDLES = (("result", "done"), ("wait", "done"), ("get", "ready"))
NO_OUTPUT = Text("infer 没有任何输出（{kind}）", "infer returns no output at all ({kind})")
PENDING = Text(
    "{segment} 返回 {kind}：返回时什么都没有执行完，量到的时间不是它的工作；请返回算好的值",
    "{segment} returns a {kind}: nothing of it is done when it returns, so its time is not that of its work; "
    "return the values",
)


def undelivered(values: Mapping[str, Any]) -> Iterator[Text]:
    """What is wrong with the values that the segments of one walk returned, each segment that is to blame once."""
    if all(leaf is None for leaf in leaves(values["infer"])):
        yield NO_OUTPUT.filled({"kind": type(values["infer"]).__name__})
    known: set[int] = set()
    for segment, value in values.items():
        found = next((leaf for leaf in leaves(value) if is_pending(leaf) and id(leaf) not in known), None)
        if found is not None:
            known.add(id(found))
            yield PENDING.filled({"segment": segment, "kind": type(found).__name__})


def is_pending(leaf: Any) -> bool:
    """Whether a value is a promise: a generator, a coroutine, a future of any library."""
    kind = type(leaf)
    return isinstance(leaf, _LAZY) or any(
        all(callable(getattr(kind, method, None)) for method in handle) for handle in _HANDLES
    )
