"""Small torch networks for the tests of readers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def network_of(n_inputs: int, n_outputs: int, *last: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_inputs, 16),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(16, 8),
        nn.Tanh(),
        nn.Linear(8, n_outputs),
        *last,
    )


def trained(network: nn.Module, X: Tensor, y: Tensor, epochs: int = 30) -> nn.Module:
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    loss = nn.CrossEntropyLoss()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(network(X), y).backward()
        optimizer.step()
    return network
