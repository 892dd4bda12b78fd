#!/usr/bin/env python3
"""What a report costs: 50 cases of 1,000 iterations on the NPU, and as many from a GPU, compared and written.

Usage: .venv/bin/python scripts/bench_report.py [--cases 50] [--iterations 1000] [--json]

Printed: seconds of the processor (the reading of the machine, a second or so whatever is reported, is left out), beside
their bound and as a share of a reference in the same run: the textbook's bootstrap of as many ratios, which draws every
resample in full. Then the size of the page beside its bound. Exits 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from npueval import gate, plan, runs, workflow

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import dossiers, kits, small_project

MOST_SECONDS = 2.0
MOST_BYTES = 1_000_000
LOADS = (1, 4)
T = TypeVar("T")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="npueval-bench-") as folder:
        found = measure(Path(folder), asked.cases, asked.iterations)
    assert found["ratios"] == found["rows"] > 0, "a report without its ratios costs nothing"
    met = found["report_s"] <= MOST_SECONDS and found["page_bytes"] <= MOST_BYTES
    print(json.dumps({**found, "met": met}) if asked.json else table(found))
    return 0 if met else 1


def measure(folder: Path, cases: int, iterations: int) -> dict[str, Any]:
    """Every figure of the bench: seconds of the processor, bytes, counts."""
    path = write_project(folder, cases, iterations)
    views = folder / "report.html", folder / "report.csv"
    diagnosis = gate.examine(folder, environment=dossiers.environment_of(folder / "machine", npu=True))
    gate.examine = lambda _root: diagnosis
    reference_s, _ = timed(lambda: textbook(iterations))
    report_s, done = timed(lambda: workflow.report(path, progress=lambda _line: None))
    views_s, _ = timed(lambda: workflow.keep_views(done, html=views[0], csv=views[1]))
    again_s, _ = timed(lambda: workflow.report(path, progress=lambda _line: None))
    rows = done.comparison.rows
    return {
        "rows": len(rows),
        "ratios": sum(row.against_gpu.ratio is not None for row in rows),
        "textbook_s": reference_s * cases,
        "report_s": report_s,
        "views_s": views_s,
        "again_s": again_s,
        "page_bytes": views[0].stat().st_size,
        "csv_bytes": views[1].stat().st_size,
    }


def textbook(n: int) -> None:
    """The ratios of one case by the textbook: median, 95th percentile and mean of 10,000 whole resamples a side."""
    generator = np.random.default_rng(1)
    for _ in ("npu", "gpu"):
        series = generator.lognormal(sigma=0.05, size=n)
        drawn = series[generator.integers(0, n, (10_000, n))]
        np.percentile(drawn, [50, 95], axis=1)
        drawn.mean(axis=1)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of the processor that a piece of work takes, and its answer."""
    before = time.process_time()
    answer = work()
    return time.process_time() - before, answer


def write_project(folder: Path, cases: int, iterations: int) -> Path:
    """A project with its plan, and the Runs that an NPU and a GPU would have left."""
    batches = list(range(1, cases // len(LOADS) + 1))
    wish = f"batches: {batches}\nconcurrency: {list(LOADS)}\nwarmup: 20\niterations: {iterations}\n"
    text = small_project.PLAN.replace("batches: [1, 4]\n", "").replace("warmup: 10\niterations: 100\n", wish)
    text = text.replace("  latency_p50_ms: 1000\n", "  latency_p50_ms: 1000\n  ratio_to_baseline: 0.9\n")
    path = small_project.write(folder, plan=text.replace("cpu: true", "cpu: false"))
    wanted = plan.load(path)
    for kind, factor in (("npu", 1.0), ("cuda", 1.1)):
        made = [
            replace(
                dossiers.lifelike(batch, factor * (1 + batch / 8) * load, iterations, seed=100 * batch + load),
                concurrency=load,
                load="sequence" if load == 1 else "closed",
            )
            for batch in batches
            for load in LOADS
        ]
        run = dossiers.made_on(kind, made)
        known = {"id": run.id, "device": run.device, "output_check": run.output_check, "cases": run.cases}
        runs.save(kits.run_of(wanted, **known), wanted.runs)
    return path


def table(found: dict[str, Any]) -> str:
    """The figures for people."""
    textbook_s = found["textbook_s"]
    lines = [f"{found['rows']} rows, {found['ratios']} ratios with an interval; textbook: {textbook_s:.1f} s"]
    for name, bound in (("report_s", MOST_SECONDS), ("again_s", MOST_SECONDS), ("views_s", None)):
        limit = f" (≤ {bound:g})" if bound else ""
        lines.append(f"{name[:-2]}: {found[name]:.2f} s{limit} = {found[name] / textbook_s:.1%} of the textbook")
    page, csv = found["page_bytes"] / 1e6, found["csv_bytes"] / 1e6
    lines.append(f"page: {page:.2f} MB (≤ {MOST_BYTES / 1e6:g}); table: {csv:.2f} MB")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
