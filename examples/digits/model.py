"""A small convolutional network for 8×8 grey digits."""

from torch import Tensor, nn


class DigitsNet(nn.Module):
    """Input (N, 1, 8, 8) float in 0…1, standardised; output (N, 10) logits."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 4 * 4, 10))

    def forward(self, images: Tensor) -> Tensor:
        return self.classifier(self.features(images))
