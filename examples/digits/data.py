"""The 1,797 handwritten digits that ship with scikit-learn, split once and for all."""

from pathlib import Path

import numpy as np

DATASET = "sklearn digits (UCI Optical Recognition, 1797 images, 8x8)"
SPLIT_SEED = 20
VALIDATION_IMAGES = 360
MEAN, STD = 0.3053, 0.3762
ARCHIVE = Path(__file__).parent / "data" / "digits.npz"


def prepare() -> Path:
    """Write ``data/digits.npz`` from scikit-learn, so that inference hosts need only numpy."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.RandomState(SPLIT_SEED).permutation(len(digits.target))
    ARCHIVE.parent.mkdir(exist_ok=True)
    np.savez_compressed(ARCHIVE, images=digits.images[order].astype(np.uint8), labels=digits.target[order])
    return ARCHIVE


def load(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Raw images (N, 8, 8) uint8 in 0…16 and labels (N,) of ``train`` (1,437) or ``val`` (360)."""
    with np.load(ARCHIVE if ARCHIVE.exists() else prepare()) as archive:
        images, labels = archive["images"], archive["labels"].astype(np.int64)
    chosen = slice(None, VALIDATION_IMAGES) if split == "val" else slice(VALIDATION_IMAGES, None)
    return images[chosen], labels[chosen]


def normalise(images: np.ndarray) -> np.ndarray:
    """uint8 (N, 8, 8) in 0…16 to standardised float32 (N, 1, 8, 8)."""
    return ((images[:, None].astype(np.float32) / 16 - MEAN) / STD).astype(np.float32)
