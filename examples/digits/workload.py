"""What npueval measures: DigitsNet from raw 8×8 images to digits."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
import torch
from model import DigitsNet
from torch import nn

from data import load, normalise

WEIGHTS = Path(__file__).parent / "weights" / "digits.pt"
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Digits:
    needs = ("model.py", "data.py", "data/digits.npz", "weights/digits.pt")

    def load(self, device: str, precision: str) -> None:
        self.device, self.dtype = device, DTYPES[precision]
        self.images, self.labels = load("val")
        self.net = DigitsNet()
        self.net.load_state_dict(torch.load(WEIGHTS, map_location="cpu", weights_only=True))
        self.net.to(device, self.dtype).eval()

    def inputs(self, batch: int, seed: int) -> np.ndarray:
        """Raw validation images (batch, 8, 8) uint8, drawn by the seed."""
        return self.images[np.random.RandomState(seed).randint(len(self.images), size=batch)]

    def preprocess(self, raw: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(normalise(raw)).to(self.dtype)

    def h2d(self, images: torch.Tensor, device: str) -> torch.Tensor:
        return images.to(device)

    @torch.no_grad()
    def infer(self, images: torch.Tensor) -> torch.Tensor:
        return self.net(images)

    def d2h(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.cpu()

    def postprocess(self, logits: torch.Tensor) -> np.ndarray:
        """The most probable digit of each image, (batch,) int64."""
        return logits.argmax(1).numpy()

    def dataset(self) -> Iterator[np.ndarray]:
        """The whole validation split, in order."""
        yield from np.array_split(self.images, 6)

    def check(self, outputs: list[np.ndarray]) -> dict[str, object]:
        read = np.concatenate(outputs)
        return {
            "metric": "val_accuracy",
            "value": float((read == self.labels).mean()),
            "n": len(read),
            "direction": "higher",
        }

    def train_step(self, step: int) -> dict[str, object]:
        if step == 0:
            self._start_training()
        images, labels = next(self.batches)
        loss = nn.functional.cross_entropy(self.student(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "model": self.student, "optimizer": self.optimizer}

    def _start_training(self) -> None:
        torch.manual_seed(20)
        images, labels = load("train")
        self.student = DigitsNet().to(self.device).train()
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=0.002)
        on_device = torch.from_numpy(normalise(images)).to(self.device), torch.from_numpy(labels).to(self.device)
        self.batches = cycle(zip(on_device[0].split(32), on_device[1].split(32), strict=True))
