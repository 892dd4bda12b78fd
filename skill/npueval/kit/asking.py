"""What the user of a kit may ask for. Needs nothing but Python, so that ``--help`` answers on any host."""

from __future__ import annotations

import argparse


def parser(name: str = "gpu_kit.pyz") -> argparse.ArgumentParser:
    """What ``python <name>`` takes: ``device`` and ``output``, the folder for the results."""
    made = argparse.ArgumentParser(
        prog=f"python {name}",
        description="Measure the packed workload on this host; write one result file a precision, to bring back.",
        epilog=f"example: CUDA_VISIBLE_DEVICES=0 python {name} --device cuda:0",
    )
    made.add_argument(
        "--device", default="cuda", metavar="DEVICE", help="cuda, cuda:1 …, or cpu (default: cuda, the first card)"
    )
    made.add_argument(
        "--output", default=".", metavar="FOLDER", help="where to write gpu_result-<id>.json (default: this folder)"
    )
    return made
