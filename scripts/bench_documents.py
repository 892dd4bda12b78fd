#!/usr/bin/env python3
"""What editing documents costs: growth with size, the five-document patch, mdformat on the same file, bad inputs.

    .venv/bin/python scripts/bench_documents.py [--repeats 20]

Every time is the median of warm repetitions in this process, on the wall clock and (in brackets) of this process's CPU,
which other work on the machine disturbs less. Parsing, proof, contracts, journal and fsync are all in it.
"""

from __future__ import annotations

import argparse
import difflib
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from npueval import patching
from npueval.documents import layout, markdown
from npueval.documents.places import places_in
from npueval.documents.structure import blank
from npueval.records import Edit

ROW = "| 行 {number} | 12.30 | 14.5 | N/A | 1.2x | — | 15 | 是 |\n"
CHAPTER = """
## {number} 节

正文一段话，说明测量口径与限制条件，**见** `日志`。

- 字段：值
- [ ] 检查

| 指标 | CPU 基线 | GPU 基线 | NPU（迁移后） | 甲 | 乙 | 丙 | 丁 |
|---|---|---|---|---|---|---|---|
{rows}
```bash
python infer.py
```
"""


def document(size: int) -> bytes:
    """The blank Compare.md with chapters after it, up to about ``size`` bytes."""
    text, number = layout.template("Compare").decode(), 100
    parts, length = [text], len(text.encode())
    while length < size:
        rows = "".join(ROW.format(number=row) for row in range(20))
        parts.append(CHAPTER.format(number=number, rows=rows))
        length += len(parts[-1].encode())
        number += 1
    return "".join(parts).encode()


def ten_edits(text: str) -> list[Edit]:
    """Cells, fields, a check-list and a row, spread over the document's own part."""
    cells = [
        f"Compare#4/{row}/{column}"
        for row in ("延迟 p50 (ms)", "延迟 p95 (ms)")
        for column in ("CPU 基线", "NPU（迁移后）")
    ]
    fields = [f"Compare#2.3/{key}" for key in ("延迟定义", "Warmup 次数", "统计量", "吞吐定义")]
    row = Edit("Compare#4/延迟 p50 (ms)（batch=1）", ("延迟 p50 (ms)（batch=1）", text), after="延迟 p50 (ms)")
    return [*(Edit(address, text) for address in (*cells, *fields)), Edit("Compare#1/总体结论/结论", text), row]


def everything(run: str) -> list[Edit]:
    """An edit for every blank of the five documents, and every box ticked."""
    edits = []
    for home in layout.HOMES:
        document = blank(home.name)
        for place in (place for number in range(len(document.sections)) for place in places_in(document, number)):
            if place.kind == "check":
                edits.append(Edit(place.address, True, source=run))
            elif not place.text:
                edits.append(Edit(place.address, f"N/A（{run}）", source=run))
    return edits


