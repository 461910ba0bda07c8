"""The network of Denœux 2019, §5.2: how its hidden units read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

import shafer
from torch_networks import trained


def _gaussian_data(n: int) -> tuple[Tensor, Tensor]:
    """Draw from the three Gaussian classes of Denœux 2019, §5.2."""
    rng = np.random.default_rng(0)
    means = [[0, 0], [0, 0], [1, -1]]
    covariances = [0.1 * np.eye(2), 0.5 * np.eye(2), [[0.3, -0.15], [-0.15, 0.3]]]
    parts = [
        rng.multivariate_normal(mean, cov, n // 3)
        for mean, cov in zip(means, covariances, strict=True)
    ]
    X = torch.tensor(np.concatenate(parts), dtype=torch.float32)
    return X, torch.arange(3).repeat_interleave(n // 3)


def test_hidden_units_of_the_gaussian_network_read_as_in_the_paper() -> None:
    # In the paper a small output supports {1}, {1, 2}, {1, 3} and a large one for {2}, {3},
    # {2, 3}. The classes differ from one training to the next; that the two families of sets
    # complement each other does not.
    torch.manual_seed(3)
    X, y = _gaussian_data(900)
    network = nn.Sequential(
        nn.Linear(2, 20), nn.ReLU(), nn.Dropout(0.5), nn.Linear(20, 10), nn.ReLU(), nn.Linear(10, 3)
    )
    trained(network, X, y, epochs=300)
    explainer = shafer.Explainer(network, X, classes=[1, 2, 3])
    assert (explainer(X).probability.argmax(1) == y).float().mean() > 0.7
    with torch.no_grad():
        units = network.eval()[:-1](X)  # (900, 10), after the ReLU
    flips = 0
    for j in range(10):
        smallest, largest = int(units[:, j].argmin()), int(units[:, j].argmax())
        ev = explainer(X[[smallest, largest]])
        weights = ev.weights[:, j]
        if not bool((weights[0] * weights[1] < 0).all()):
            continue  # the unit leans the same way throughout, or supports nothing
        flips += 1
        for_small = {k + 1 for k in range(3) if weights[0, k] > 0}
        alone = next(iter(for_small if len(for_small) == 1 else {1, 2, 3} - for_small))
        other = {1, 2, 3} - {alone}
        one, two = (0, 1) if len(for_small) == 1 else (1, 0)
        masses = [
            {part.classes for part in sets if part.mass > 1e-6}
            for sets in ev.components.focal_sets(top=8)
        ]
        near, far = masses[one * 10 + j], masses[two * 10 + j]
        pairs = {frozenset({alone, k}) for k in other}
        assert near <= {frozenset({alone}), *pairs, frozenset({1, 2, 3})}
        assert far <= {*(frozenset({k}) for k in other), frozenset(other), frozenset({1, 2, 3})}
        assert frozenset({alone}) in near
        assert frozenset(other) in far
    assert flips >= 1
