"""Find, import and check the user's workload class; say where in the user's file something went wrong."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from npueval.errors import Problem, WorkloadError
from npueval.runs.conditions import WorkloadFacts
from npueval.workloads.base import OPTIONAL, REQUIRED, leaves
from npueval.workloads.delivered import is_pending
from npueval.workloads.needs import fingerprints, imported_beside, sha256

_TAKES = {"load": 2, "inputs": 2, "h2d": 2, "dataset": 0}


@dataclass(frozen=True)
class Workload:
    """The user's workload: its file and an instance whose ``load`` has not been called.

    ``needs`` maps the files that it declares to their SHA-256.
    """

    ref: str
    path: Path
    sha256: str
    instance: Any
    needs: Mapping[str, str] = field(default_factory=dict)

    def hook(self, name: str) -> Any | None:
        """A method of the contract, or ``None`` where the workload has none."""
        return getattr(self.instance, name, None)

    def inputs(self, batch: int, seed: int) -> Any:
        """The raw inputs. :class:`WorkloadError` where they would be used up by the first who looks at them."""
        raw = self.call("inputs", batch, seed)
        once = next((type(leaf).__name__ for leaf in leaves(raw) if is_pending(leaf)), None)
        if once:
            raise WorkloadError(
                f"inputs returned a {once}, which the first iteration would use up",
                path=self.path,
                hint="return the values: a list, an array, a tensor",
            )
        return raw

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the contract; what it raises becomes a :class:`WorkloadError` with its place."""
        try:
            return getattr(self.instance, name)(*arguments)
        except (Exception, SystemExit) as error:
            raise self.blamed(f"{self.ref.partition(':')[2]}.{name}", error) from error

    def blamed(self, what: str, error: BaseException) -> WorkloadError:
        """The error that says which call of the workload raised, what, and in which line of the user's file."""
        return WorkloadError(f"{what} {raised(error)}", path=self.path, line=line_in(self.path, error))

    def facts(self) -> WorkloadFacts:
        """Reference, hash, the parameter count where the instance holds a torch module, and what it needs.

        The project's own modules that it has imported by now count as needed, declared or not.
        """
        needed = {**self.needs, **imported_beside(self.path)}
        return WorkloadFacts(self.ref, self.sha256, _parameters(self.instance), needed)


def load(ref: str, root: Path) -> Workload:
    """Import ``file.py:Class`` (the file relative to ``root``) and make an instance.

    :class:`WorkloadError` where the file is absent or does not import, the class is absent, cannot be made without
    arguments, needs files that are not there, or breaks the contract (every breach at once).
    """
    file, _, name = ref.partition(":")
    path = (root / file).resolve()
    if not name:
        raise WorkloadError(f"{ref!r} names no class", hint="write file.py:Class")
    if not path.is_file():
        raise WorkloadError("no such workload file", path=path)
    found = getattr(_imported(path), name, None)
    if not inspect.isclass(found):
        raise WorkloadError(f"the file has no class {name}", path=path)
    needed = fingerprints(getattr(found, "needs", ()), path)
    workload = Workload(ref, path, sha256(path), None, needed)
    try:
        workload = replace(workload, instance=found())
    except (Exception, SystemExit) as error:
        raise workload.blamed(f"{name}()", error) from error
    problems = list(_breaches(workload))
    if problems:
        raise WorkloadError(f"{name} breaks the workload contract", path=path, problems=problems)
    return workload


def raised(error: BaseException) -> str:
    """``raised ValueError: …``, or the plain truth about an exit."""
    if isinstance(error, SystemExit):
        return f"called sys.exit({error.code!r})"
    text = str(error).strip().split("\n")[0].strip()
    return f"raised {type(error).__name__}{': ' + text if text else ''}"


def line_in(path: Path, error: BaseException) -> int | None:
    """The innermost line of a file that an error passed through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"npueval_workload_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise WorkloadError("not a Python file", path=path)
    module = importlib.util.module_from_spec(spec)
    # Its neighbours are importable, as when the user runs the file; dataclasses look the module up by its name.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise WorkloadError(
            f"the workload file does not import: it {raised(error)}", path=path, line=line_in(path, error)
        ) from error
    return module


def _breaches(workload: Workload) -> Iterator[Problem]:
    for name in (*REQUIRED, *OPTIONAL):
        method = workload.hook(name)
        if method is None and name not in REQUIRED:
            continue
        if not callable(method):
            what = "missing" if method is None else "not a method"
            yield Problem(f"{name} is {what}", path=workload.path.name, key=name)
        elif not _takes(method, _TAKES.get(name, 1)):
            line = getattr(getattr(inspect.unwrap(method), "__code__", None), "co_firstlineno", None)
            message = f"{name} must take {_TAKES.get(name, 1)} argument(s) beside self"
            yield Problem(message, path=workload.path.name, line=line, key=name)


def _takes(method: Any, arguments: int) -> bool:
    try:
        inspect.signature(method).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        # A builtin that does not tell its signature gets the benefit of the doubt.
        return True
    return True


def _parameters(instance: Any) -> int | None:
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    held = [instance, *getattr(instance, "__dict__", {}).values()]
    modules = [value for value in held if isinstance(value, torch.nn.Module)]
    counts = {id(p): p.numel() for module in modules for p in module.parameters()}
    return sum(counts.values()) if modules else None
