"""Recognise digits: ``python infer.py --index 0 1 2`` prints what the network reads in those validation images."""

import argparse
from pathlib import Path

import torch
from model import DigitsNet

from data import load, normalise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "npu"])
    parser.add_argument("--weights", type=Path, default=Path(__file__).parent / "weights" / "digits.pt")
    parser.add_argument("--index", type=int, nargs="+", default=list(range(10)))
    args = parser.parse_args()

    net = DigitsNet()
    net.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
    net.to(args.device).eval()
    images, labels = load("val")
    with torch.no_grad():
        logits = net(torch.from_numpy(normalise(images[args.index])).to(args.device))
    for index, digit in zip(args.index, logits.argmax(1).tolist(), strict=True):
        print(f"image {index}: read {digit}, labelled {labels[index]}")


if __name__ == "__main__":
    main()
