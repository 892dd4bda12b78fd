"""Does the workload wait for the device by itself? Looked for in one iteration after the window."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from npueval.devices import Device
from npueval.language import Text
from npueval.measuring import sentences
from npueval.pipeline import Scoped

_READS_BACK = ("aten._local_scalar_dense", "aten._copy_from", "aten.equal", "aten.nonzero")


def of_infer(device: Device, scoped: Scoped, value: Any) -> Iterator[Text]:
    """A doubt where ``infer`` synchronises or reads results back: then launches cannot run ahead of the device."""
    api = getattr(device, "api", None)
    if api is None or "infer" not in scoped.timed:
        return
    for step in scoped.body:
        if step.segment != "infer":
            value = step.call(value)
            continue
        with _noticed(api) as waits:
            step.call(value)
        if waits:
            told = ", ".join(f"{name} x{waits.count(name)}" for name in dict.fromkeys(waits))
            yield sentences.WAITS.filled({"told": told})
        return


@contextlib.contextmanager
def _noticed(api: Any) -> Iterator[list[str]]:
    """Every wait inside: calls of synchronise, and operators that bring values to the host."""
    waits: list[str] = []
    homes = [(api, "synchronize"), *((getattr(api, name), "synchronize") for name in ("Stream", "Event"))]
    with contextlib.ExitStack() as stack:
        for home, function in homes:
            original = getattr(home, function, None)
            if original is not None:
                setattr(home, function, _counted(original, waits))
                stack.callback(setattr, home, function, original)
        stack.enter_context(_reading_back(waits))
        yield waits


def _counted(original: Callable[..., Any], waits: list[str]) -> Callable[..., Any]:
    def synchronize(*arguments: Any, **named: Any) -> Any:
        waits.append("synchronize")
        return original(*arguments, **named)

    return synchronize


def _reading_back(waits: list[str]) -> contextlib.AbstractContextManager[Any]:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            to_host = str(func).startswith("aten._to_copy") and str(named.get("device", "")) == "cpu"
            if to_host or str(func).startswith(_READS_BACK):
                waits.append("copy to the host")
            return func(*args, **named)

    watch: contextlib.AbstractContextManager[Any] = Watch()
    return watch
