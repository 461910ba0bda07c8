"""Explainers of locations and tokens: saved, tempered, grouped, and as regions of an image."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch import nn

import shafer
from map_networks import CHANNELS, BagNetwork, body, centred, images, padded_ids, settled
from shafer.evidence import GridLayout, RegionLayout, TokenLayout


def _network() -> nn.Module:
    pooled = nn.Sequential(body(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 4))
    return settled(pooled).double()


def _flat() -> nn.Module:
    return settled(nn.Sequential(body(), nn.Flatten(), nn.Linear(42 * CHANNELS, 4))).double()


def _normed() -> nn.Module:
    pool = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.BatchNorm1d(CHANNELS))
    return settled(nn.Sequential(body(), *pool, nn.Linear(CHANNELS, 4))).double()


X = images().double()
IDS = padded_ids()


@pytest.mark.parametrize(
    ("network", "rows", "options"),
    [
        (_network(), X, {"components": "locations"}),
        (_network(), X, {"components": "locations", "prior": "own", "batch_size": 2}),
        (_network(), X, {"components": "locations", "location_means": "shared"}),
        (_network(), X, {"components": "locations", "groups": {"top": range(21)}}),
        (_network(), X, {"components": "locations", "groups": np.arange(72).reshape(8, 9) // 9}),
        (_normed(), X, {"components": "locations"}),
        (_flat(), X, {"components": "locations"}),
        (_flat(), X, {"components": "channels"}),
        (BagNetwork("mean", 0).double(), IDS, {"components": "tokens"}),
    ],
)
def test_it_travels(network: nn.Module, rows: torch.Tensor, options: dict) -> None:
    explainer = shafer.Explainer(network, rows, **options)
    again = pickle.loads(pickle.dumps(explainer))
    ev, other = explainer(rows), again(rows)
    assert torch.equal(other.belief, ev.belief)
    assert torch.equal(other.weights, ev.weights)
    assert other.component_names == ev.component_names
    assert (other.layout is None) == (ev.layout is None)
    assert again.component_names == explainer.component_names


def test_tempering_and_calibration() -> None:
    y = np.array([0, 1, 2, 3, 0, 1])
    explainer = shafer.Explainer(_network(), X, components="locations")
    plain = explainer(X)
    explainer.temper(X, y)
    ev = explainer(X)
    assert_allclose(ev.weights, plain.weights * explainer.factor, atol=1e-12)
    assert ev.layout is plain.layout or ev.layout.plain() == plain.layout.plain()
    assert explainer.typicality(X).shape == (6,)
    assert plain.tempered(np.linspace(0.5, 1.0, 6)).weights.shape == (6, 42, 4)


def test_slices_and_components() -> None:
    ev = shafer.Explainer(_network(), X, components="locations", prior="own")(X)
    assert_allclose(ev[1:3].weights, ev.weights[1:3], atol=1e-12)
    assert ev[[4, 0]].layout.plain() == {"kind": "grid", "height": 6, "width": 7}
    without = ev.without("base rate")
    assert isinstance(without.layout, GridLayout)
    assert ev.without("row 0, column 0").layout is None
    assert ev.components.layout is None
    assert ev.contrast(0, 1).shape == (6, 43)
    assert ev.disagreement.shape == (6,)
    assert len(ev.reasons(top=2, backend="pandas")) == 12
    labels, weights = ev.top_weights(2)
    order = np.argsort(-ev.logits.numpy(), axis=1)[:, :2]
    assert_array_equal(labels, order)
    wanted = np.take_along_axis(ev.weights.numpy(), order[:, None, :], axis=2)
    assert_allclose(weights, wanted, atol=1e-12)
    assert_allclose(ev.weights_of([2, 0]), ev.weights[..., [2, 0]], atol=1e-12)
    with pytest.raises(ValueError, match="top must be an integer"):
        ev.top_weights(0)


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("make", [_network, _flat])
def test_groups_of_locations(make: object, prior: str) -> None:
    network = make()
    groups = {"left": [r * 7 + c for r in range(6) for c in range(3)], "top right": [3, 4, 5, 6]}
    ev = shafer.Explainer(network, X, components="locations", prior=prior)(X)
    grouped = ev.grouped(groups)
    assert grouped.layout is None
    assert_allclose(grouped.weights[:, 0], ev.weights[:, groups["left"]].sum(1), atol=1e-12)
    assert_allclose(grouped.base_rate, ev.base_rate, atol=1e-12)
    made = shafer.Explainer(network, X, groups, components="locations", prior=prior)(X)
    assert made.component_names[:2] == ("left", "top right")
    assert_allclose(made.logits, ev.logits, atol=1e-12)
    if prior == "own":
        assert_allclose(made.weights, grouped.weights, atol=1e-12)
    assert shafer.Explainer(network, X, "one", components="locations")(X).n_components == 1
    assert shafer.Explainer(network, X, "auto", components="locations")(X).n_components <= 12
    with pytest.raises(shafer.UnsupportedModelError, match="groups= needs components with means"):
        shafer.Explainer(network, X, groups, components="locations", location_means="shared")


@pytest.mark.parametrize("make", [_network, _flat])
def test_regions_of_a_segmentation(make: object) -> None:
    network = make()
    labels = np.zeros((8, 9), dtype=int)
    labels[:4, :5], labels[4:, 5:] = 7, 3
    ev = shafer.Explainer(network, X, components="locations", prior="own")(X)
    regions = ev.grouped(labels)
    assert regions.component_names == ("region 0", "region 3", "region 7", "base rate")
    assert isinstance(regions.layout, RegionLayout)
    assert_allclose(regions.logits, ev.logits, atol=1e-12)
    assert_allclose(regions.base_rate, ev.base_rate, atol=1e-12)
    painted = regions.layout.spread(regions.weights_of(2)[..., 0])
    assert painted.shape == (6, 8, 9)
    assert_array_equal(painted[:, 0, 0], regions.weights_of(2)[:, 2, 0])
    made = shafer.Explainer(network, X, labels, components="locations", prior="own")(X)
    assert made.component_names == regions.component_names
    assert_allclose(made.weights, regions.weights, atol=1e-12)
    assert made.layout.plain()["names"] == ["region 0", "region 3", "region 7"]
    named = ev.grouped((torch.tensor(labels), {3: "boot", 0: "ground"}))
    assert named.component_names[:3] == ("ground", "boot", "region 7")
    with pytest.raises(ValueError, match=r"labels \['5'\] that the label map does not have"):
        ev.grouped((labels, {5: "boot"}))
    with pytest.raises(ValueError, match="one label map of shape"):
        shafer.Explainer(network, X, np.stack([labels] * 6), components="locations")


def test_a_label_map_of_the_grid_is_a_partition() -> None:
    ev = shafer.Explainer(_network(), X, components="locations")(X)
    labels = np.arange(42).reshape(6, 7) % 4
    regions = ev.grouped(labels)
    plain = ev.grouped({str(r): np.flatnonzero(labels.ravel() == r) for r in range(4)})
    assert_allclose(regions.weights, plain.weights, atol=1e-12)
    each = ev.grouped(np.stack([labels, labels.T.reshape(6, 7), *[labels] * 4]))
    assert_allclose(each.weights[0], regions.weights[0], atol=1e-12)
    assert_allclose(each.logits, ev.logits, atol=1e-12)
    assert each[1:2].layout.label_map.shape == (1, 6, 7)
    assert each.layout.spread(each.weights_of(0)[..., 0]).shape == (6, 6, 7)
    with pytest.raises(ValueError, match="as many as the 6 rows"):
        ev.grouped(np.stack([labels] * 5))


def test_evidence_in_files(tmp_path: Path) -> None:
    labels = np.arange(72).reshape(8, 9) // 20
    located = shafer.Explainer(_network(), X, components="locations", prior="own")(X)
    bags = shafer.Explainer(BagNetwork("mean", 0).double(), IDS, components="tokens")(IDS)
    for ev, kind in [
        (located, GridLayout),
        (located.grouped(labels), RegionLayout),
        (located.tempered(np.linspace(0.1, 1.0, 6)), GridLayout),
        (bags, TokenLayout),
        (shafer.Explainer(_flat(), X, components="locations")(X), GridLayout),
    ]:
        ev.save(tmp_path / "evidence.npz")
        again = shafer.Evidence.load(tmp_path / "evidence.npz")
        assert isinstance(again.layout, kind)
        assert again.layout.names == ev.layout.names
        assert_allclose(again.weights, ev.weights, atol=1e-12)
        assert_allclose(again.belief, ev.belief, atol=1e-12)
        assert_allclose(again.weights.sum(1), ev.logits, atol=1e-12)
    half = settled(_network()).to(torch.bfloat16)
    ev = shafer.Explainer(half, X.bfloat16(), components="locations")(X.bfloat16())
    ev.save(tmp_path / "half.npz")
    assert_allclose(shafer.Evidence.load(tmp_path / "half.npz").weights, ev.weights, atol=1e-6)


def test_changed_inputs_are_noticed() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)).double()
    rows = torch.randn(5, 1, 8, 8, dtype=torch.float64)
    ev = shafer.Explainer(network, rows, components="locations")(rows)
    assert_allclose(ev.logits, centred(network(rows).detach()), atol=1e-12)
    rows[0, 0, 0, 0] += 5.0
    with pytest.raises(ValueError, match="changed in place"):
        ev.contrast(0, 1)