@dataclass(frozen=True)
class Took:
    """Medians in milliseconds."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:7.0f} ms ({self.cpu:5.0f})"


def median(act: Callable[[], object], repeats: int, prepare: Callable[[], object] = lambda: None) -> Took:
    times = []
    for _ in range(repeats + 1):
        prepare()
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = (statistics.median(each) * 1e3 for each in zip(*times[1:], strict=True))
    return Took(wall, cpu)


def growth(repeats: int) -> None:
    print("ten edits in one document")
    before: tuple[float, int] | None = None
    for size in (20_000, 200_000, 2_000_000):
        data = document(size)
        with tempfile.TemporaryDirectory() as room:
            took = median(partial(ten, Path(room)), repeats if size < 1e6 else 3, partial(restore, Path(room), data))
        ratio = f"   x {took.cpu / before[0]:.1f} for x {len(data) / before[1]:.1f} bytes" if before else ""
        print(f"  {len(data) / 1e3:6.0f} kB {took}{ratio}")
        before = took.cpu, len(data)


def restore(folder: Path, compare: bytes) -> None:
    (folder / "Compare.md").write_bytes(compare)
    (folder / ".npueval" / "ledger.json").unlink(missing_ok=True)


def ten(folder: Path) -> None:
    result = patching.patch(folder, ten_edits("12.3"))
    assert len(result.applied) == 10, result.refusals


def whole_set(repeats: int) -> None:
    edits = everything("run-1")
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        took = median(partial(fill, folder, edits), repeats, partial(blank_set, folder))
        again = median(partial(patching.patch, folder, edits), repeats)
    print(f"five blank documents filled: {took}, at most 150; {len(edits)} edits")
    print(f"the same edits once more:    {again}, nothing written")


def blank_set(folder: Path) -> None:
    for home in layout.HOMES:
        (folder / home.path).parent.mkdir(exist_ok=True)
        (folder / home.path).write_bytes(layout.template(home.name))
    (folder / ".npueval" / "ledger.json").unlink(missing_ok=True)


def fill(folder: Path, edits: list[Edit]) -> None:
    result = patching.patch(folder, edits)
    assert len(result.changed) == 5, result.refusals


def beside_mdformat(repeats: int) -> None:
    import mdformat

    print("one cell of a 20 kB document, beside mdformat on the same file")
    data = document(20_000)
    edit = Edit("Compare#4/延迟 p50 (ms)/NPU（迁移后）", "12.3")
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        ours = median(partial(patching.patch, folder, [edit]), repeats, partial(restore, folder, data))
        foreign = changed_lines(data.decode(), (folder / "Compare.md").read_text(encoding="utf-8")) - 1
    theirs = median(partial(mdformat.text, data.decode()), repeats)
    formatted = changed_lines(data.decode(), mdformat.text(data.decode()))
    print(f"  ours     {ours}, other lines changed: {foreign}")
    print(f"  mdformat {theirs}, other lines changed: {formatted}")


def changed_lines(before: str, after: str) -> int:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    return sum(line.startswith("-") for line in lines) - 1


HARD: dict[str, Callable[[int], str]] = {
    "a cell of n bytes": lambda n: f"| a | b |\n|---|---|\n| x | {'y' * n} |\n",
    "marks in a cell": lambda n: f"| a | b |\n|---|---|\n| x | {'*[`' * (n // 3)} |\n",
    "a table of n/10 rows": lambda n: "| a | b |\n|---|---|\n" + "| xy | z |\n" * (n // 11),
    "n/10 short rows": lambda n: "| a | b |\n|---|---|\n" + "| xyzuvwxy\n" * (n // 11),
    "quotes in quotes": lambda n: ">" * n + " a\n",
    "lines of 50 quotes": lambda n: (">" * 50 + " a\n") * (n // 53),
    "an unclosed fence": lambda n: "```\n" + "- a：b\n" * (n // 9),
    "an unclosed comment": lambda n: "<!--\n" + "- a：b\n" * (n // 9),
    "list items": lambda n: "- a：b\n" * (n // 9),
    "a long paragraph": lambda n: "a b c d e\n" * (n // 10),
}


def hard_inputs() -> None:
    print("hard inputs, parsed: n and 4 n bytes")
    for name, make in HARD.items():
        n = 2_500_000 if name == "a cell of n bytes" else 150_000
        small, large = (once(f"## 1 a\n\n{make(size)}".encode()) for size in (n, 4 * n))
        growth = large.cpu / small.cpu
        print(f"  {name:22} {n / 1e6:5.2f} MB {small}   {4 * n / 1e6:5.2f} MB {large}   x {growth:.1f}")


def once(data: bytes) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    markdown.parse(data, path="Compare.md").as_json()
    return Took((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    whole_set(repeats)
    growth(repeats)
    beside_mdformat(repeats)
    hard_inputs()


if __name__ == "__main__":
    main()
