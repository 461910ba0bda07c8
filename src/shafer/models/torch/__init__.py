"""PyTorch modules: their readers, and the penalty that asks for least committed evidence."""

from shafer.models.torch.penalty import least_commitment_penalty

__all__ = ["least_commitment_penalty"]
