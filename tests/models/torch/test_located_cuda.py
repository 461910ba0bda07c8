"""Locations and tokens on a CUDA device: the same numbers as on the CPU, and the same errors."""

from __future__ import annotations

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

import shafer
from map_networks import CHANNELS, BagNetwork, TokenNetwork, body, images, padded_ids, settled

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def _pooled(*last: nn.Module) -> nn.Module:
    head = last or (nn.Linear(CHANNELS, 4),)
    return settled(nn.Sequential(body(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), *head))


NETWORKS = {
    "pooled": (_pooled, images(), "locations"),
    "softmax": (lambda: _pooled(nn.Linear(CHANNELS, 4), nn.Softmax(1)), images(), "locations"),
    "one logit": (lambda: _pooled(nn.Linear(CHANNELS, 1)), images(), "locations"),
    "flattened": (
        lambda: settled(nn.Sequential(body(), nn.Flatten(), nn.Linear(42 * CHANNELS, 4))),
        images(),
        "locations",
    ),
    "channels": (
        lambda: settled(nn.Sequential(body(), nn.Flatten(), nn.Linear(42 * CHANNELS, 4))),
        images(),
        "channels",
    ),
    "convolution first": (
        lambda: settled(
            nn.Sequential(body(), nn.Conv2d(CHANNELS, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        ),
        images(),
        "locations",
    ),
    "masked": (
        lambda: TokenNetwork(
            lambda head, e, m: head((e * m[..., None]).sum(1) / m.sum(1, keepdim=True))
        ),
        padded_ids(),
        "tokens",
    ),
    "bag": (lambda: BagNetwork("mean", 0, ragged=True), padded_ids(), "tokens"),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("options", [{}, {"prior": "shared"}, {"location_means": "shared"}])
def test_as_on_the_cpu(name: str, options: dict) -> None:
    torch.manual_seed(0)
    make, X, components = NETWORKS[name]
    network = make()
    here = shafer.Explainer(network, X, components=components, **options)(X)
    on_device = copy.deepcopy(network).cuda()
    there = shafer.Explainer(on_device, X.cuda(), components=components, batch_size=4, **options)(
        X.cuda()
    )
    assert there.belief.is_cuda
    for quantity in ("weights", "weights_for", "weights_against", "logits", "belief", "ignorance"):
        assert_allclose(getattr(there, quantity).cpu(), getattr(here, quantity), atol=2e-5)
    _, weights = there.top_weights(2)
    assert_allclose(weights.cpu(), here.top_weights(2)[1], atol=2e-5)
    assert_allclose(there[1:3].weights.cpu(), here.weights[1:3], atol=2e-5)


def test_errors_come_with_the_call() -> None:
    network = _pooled().cuda()
    X = images().cuda()
    explainer = shafer.Explainer(network, X, components="locations")
    wrong = X.clone()
    wrong[3, 0, 2, 2] = float("nan")
    with pytest.raises(ValueError, match=r"X contains NaN, the first in row 3, index \[0, 2, 2\]"):
        explainer(wrong)
    assert explainer(X).belief.shape == (6, 4)
    with torch.no_grad():
        network[0][0].weight += 1e-3
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)
    network = _pooled().cuda()
    explainer = shafer.Explainer(network, X, components="locations")
    network[3].weight.data[0, 0] += 1e-3  # which the tensor does not count as a change
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_written_features_are_noticed() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)).cuda()
    X = torch.randn(5, 1, 8, 8, device="cuda")
    ev = shafer.Explainer(network, X, components="locations")(X)
    X += 1.0
    with pytest.raises(ValueError, match="changed in place"):
        ev.contrast(0, 1)
