"""Train DigitsNet on the CPU (seconds), on a GPU (``--device cuda``) or on an Ascend card (``--device npu``)."""

import argparse
import platform
import time
from pathlib import Path

import torch
from model import DigitsNet
from torch import nn

from data import DATASET, SPLIT_SEED, load, normalise

HERE = Path(__file__).parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "npu"])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--weights", type=Path, default=HERE / "weights" / "digits.pt")
    parser.add_argument("--log", type=Path, help="also write the log to this file")
    return parser.parse_args()


class Log:
    """Prints each line and, where asked, keeps it in a file."""

    def __init__(self, path: Path | None) -> None:
        self.file = path.open("w", encoding="utf-8") if path else None

    def __call__(self, line: str) -> None:
        print(line, flush=True)
        if self.file:
            print(line, file=self.file, flush=True)


def device_name(device: str) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    if device == "npu":
        import torch_npu  # noqa: F401  (registers torch.npu)

        return torch.npu.get_device_name()
    with Path("/proc/cpuinfo").open(encoding="utf-8") as info:
        names = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def tensors(split: str, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = load(split)
    return torch.from_numpy(normalise(images)).to(device), torch.from_numpy(labels).to(device)


@torch.no_grad()
def accuracy(net: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    net.eval()
    return (net(images).argmax(1) == labels).float().mean().item()


def header(log: Log, args: argparse.Namespace, train_size: int, val_size: int) -> None:
    log(f"date: {time.strftime('%Y-%m-%d %H:%M:%S')}")
    log(f"device: {args.device} ({device_name(args.device)}), 1 card")
    log(f"framework: torch {torch.__version__}, python {platform.python_version()}")
    log(f"dataset: {DATASET}")
    log(f"split: train {train_size} / val {val_size} (shuffled once, seed {SPLIT_SEED})")
    log(f"batch size: {args.batch_size}")
    log(f"learning rate: {args.lr}")
    log(f"epochs: {args.epochs}")
    log("optimizer: Adam")
    log("precision: fp32")
    log(f"seed: {args.seed}")


def main() -> None:
    args = arguments()
    log = Log(args.log)
    torch.manual_seed(args.seed)
    images, labels = tensors("train", args.device)
    val_images, val_labels = tensors("val", args.device)
    net = DigitsNet().to(args.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    header(log, args, len(labels), len(val_labels))

    for epoch in range(1, args.epochs + 1):
        started = time.perf_counter()
        net.train()
        batches = torch.randperm(len(labels)).split(args.batch_size)
        total = 0.0
        for step, batch in enumerate(batches, start=1):
            loss = nn.functional.cross_entropy(net(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
            log(f"epoch {epoch}/{args.epochs} step {step}/{len(batches)} loss {loss.item():.4f}")
        score = accuracy(net, val_images, val_labels)
        log(
            f"epoch {epoch}/{args.epochs} done: train_loss {total / len(labels):.4f} "
            f"val_accuracy {score:.4f} (n={len(val_labels)}) {time.perf_counter() - started:.2f} s"
        )

    args.weights.parent.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), args.weights)
    log(f"saved: {args.weights.name}")


if __name__ == "__main__":
    main()
