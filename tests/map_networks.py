"""Small torch networks that end in a linear head on a feature map, in many spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

CHANNELS = 5


def body(n_inputs: int = 3, channels: int = CHANNELS) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(n_inputs, channels, 3), nn.BatchNorm2d(channels), nn.ReLU())


class MapNetwork(nn.Module):
    """A convolutional body, and a function of the head and the map."""

    def __init__(self, end: Callable[[Any, Tensor], Tensor], head: nn.Module | None = None) -> None:
        super().__init__()
        self.body = body()
        self.head = nn.Linear(CHANNELS, 4) if head is None else head
        self.end = end

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.head, self.body(x))


class TokenNetwork(nn.Module):
    """An embedding, and a function of the head, the embedded tokens and the mask of padding."""

    def __init__(
        self, end: Callable[[Any, Tensor, Tensor], Tensor], head: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.head = nn.Linear(6, 3) if head is None else head
        self.end = end

    def forward(self, ids: Tensor) -> Tensor:
        return self.end(self.head, self.embedding(ids), ids != 0)


class BagNetwork(nn.Module):
    """An embedding bag; with ``ragged``, padding is left out and bags have offsets."""

    def __init__(self, mode: str, padding: int | None = None, ragged: bool = False) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(20, 6, mode=mode, padding_idx=padding)
        self.head = nn.Linear(6, 3)
        self.ragged = ragged

    def forward(self, ids: Tensor) -> Any:
        if not self.ragged:
            return self.head(self.bag(ids))
        lengths = (ids != 0).sum(1)
        offsets = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)[:-1]])
        return self.head(self.bag(ids[ids != 0], offsets))


class Patches(nn.Module):
    """A small vision transformer; ``pool`` is a function of the module and the tokens."""

    def __init__(self, pool: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.first = nn.Parameter(torch.randn(1, 1, 8))
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 3)
        self.pool = pool

    def forward(self, x: Tensor) -> Any:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.first.expand(len(x), -1, -1), tokens], 1)
        return self.head(self.pool(self, self.blocks(tokens)))


def images(n: int = 6, height: int = 8, width: int = 9) -> Tensor:
    return torch.randn(n, 3, height, width, generator=torch.Generator().manual_seed(n))


def padded_ids(n: int = 9, length: int = 7) -> Tensor:
    """Return token ids; 0 is padding, and the first rows have none."""
    ids = torch.randint(1, 20, (n, length), generator=torch.Generator().manual_seed(n))
    for row in range(4, n):
        ids[row, 1 + row % (length - 1) :] = 0
    return ids


def centred(logits: Tensor) -> Tensor:
    return logits - logits.mean(1, keepdim=True)


def settled(network: nn.Module, seed: int = 0) -> nn.Module:
    """Give normalisations statistics of their own, and turn the network to eval mode."""
    generator = torch.Generator().manual_seed(seed)
    for part in network.modules():
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            for name in ("weight", "bias", "running_mean"):
                value = getattr(part, name)
                value.data.copy_(torch.randn(value.shape, generator=generator))
            part.running_var.data.uniform_(0.5, 2.0, generator=generator)
    return network.eval()
