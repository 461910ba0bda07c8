"""One explainer of a torch module in several threads, and heads that drop an axis."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

import shafer

X = np.random.default_rng(0).normal(size=(1025, 4)).astype(np.float32)


class _Slow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3)

    def forward(self, rows: Tensor) -> Tensor:
        logits: Tensor = self.head(self.drop(torch.relu(self.first(rows))))
        time.sleep(0.002)  # so that threads meet inside
        return logits


def test_threads() -> None:
    network = _Slow().train()
    explainer = shafer.Explainer(network, X[:50])
    expected = np.asarray(explainer(X[:50]).probability)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: np.asarray(explainer(X[:50]).probability), range(40)))
    for probability in found:
        assert_allclose(probability, expected)
    assert all(part.training for part in network.modules())


def test_calls_of_other_threads_are_not_recorded() -> None:
    network = _Slow().eval()
    explainer = shafer.Explainer(network, X[:50])
    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(network, torch.tensor(X[:7])) for _ in range(20)]
        for _ in range(5):
            assert explainer(X[:50]).probability.shape == (50, 3)
        assert all(other.result().shape == (7, 3) for other in others)


class _Squeezed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, rows: Tensor) -> Tensor:
        logits: Tensor = self.head(rows).squeeze()
        return logits


@pytest.mark.parametrize("n", [1, 2, 1024, 1025])
def test_a_squeezed_logit(n: int) -> None:
    network = _Squeezed()
    ev = shafer.Explainer(network, X[:1000])(X[:n])
    with torch.no_grad():
        expected = torch.sigmoid(network.head(torch.tensor(X[:n])))[:, 0]
    assert_allclose(np.asarray(ev.probability)[:, 1], expected, atol=1e-6)
