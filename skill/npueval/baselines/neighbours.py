"""What the files beside a log say of its conditions: they fill gaps, marked as from there; contradictions are shown.

The nearest file counts most. A file that states a condition twice, differently, says nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from npueval import logs
from npueval.baselines import scanning
from npueval.logs import streams
from npueval.logs.logbook import Logbook
from npueval.logs.logged import LoggedRun
from npueval.logs.quoting import visible
from npueval.records import Fact

CONFIGURATIONS = ("args.yaml", "hparams.yaml", "config.yaml", "config.yml", "config.json", "opt.yaml", "params.yaml")
PATTERNS = ("*.yaml", "*.yml", "*config*.py", "*config*.json", "*args*.json")
READMES = ("README.md", "README.zh-CN.md", "README_CN.md", "readme.md")
MOST_FILES, MOST_LEVELS, MOST_LOOKED_INTO = 12, 4, 50
_PYTHON, _ENDINGS = "*.py", (".yaml", ".yml", ".json", ".py")

_KEYS = {
    "dataset": "数据集",
    "split": "划分",
    "device": "设备",
    "device_kind": "设备类别",
    "batch": "batch",
    "learning_rate": "学习率",
    "epochs": "epochs",
    "cards": "卡数",
    "precision": "精度",
    "framework": "框架",
    "model": "模型",
}
_HELD_AGAINST = ("device_kind", "device", "dataset", "batch", "epochs", "learning_rate", "cards", "model", "precision")
_NAMES = ("device", "dataset")
_SAYS_NOTHING = frozenset(("nvidia", "tesla", "geforce", "quadro", "huawei", "gpu", "npu", "data", "yaml", "s"))
_PYTHON_CONFIGURATION = re.compile(rb"^(?:_base_|model|data|dataset_type|train_dataloader|optimizer|runner) = ", re.M)
_WEIGHTS = re.compile(r"\.(?:pt|pth|onnx|yaml|yml|pdparams|ckpt|safetensors)$")


class Neighbourhood:
    """The configurations and READMEs around the logs of one tree, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[Path, list[Path]] = {}
        self._stated: dict[Path, dict[str, list[Fact]]] = {}

    def complete(self, run: LoggedRun, log: Path) -> list[str]:
        """Give the run the conditions that its log lacks; returns (in Chinese) what was taken from where, and every
        contradiction, of which none is settled."""
        told: list[str] = []
        for path in self.around(log):
            for key, facts in self.stated(path).items():
                told += _taken(run, key, facts)
        lacking = not {"dataset", "split"} & run.facts.keys() or "device" not in run.facts
        found = [self._shown(path) for path in self.around(log)]
        if lacking and found:
            told.append(f"缺的条件可在这些文件里查找：{'、'.join(found[:4])}")
        return told

    def around(self, log: Path) -> list[Path]:
        """The files to look into, the nearest first."""
        folder = log.parent
        if folder not in self._files:
            self._files[folder] = list(dict.fromkeys(self._candidates(folder)))[:MOST_FILES]
        return self._files[folder]

    def _candidates(self, folder: Path) -> Iterator[Path]:
        beside = _beside(folder)
        for pattern in (*CONFIGURATIONS, *PATTERNS):
            yield from beside[pattern]
        yield from (path for path in beside[_PYTHON][:MOST_LOOKED_INTO] if _is_configuration(path))
        for level in (folder, *folder.parents)[:MOST_LEVELS]:
            yield from (level / name for name in (*CONFIGURATIONS, *READMES) if _is_plain(level / name))
            if level == self.root:
                return

    def stated(self, path: Path) -> dict[str, list[Fact]]:
        """Every condition that a file states, with each of its statements."""
        if path not in self._stated:
            self._stated[path] = _read(path, self._shown(path))
        return self._stated[path]

    def _shown(self, path: Path) -> str:
        return visible(path.relative_to(self.root).as_posix())


def _beside(folder: Path) -> dict[str, list[Path]]:
    """The files of a folder by what they are called, in order; those of other names are not held."""
    found: dict[str, list[Path]] = {pattern: [] for pattern in (*CONFIGURATIONS, *PATTERNS, _PYTHON)}
    for entry in scanning.entries(folder):
        if entry.name.endswith(_ENDINGS) and not entry.name.startswith("npueval") and scanning.is_file(entry):
            for pattern, paths in found.items():
                if fnmatchcase(entry.name, pattern):
                    paths.append(folder / entry.name)
    return {pattern: sorted(paths) for pattern, paths in found.items()}


def _taken(run: LoggedRun, key: str, facts: list[Fact]) -> Iterator[str]:
    values, held = {fact.value for fact in facts}, run.facts.get(key)
    if held is not None:
        agree = _is_one_model if key == "model" else _may_be_one if key in _NAMES else _agree
        if key in _HELD_AGAINST and not any(agree(held.value, value) for value in values):
            other = f"{facts[0].source} 为 {facts[0].value}"
            yield f"{_KEYS[key]} 有矛盾：{held.source} 为 {held.value}，{other}，未作取舍"
    elif key in _KEYS and len(values) == 1:
        run.facts[key] = facts[0]
        yield f"{_KEYS[key]} 取自 {facts[0].source}（日志未写）"


def _agree(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one.casefold() == other.casefold()


def _is_one_model(one: str, other: str) -> bool:
    """Whether two names may be of one model: a path, the ending of its weights and an owner's prefix say nothing."""
    names = [re.sub(r"[^a-z0-9]", "", _WEIGHTS.sub("", name.lower().rpartition("/")[2])) for name in (one, other)]
    return names[0] == names[1]


def _may_be_one(one: str, other: str) -> bool:
    """Whether two names may be of one device or data set: all words of the shorter stand in the longer."""
    few, many = sorted((_words(one), _words(other)), key=len)
    return few <= many


def _words(name: str) -> set[str]:
    plain = re.sub(r"dataset", "", name.lower().rstrip("/").rpartition("/")[2])
    return set(re.findall(r"[a-z]+|\d+|[^\W\d_a-z]+", plain)) - _SAYS_NOTHING


def _is_configuration(path: Path) -> bool:
    """Whether a Python file is a configuration, as OpenMMLab leaves one beside its log under the name of the model."""
    try:
        return _PYTHON_CONFIGURATION.search(streams.beginning(path)) is not None
    except streams.Unreadable:
        return False


def _is_plain(path: Path) -> bool:
    return streams.is_regular(path) and not path.is_symlink() and not path.name.startswith("npueval")


def _read(path: Path, shown: str) -> dict[str, list[Fact]]:
    book, reader = Logbook(shown), logs.AMBIENT()
    try:
        head = streams.beginning(path)
    except streams.Unreadable:
        return {}
    for number, line in enumerate(streams.text_of(head).split("\n"), start=1):
        book.at(number, line, reader)
        reader.read(_as_statement(line), book)
    found: dict[str, list[Fact]] = {}
    for key, fact in book.stated():
        found.setdefault(key, []).append(fact)
    return found


def _as_statement(line: str) -> str:
    """A row of a table of two columns as ``key: value``; any other line as it is."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
    return f"{cells[0]}: {cells[1]}" if len(cells) == 2 else line
