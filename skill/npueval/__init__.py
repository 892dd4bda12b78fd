"""npueval: measure, compare and document PyTorch models migrated to Ascend NPUs."""

__version__ = "0.1.0"

__all__ = ["__version__"]
