"""Runs in a child process: does torch import, does torch_npu import, does one small operator work?

Each stage prints one line of JSON behind :data:`MARK` as soon as it is over, so that a hang or a crash still tells how
far it got. Imports nothing of this package: its source is handed to the interpreter that is to be examined.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Facts = dict[str, Any]
MARK = "npueval-probe:"


def say(stage: str, **facts: object) -> None:
    sys.stdout.write(MARK + json.dumps({"stage": stage, **facts}) + "\n")
    sys.stdout.flush()


def attempt(stage: str, action: Callable[[], Facts]) -> bool:
    """Run one stage; whatever it raises is the finding, not an accident. Returns whether it went well."""
    say(stage, began=True)
    try:
        say(stage, ok=True, **action())
    except BaseException as error:  # noqa: BLE001 - torch's loaders raise SystemExit and bare Exceptions too
        say(stage, ok=False, error=f"{type(error).__name__}: {error}")
        return False
    return True


def torch_facts() -> Facts:
    import torch

    cuda = torch.cuda.is_available()
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if cuda else []
    return {
        "version": torch.__version__,
        "cuda_build": torch.version.cuda,
        "cuda_devices": names,
        "threads": torch.get_num_threads(),
    }


def torch_npu_facts() -> Facts:
    import torch
    import torch_npu

    npu = torch.npu
    available = bool(npu.is_available())
    count = int(npu.device_count()) if available else 0
    names = [npu.get_device_name(i) for i in range(count)]
    return {
        "version": torch_npu.__version__,
        "available": available,
        "count": count,
        "names": names,
        **optional(torch_npu),
    }


def optional(torch_npu: Any) -> Facts:
    """What only some releases can tell; absent where the release cannot."""
    facts: Facts = {}
    utils = getattr(getattr(torch_npu, "npu", None), "utils", None)
    questions = {
        "cann": getattr(utils, "get_cann_version", None),
        "jit_compile_off": getattr(getattr(torch_npu, "npu", None), "is_jit_compile_false", None),
    }
    for name, ask in questions.items():
        if ask is not None:
            try:
                facts[name] = ask()
            except Exception as error:  # noqa: BLE001 - a side question must not spoil the main one
                facts[f"{name}_error"] = f"{type(error).__name__}: {error}"
    return facts


def operator_facts() -> Facts:
    import torch

    device = "npu:0"
    torch.npu.set_device(device)
    ones = torch.ones(2, 2, device=device)
    total = float((ones @ ones).sum().cpu())
    if total != 8.0:
        raise ValueError(f"2x2 ones times 2x2 ones should sum to 8, the device says {total}")
    return {"device": device}


def main() -> None:
    # torch 2.5 and later load torch_npu with `import torch`; apart, one failure does not hide the other.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    if find_spec("torch") is None:
        return
    if not attempt("torch", torch_facts) or find_spec("torch_npu") is None:
        return
    if attempt("torch_npu", torch_npu_facts) and sys.modules["torch"].npu.device_count():
        attempt("operator", operator_facts)
    numpy = sys.modules.get("numpy")
    say("numpy", ok=True, version=getattr(numpy, "__version__", None))


if __name__ == "__main__":
    main()
