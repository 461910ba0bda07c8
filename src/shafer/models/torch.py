"""Training with PyTorch: the penalty that asks for least committed evidence."""

from shafer.models.readers.torch.penalty import least_commitment_penalty

__all__ = ["least_commitment_penalty"]
