"""The real torch_npu: without CANN it is explained; with stand-in libraries every name that we use must exist."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from npueval import devices, measuring
from npueval.errors import NotExecuted
from support import cann_stub
from support.projects import TORCH, make_plan

pytestmark = pytest.mark.skipif(cann_stub.missing() is not None, reason=str(cann_stub.missing()))


@pytest.fixture
def wheel(monkeypatch):
    """The wheel is importable by what is started from here; this process never imports it."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(cann_stub.WHEEL)])


def test_without_cann_the_failing_import_is_explained(tmp_path, wheel):
    with pytest.raises(NotExecuted) as caught:
        measuring.measure(make_plan(tmp_path, TORCH, device="npu"), sampling_s=0)
    assert "CANN's libraries are not loaded (libhccl.so is not found)" in caught.value.message
    assert "set_env.sh" in caught.value.hint


def test_without_cann_the_cpu_can_still_be_measured(tmp_path, wheel):
    run = measuring.measure(make_plan(tmp_path, TORCH, iterations=20), sampling_s=0)
    assert run.valid
    assert run.workload.parameters == 15


CHECKS = """
import inspect, json, sys
import torch, torch_npu
wrong = []
for name, count, keywords in json.loads(sys.argv[1]):
    try:
        found = torch_npu if name.startswith("profiler.") else torch.npu
        for part in name.split("."):
            found = getattr(found, part)
        if count is not None:
            inspect.signature(found).bind(*range(count), **dict.fromkeys(keywords))
    except Exception as error:
        wrong.append(f"{name}: {error!r}")
from npueval.devices import open_device
from npueval.errors import NotExecuted
try:
    open_device("npu")
except NotExecuted as error:
    refused = error.message
print(json.dumps({"version": torch_npu.__version__, "wrong": wrong, "refused": refused}))
"""


def used_names():
    """(name below torch.npu, number of arguments, keywords) of every use in the devices' source; None: not called."""
    folder = Path(devices.__file__).parent
    for file in ("base.py", "npu.py"):
        tree = ast.parse((folder / file).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(getattr(node.func, "value", None), "id", None) == "profiler":
                keywords = [keyword.arg for keyword in node.keywords]
                yield f"profiler.{node.func.attr}", len(node.args), keywords
            elif isinstance(node, ast.Call) and is_api(node.func):
                yield node.func.attr, len(node.args), [keyword.arg for keyword in node.keywords]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reading":
                yield node.args[0].value, len(node.args) - 1, []
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_switch":
                yield f"{node.args[0].value}.allow_hf32", None, []


def is_api(function):
    home = getattr(function, "value", None)
    return (isinstance(home, ast.Name) and home.id == "api") or (isinstance(home, ast.Attribute) and home.attr == "api")


def test_with_stand_in_libraries_every_name_that_we_use_exists(tmp_path, wheel):
    names = [name for name in used_names() if name[0] != "function"]
    assert {
        "synchronize",
        "Event",
        "Stream",
        "mem_get_info",
        "max_memory_allocated",
        "is_jit_compile_false",
        "profiler.profile",
        "profiler.tensorboard_trace_handler",
    } <= {name for name, _, _ in names}
    names += [("Event.elapsed_time", 2, []), ("Event.record", 1, []), ("Stream.synchronize", 1, [])]
    names += [("utils.get_cann_version", None, []), ("set_compile_mode", 0, ["jit_compile"])]
    names += [(f"profiler.profile.{name}", 1, []) for name in ("start", "stop")]
    names += [(f"profiler.ProfilerActivity.{name}", None, []) for name in ("CPU", "NPU")]
    done = subprocess.run(
        [sys.executable, "-c", CHECKS, json.dumps(names)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "LD_LIBRARY_PATH": str(cann_stub.build(tmp_path)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["wrong"] == []
    assert answer["version"] == "2.13.0"
    assert answer["refused"] == "nothing was measured on npu: torch sees no such device"
