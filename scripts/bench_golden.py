#!/usr/bin/env python3
"""What a golden comparison of two large arrays costs, beside one ``abs(a - b).max()`` over the same files.

Usage: .venv/bin/python scripts/bench_golden.py [--gigabytes 4] [--folder /tmp]

Both run in a process of their own, in turn, over the same two ``.npy`` files (float32, written first and removed
afterwards). Printed: seconds, peak memory of the process, and the ratio of the speeds. Limits: 500 MB, 0.25.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PLAIN = """
import json, resource, sys, time
import numpy as np
started = time.perf_counter()
a, b = (np.load(path, mmap_mode="r") for path in sys.argv[1:])
largest = float(np.abs(a - b).max())
"""
GOLDEN = """
import json, resource, sys, time
from npueval.golden import compare_files
from npueval.tolerances import tolerance
started = time.perf_counter()
largest = compare_files(*sys.argv[1:], tolerance("fp32")).heads[0].difference.max_absolute
"""
REPORT = """
seconds = time.perf_counter() - started
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, largest]))
"""
ROUNDS = 2
CHUNK = 1 << 22


def write(path: Path, elements: int, noise: float) -> None:
    random = np.random.default_rng(1)
    values = random.standard_normal(CHUNK, dtype=np.float32)
    values += noise * random.standard_normal(CHUNK, dtype=np.float32)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (elements,)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(elements // CHUNK):
            file.write(values.data)


def run(code: str, paths: list[str]) -> tuple[float, float, float]:
    done = subprocess.run([sys.executable, "-c", code + REPORT, *paths], capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--folder", type=Path, default=None)
    args = parser.parse_args()
    elements = max(1, int(args.gigabytes * 1e9 / 4 / CHUNK)) * CHUNK
    folder = Path(tempfile.mkdtemp(prefix="bench_golden_", dir=args.folder))
    try:
        paths = [str(folder / "ref.npy"), str(folder / "hyp.npy")]
        for path, noise in zip(paths, (0.0, 1e-5), strict=True):
            write(Path(path), elements, noise)
        rounds = [(run(PLAIN, paths), run(GOLDEN, paths)) for _ in range(ROUNDS)]
    finally:
        shutil.rmtree(folder)
    plain, golden = (min(side, key=lambda result: result[0]) for side in zip(*rounds, strict=True))
    ratio = plain[0] / golden[0]
    print(f"two arrays of {elements * 4 / 1e9:.1f} GB, best of {ROUNDS} rounds")
    print(f"abs(a - b).max()  {plain[0]:6.2f} s  {plain[1]:7.0f} MiB  {plain[2]:.6g}")
    print(f"npueval golden    {golden[0]:6.2f} s  {golden[1]:7.0f} MiB  {golden[2]:.6g}")
    print(f"speed ratio       {ratio:6.2f}    (>= 0.25)   memory {golden[1]:.0f} MiB (<= 500)")
    return 0 if ratio >= 0.25 and golden[1] <= 500 else 1


if __name__ == "__main__":
    sys.exit(main())
