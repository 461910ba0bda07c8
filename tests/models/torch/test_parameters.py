"""Parameters of torch modules: without values, not finite, or trained again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import shafer

X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)


def test_meta_tensors() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="meta device.*load_state_dict"):
        shafer.Explainer(nn.Linear(4, 2, device="meta"), X)
    with pytest.raises(ValueError, match="X is a tensor on the meta device"):
        shafer.Explainer(nn.Linear(4, 2), X)(torch.zeros(3, 4, device="meta"))


@pytest.mark.parametrize(("value", "reason"), [("nan", "NaN"), ("inf", "infinite")])
def test_values_that_are_not_finite(value: str, reason: str) -> None:
    network = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    network[2].weight.data[0, 0] = float(value)
    with pytest.raises(shafer.UnsupportedModelError, match=f"has {reason} parameters.*Train it"):
        shafer.Explainer(network, X)


@pytest.mark.parametrize("layer", [0, 1, 3])
def test_any_layer_may_be_trained_again(layer: int) -> None:
    network = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    explainer = shafer.Explainer(network, X)
    explainer(X)
    optimiser = torch.optim.SGD(network[layer].parameters(), lr=0.1)
    network.eval()(torch.tensor(X)).square().sum().backward()
    optimiser.step()
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_running_means_count_as_training() -> None:
    network = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
    explainer = shafer.Explainer(network, X)
    network.train()(torch.tensor(X) + 3.0)
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_half_precision() -> None:
    network = nn.Linear(4, 2).to(torch.bfloat16)
    explainer = shafer.Explainer(network, X)
    assert explainer(X).probability.shape == (40, 2)
    with torch.no_grad():
        network.weight += 1
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)
