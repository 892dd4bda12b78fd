"""The shape of the house: who may import whom, which names are public, what an import may load."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import npueval

PACKAGE = Path(npueval.__file__).parent

LAYERS = (
    ("errors", "records", "resources", "language", "atomic", "contracts", "statistics"),
    (
        "globs",
        "interruption",
        "plaindata",
        "yamlfile",
        "metrics",
        "arrays",
        "tolerances",
        "commands",
        "isolation",
        "runs",
        "documents",
    ),
    ("plan", "environment", "devices", "workloads", "logs", "rules", "learning"),
    ("gate", "pipeline", "possible", "acceptance"),
    ("sessions",),
    # The verbs: they do not know each other.
    ("starting", "triggers", "measuring", "smoke", "golden", "training", "baselines", "comparing"),
    ("reporting", "patching", "linting"),
    ("kit", "workflow"),
    ("cli",),
    ("__main__",),
)
# What the members of a family stand on; every other file of the folder is a member, known to its `__init__` alone.
FAMILIES = {
    "devices": {"base", "profiling"},
    "workloads": {"base", "delivered", "loading", "needs"},
    "logs": {
        "base",
        "logged",
        "ours",
        "logbook",
        "numerals",
        "streams",
        "hardware",
        "ambient",
        "extracting",
        "reading",
        "assessing",
        "shapes",
        "lane",
        "ranks",
        "timings",
        "sentences",
        "quoting",
        "written",
        "needles",
        "statements",
        "unpacking",
    },
    "rules": {"base", "wording"},
}
ONLY_USER = {"markdown_it": "documents", "jsonschema": "contracts", "ruamel": "yamlfile", "filelock": "documents"}
INSIDE_FUNCTIONS = {"torch", "torch_npu", "paddle", "matplotlib", "mcp", "sklearn", "pynvml", "psutil"}
# The doors and the package's own front are free to reach every layer below them.
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_module_level(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported(ast.Module([node], []))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_strictly_down(path: Path) -> None:
    room = room_of(path)
    assert room in LEVEL, f"say in LAYERS where {room} lives"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name in imported(tree):
        parts = name.split(".")
        if parts[0] != "npueval" or len(parts) < 2 or parts[1] == "__version__":
            continue
        if parts[1] == room:
            front = path.name == "__init__.py" or room not in FAMILIES or len(parts) < 3
            assert front or parts[2] in FAMILIES[room], f"{path.name} imports the member {name}"
        elif (PACKAGE / f"{parts[1]}.py").exists() or (PACKAGE / parts[1]).is_dir():
            assert LEVEL[parts[1]] < LEVEL[room], f"{room} must not import {parts[1]}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_has_one_user(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name in imported(tree):
        owner = ONLY_USER.get(name.split(".")[0])
        assert owner in (None, room_of(path)), f"only {owner} imports {name}"
    for name in at_module_level(tree):
        assert name.split(".")[0] not in INSIDE_FUNCTIONS, f"import {name} inside the function that needs it"


PUBLIC = """
__version__ Baseline Comparison Edit Finding NpuevalError Plan Run compare examine find_baselines lint load_plan
load_run measure patch report run save_run
"""


def test_the_public_names() -> None:
    assert npueval.__all__ == PUBLIC.split()
    assert all(getattr(npueval, name) is not None for name in npueval.__all__)
    assert dir(npueval) == sorted(PUBLIC.split())
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        npueval.nonsense  # noqa: B018


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


HEAVY = {"torch", "torch_npu", "numpy", "jsonschema", "markdown_it", "ruamel", "rich", "matplotlib", "mcp", "psutil"}


@pytest.mark.parametrize(
    ("code", "may_load"),
    [
        ("import npueval", set()),
        ("import npueval.cli\ntry: npueval.cli.cli(['--help'])\nexcept SystemExit: pass", set()),
        ("import npueval.linting", {"jsonschema", "markdown_it"}),
    ],
    ids=["import npueval", "skill --help", "lint"],
)
def test_what_an_import_loads(code: str, may_load: set[str]) -> None:
    assert modules_after(code) & HEAVY <= may_load
