"""Locations of images and tokens of texts as components: exact sums, places, saved maps."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch import Tensor, nn
from torch.nn import functional

import shafer
from map_networks import (
    CHANNELS,
    BagNetwork,
    MapNetwork,
    Patches,
    TokenNetwork,
    body,
    centred,
    images,
    padded_ids,
    settled,
)
from shafer.evidence import ChannelLayout, GridLayout, RegionLayout, TokenLayout

# Locations of images and tokens of texts as components: exact sums, one forward pass.


def _pooled(*last: nn.Module) -> nn.Sequential:
    return nn.Sequential(body(), nn.AdaptiveAvgPool2d(1), *last)


# The map is 6 × 7 in all of them.
IMAGE_NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "adaptive pool": lambda: _pooled(nn.Flatten(), nn.Dropout(), nn.Linear(CHANNELS, 4)),
    "batch norm behind the pool": lambda: _pooled(
        nn.Flatten(), nn.BatchNorm1d(CHANNELS), nn.Identity(), nn.Linear(CHANNELS, 4)
    ),
    "softmax": lambda: _pooled(nn.Flatten(), nn.Linear(CHANNELS, 4, bias=False), nn.Softmax(1)),
    "average pool": lambda: nn.Sequential(
        body(), nn.AvgPool2d((6, 7)), nn.Flatten(), nn.Linear(CHANNELS, 4)
    ),
    "means of both axes": lambda: MapNetwork(lambda head, x: head(x.mean((2, 3)))),
    "one mean after the other": lambda: MapNetwork(lambda head, x: head(x.mean(-1).mean(-1))),
    "kept axes": lambda: MapNetwork(
        lambda head, x: head(x.mean(2, keepdim=True).mean(3, keepdim=True).squeeze(3).squeeze(2))
    ),
    "flat locations": lambda: MapNetwork(lambda head, x: head(x.flatten(2).mean(-1))),
    "sum": lambda: MapNetwork(lambda head, x: head(x.sum((2, 3)))),
    "sum over number": lambda: MapNetwork(lambda head, x: head(x.sum((2, 3)) / 42)),
    "einsum": lambda: MapNetwork(lambda head, x: head(torch.einsum("nchw->nc", x) * (1 / 42))),
    "channels last": lambda: MapNetwork(lambda head, x: head(x.permute(0, 2, 3, 1).mean((1, 2)))),
    "rearranged": lambda: MapNetwork(
        lambda head, x: head(x.permute(0, 2, 3, 1).reshape(len(x), -1, CHANNELS).mean(1))
    ),
    "functional map": lambda: MapNetwork(lambda head, x: head(torch.relu(x - 0.1).mean((2, 3)))),
    "in place": lambda: MapNetwork(lambda head, x: head(x.sub_(0.1).relu_().mean((2, 3)))),
    "flattened": lambda: nn.Sequential(body(), nn.Flatten(), nn.Linear(42 * CHANNELS, 4)),
    "flattened channels last": lambda: MapNetwork(
        lambda head, x: head(x.permute(0, 2, 3, 1).reshape(len(x), -1)),
        nn.Linear(42 * CHANNELS, 4),
    ),
    "viewed": lambda: MapNetwork(
        lambda head, x: head(x.contiguous().view(len(x), -1)), nn.Linear(42 * CHANNELS, 4)
    ),
    "convolution behind the pool": lambda: _pooled(nn.Conv2d(CHANNELS, 4, 1), nn.Flatten()),
    "convolution before the pool": lambda: nn.Sequential(
        body(), nn.Conv2d(CHANNELS, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    ),
    "convolution before a sum": lambda: MapNetwork(
        lambda head, x: head(x).sum((2, 3)), nn.Conv2d(CHANNELS, 4, 1)
    ),
    "linear before the pool": lambda: MapNetwork(
        lambda head, x: head(x.permute(0, 2, 3, 1)).mean((1, 2)).softmax(1)
    ),
}


def _logits(network: nn.Module, X: Tensor) -> Tensor:
    with torch.no_grad():
        out = network(X)
    is_softmax = torch.allclose(out.sum(1), torch.ones(len(out), dtype=out.dtype), atol=1e-6)
    return out.log() if is_softmax else out


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("name", IMAGE_NETWORKS)
def test_locations_add_up_to_the_logits(name: str, dtype: torch.dtype, limit: float) -> None:
    network = settled(IMAGE_NETWORKS[name]()).to(dtype)
    X = images().to(dtype)
    logits = _logits(network, X)
    for prior in ("shared", "own"):
        for means in ("place", "shared"):
            explainer = shafer.Explainer(
                network, X, components="locations", location_means=means, prior=prior
            )
            ev = explainer(X)
            assert isinstance(ev.layout, GridLayout)
            assert (ev.layout.height, ev.layout.width) == (6, 7)
            assert ev.weights.shape == (6, 42 + (prior == "own"), 4)
            assert_allclose(ev.weights.sum(1), centred(logits), atol=limit)
            assert_allclose(ev.logits, centred(logits), atol=limit)
            assert_allclose(ev.probability, logits.softmax(1), atol=limit)
            assert_allclose(ev.weights.sum(2), 0.0, atol=limit)
            assert_allclose(ev.base_rate.sum(1), 0.0, atol=limit)


TOKEN_NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "mean": lambda: TokenNetwork(lambda head, e, m: head(e.mean(1))),
    "sum": lambda: TokenNetwork(lambda head, e, m: head(e.sum(dim=1))),
    "behind a layer": lambda: TokenNetwork(lambda head, e, m: head(torch.tanh(e).mean(1))),
    "flattened": lambda: TokenNetwork(lambda head, e, m: head(e.flatten(1)), nn.Linear(42, 3)),
    "head first": lambda: TokenNetwork(lambda head, e, m: head(e).mean(1)),
    "bag": lambda: BagNetwork("mean"),
}


def _mask(e: Tensor, m: Tensor) -> Tensor:
    return m.unsqueeze(-1).to(e.dtype)


MASKED_NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "product": lambda: TokenNetwork(
        lambda head, e, m: head((e * _mask(e, m)).sum(1) / _mask(e, m).sum(1).clamp(min=1))
    ),
    "filled": lambda: TokenNetwork(
        lambda head, e, m: head(e.masked_fill(~m[..., None], 0.0).sum(1) / m.sum(1, keepdim=True))
    ),
    "einsum": lambda: TokenNetwork(
        lambda head, e, m: head(torch.einsum("btc,bt->bc", e, m.to(e.dtype)) / m.sum(1)[:, None])
    ),
    "matrix product": lambda: TokenNetwork(
        lambda head, e, m: head((_mask(e, m / m.sum(1)[:, None]).mT @ torch.tanh(e)).squeeze(1))
    ),
    "masked sum": lambda: TokenNetwork(lambda head, e, m: head((e * _mask(e, m)).sum(1))),
    "head first": lambda: TokenNetwork(
        lambda head, e, m: (head(e) * _mask(e, m)).sum(1) / m.sum(1)[:, None]
    ),
    "bag with padding": lambda: BagNetwork("mean", 0),
    "summed bag with padding": lambda: BagNetwork("sum", 0),
    "bag with offsets": lambda: BagNetwork("mean", ragged=True),
}


@pytest.mark.parametrize("name", [*TOKEN_NETWORKS, *(f"masked {name}" for name in MASKED_NETWORKS)])
@pytest.mark.parametrize("prior", ["shared", "own"])
def test_tokens_add_up_to_the_logits(name: str, prior: str) -> None:
    masked = name.startswith("masked ") and name not in TOKEN_NETWORKS
    make = MASKED_NETWORKS[name.removeprefix("masked ")] if masked else TOKEN_NETWORKS[name]
    network = make().double().eval()
    ids = padded_ids()
    ev = shafer.Explainer(network, ids, components="tokens", prior=prior, batch_size=4)(ids)
    logits = _logits(network, ids)
    assert isinstance(ev.layout, TokenLayout)
    assert ev.component_names[:2] == ("token 0", "token 1")
    assert_allclose(ev.weights.sum(1), centred(logits), atol=1e-10)
    assert_allclose(ev.probability, logits.softmax(1), atol=1e-10)
    weights = ev.weights[:, : ev.layout.length]
    padding = (ids == 0)[:, : ev.layout.length]
    silent = (weights == 0.0).all(-1)
    assert bool((silent == padding).all()) if masked else not bool(silent.any())


def test_texts_of_padding_alone() -> None:
    network = MASKED_NETWORKS["product"]().double().eval()
    ids = padded_ids()
    explainer = shafer.Explainer(network, ids, components="tokens")
    ev = explainer(torch.zeros(2, 5, dtype=torch.int64))
    assert_allclose(ev.logits, centred(_logits(network, torch.zeros(2, 5, dtype=torch.int64))))


def test_image_tokens_lie_on_a_grid() -> None:
    network = Patches(lambda m, t: m.norm(t[:, 1:]).mean(1)).double().eval()
    X = torch.randn(5, 3, 8, 16, dtype=torch.float64)
    ev = shafer.Explainer(network, X, components="locations")(X)
    assert ev.layout.plain() == {"kind": "grid", "height": 2, "width": 4}
    assert_allclose(ev.weights.sum(1), centred(_logits(network, X)), atol=1e-10)
    other = shafer.Explainer(network, X, components="locations", grid=(4, 2))(X)
    assert other.layout.plain() == {"kind": "grid", "height": 4, "width": 2}
    with pytest.raises(ValueError, match=r"grid=\(3, 3\) has 9 places, but.*8 locations"):
        shafer.Explainer(network, X, components="locations", grid=(3, 3))
    tokens = shafer.Explainer(network, X, components="tokens")(X)
    assert isinstance(tokens.layout, TokenLayout)


def test_class_activation_maps() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))).double()
    X = images().double()
    with torch.no_grad():
        features = network[0](X)
        head = network[3]
        cam = torch.einsum("nchw,kc->nkhw", features, head.weight) / 42
    beta = head.weight.detach() - head.weight.detach().mean(0)
    shared = shafer.Explainer(
        network, X, components="locations", location_means="shared", prior="shared"
    )(X)
    by_map = torch.tensor(shared.layout.spread(shared.weights.movedim(1, 2)))
    bias = (head.bias - head.bias.mean()).detach() / 42
    assert_allclose(by_map, cam - cam.mean(1, keepdim=True) + bias[:, None, None], atol=1e-12)
    place = shafer.Explainer(network, X, components="locations", prior="own")(X)
    wanted = torch.einsum("nchw,kc->nhwk", (features - features.mean(0)) / 42, beta)
    assert_allclose(place.weights[:, :42], wanted.reshape(6, 42, 4), atol=1e-12)


def test_a_place_that_is_always_empty_has_no_evidence() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))).double()
    X = images(20).double()
    X[:, :, 4:, :] = 0.0
    ev = shafer.Explainer(network, X, components="locations", prior="own")(X)
    weights = torch.tensor(ev.layout.spread(ev.weights.movedim(1, 2)))
    assert_allclose(weights[:, :, 4:], 0.0, atol=1e-12)
    assert float(weights[:, :, :2].abs().max()) > 1e-3


def test_channels() -> None:
    network = settled(nn.Sequential(body(), nn.Flatten(), nn.Linear(42 * CHANNELS, 4))).double()
    X = images().double()
    ev = shafer.Explainer(network, X, components="channels", prior="shared")(X)
    units = shafer.Explainer(network, X, prior="shared")(X)
    assert isinstance(ev.layout, ChannelLayout)
    assert ev.component_names == tuple(f"channel {c}" for c in range(CHANNELS))
    by_unit = units.weights.reshape(6, CHANNELS, 42, 4).sum(2)
    assert_allclose(ev.weights, by_unit, atol=1e-10)
    with pytest.raises(shafer.UnsupportedModelError, match="Use components='units'"):
        shafer.Explainer(
            settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))),
            images(),
            components="channels",
            prior="shared",
        )


class _Counted(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.calls = 0

    def forward(self, *args: Any) -> Any:
        self.calls += 1
        return self.inner(*args)


@pytest.mark.parametrize(
    "end",
    [
        lambda head, x: head(x.mean((2, 3))),
        lambda head, x: head(torch.relu(x).permute(0, 2, 3, 1).mean((1, 2))),
    ],
)
def test_one_forward_pass_for_each_batch(end: Any) -> None:
    network = settled(MapNetwork(end))
    network.body, network.head = _Counted(network.body), network.head
    heads = []
    network.head.register_forward_hook(lambda *_: heads.append(1))
    explainer = shafer.Explainer(
        network, images(), components="locations", batch_size=4, prior="shared"
    )
    network.body.calls = 0
    heads.clear()
    ev = explainer(images(10))
    assert ev.belief.shape == (10, 4)
    assert ev.weights.shape == (10, 42, 4)
    assert network.body.calls == len(heads) == 3


def _attention(module: Any, tokens: Tensor) -> Tensor:
    scores = torch.softmax(tokens @ module.first[0, 0], dim=1)
    return (scores[..., None] * tokens).sum(1)


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (Patches(lambda m, t: t[:, 0]), "such as a CLS token.*mean over the tokens"),
        (Patches(lambda m, t: t.amax(1)), "takes a maximum over the locations.*a mean"),
        (Patches(lambda m, t: t.max(1).values), "takes a maximum over the locations"),
        (Patches(_attention), "as attention does.*components='units'"),
        (Patches(lambda m, t: m.norm(t.mean(1))), "normalises the pooled.*before the mean"),
        (Patches(lambda m, t: torch.relu(t.mean(1))), r"non-linear operation \(relu\) after"),
        (Patches(lambda m, t: t.square().mean(1).sqrt()), r"non-linear operation \(sqrt\) after"),
        (
            nn.Sequential(body(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 3)),
            "takes a maximum over the locations",
        ),
        (
            nn.Sequential(nn.Flatten(), nn.Linear(3 * 256, 8), nn.ReLU(), nn.Linear(8, 3)),
            "another layer between its feature map and the head",
        ),
        (
            nn.Sequential(body(), nn.Conv2d(CHANNELS, 3, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
            "calls neither an nn.Linear nor a 1×1 convolution",
        ),
    ],
)
def test_refused(network: nn.Module, reason: str) -> None:
    X = torch.randn(5, 3, 16, 16)
    for components in ("locations", "tokens"):
        with pytest.raises(shafer.UnsupportedModelError, match=f"(?s){reason}"):
            shafer.Explainer(network.eval(), X, components=components)


def test_other_refusals() -> None:
    ids = padded_ids()
    with pytest.raises(shafer.UnsupportedModelError, match="maximum over the tokens.*'mean'"):
        shafer.Explainer(BagNetwork("max"), ids, components="tokens")
    with pytest.raises(shafer.UnsupportedModelError, match="comes from no tensor with locations"):
        shafer.Explainer(nn.Linear(4, 3), torch.randn(5, 4), components="locations")
    network = MASKED_NETWORKS["product"]()
    with pytest.raises(shafer.UnsupportedModelError, match="location_means='place'.*padding"):
        shafer.Explainer(network, ids, components="tokens", location_means="place")
    twice = MapNetwork(lambda head, x: head(x.mean((2, 3))) + head(x.sum((2, 3))))
    with pytest.raises(shafer.UnsupportedModelError, match="called 2 times in one forward pass"):
        shafer.Explainer(twice.eval(), images(), components="locations")


def test_wrong_options() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4)))
    X = images()
    with pytest.raises(ValueError, match="components must be 'units', 'locations', .*got 'pixels'"):
        shafer.Explainer(network, X, components="pixels")
    with pytest.raises(ValueError, match="location_means must be 'place'.*got 'all'"):
        shafer.Explainer(network, X, components="locations", location_means="all")
    for grid in ((1, 2, 3), 7, (0, 7), (2.0, 2)):
        with pytest.raises(ValueError, match="grid must be a pair"):
            shafer.Explainer(network, X, components="locations", grid=grid)
    with pytest.raises(ValueError, match="location_means='shared' is an option of components"):
        shafer.Explainer(network, X, location_means="shared")
    with pytest.raises(ValueError, match=r"an nn.Linear or a 1×1 convolution.*\['3'\]; got 'x'"):
        shafer.Explainer(network, X, components="locations", layer="x")
    with pytest.raises(TypeError, match=r"unknown options \['locations'\].*location_means, grid"):
        shafer.Explainer(network, X, locations=True)
    for option in ({"moderate": "laplace"}, {"missing": "vacuous"}, {"errors": "laplace"}):
        with pytest.raises((ValueError, shafer.UnsupportedModelError)):
            shafer.Explainer(network, X, components="locations", **option)


def test_images_of_several_sizes() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))).double()
    small, large = images().double(), images(4, 11, 12).double()
    explainer = shafer.Explainer(network, small, components="locations", prior="shared")
    shared = shafer.Explainer(
        network, small, components="locations", location_means="shared", prior="shared"
    )
    for prior_explainer in (explainer, shared):
        ev = prior_explainer(large)
        assert ev.layout.plain() == {"kind": "grid", "height": 9, "width": 10}
        assert ev.n_components == 90
        assert_allclose(ev.weights.sum(1), centred(_logits(network, large)), atol=1e-10)
    assert_allclose(explainer(large).weights, shared(large).weights, atol=1e-12)
    with pytest.raises(ValueError, match=r"several sizes, 6 × 7 and 9 × 10.*means='shared'"):
        shafer.Explainer(network, iter([small, large]), components="locations", prior="shared")
    both = shafer.Explainer(
        network,
        iter([small, large]),
        components="locations",
        location_means="shared",
        prior="shared",
    )
    assert_allclose(both(small).logits, shared(small).logits, atol=1e-12)
    named = shafer.Explainer(
        network,
        small,
        components="locations",
        names=[f"cell {i}" for i in range(42)],
        prior="shared",
    )
    assert named(small).component_names[3] == "cell 3"
    with pytest.raises(ValueError, match=r"42 names.*these rows have 90"):
        named(large)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype: torch.dtype) -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4)))
    X = images()
    exact = shafer.Explainer(network, X, components="locations")(X)
    half = copy.deepcopy(network).to(dtype)
    ev = shafer.Explainer(half, X.to(dtype), components="locations")(X.to(dtype))
    assert ev.weights.dtype == ev.belief.dtype == torch.float32
    assert_allclose(ev.weights, exact.weights, atol=0.02)
    assert_allclose(ev.weights.sum(1), ev.logits, atol=1e-5)


def test_channels_last_memory() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4)))
    X = images()
    plain = shafer.Explainer(network, X, components="locations")(X)
    strided = copy.deepcopy(network).to(memory_format=torch.channels_last)
    other = X.to(memory_format=torch.channels_last)
    ev = shafer.Explainer(strided, other, components="locations")(other)
    assert_allclose(ev.weights, plain.weights, atol=1e-6)


@pytest.mark.parametrize("shape", [(5, 1, 8, 8), (5, 8, 8), (5, 8, 8, 3)])
def test_pixels(shape: tuple[int, ...]) -> None:
    n_values = int(np.prod(shape[1:]))
    network = nn.Sequential(nn.Flatten(), nn.Linear(n_values, 3)).double()
    X = torch.randn(shape, dtype=torch.float64)
    ev = shafer.Explainer(
        network, X.numpy(), components="locations", classes=["a", "b", "c"], prior="shared"
    )(X)
    assert ev.layout.plain() == {"kind": "grid", "height": 8, "width": 8}
    assert_allclose(ev.weights.sum(1), centred(_logits(network, X)), atol=1e-10)
    assert ev.classes.tolist() == ["a", "b", "c"]
    units = shafer.Explainer(network, X, prior="shared")(X).weights
    if shape == (5, 8, 8, 3):
        assert_allclose(ev.weights, units.reshape(5, 64, 3, 3).sum(2), atol=1e-10)
    else:
        assert_allclose(ev.weights, units, atol=1e-10)


def test_maps_of_one_location() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))).double()
    X = images(5, 3, 3).double()
    ev = shafer.Explainer(network, X, components="locations", prior="shared")(X)
    assert ev.weights.shape == (5, 1, 4)
    assert_allclose(ev.weights[:, 0], centred(_logits(network, X)), atol=1e-10)
    one = ev[2]
    assert one.layout.n_components == 1


def test_one_logit() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 1), nn.Sigmoid())).double()
    X = images().double()
    ev = shafer.Explainer(
        network, X, components="locations", classes=["no", "yes"], prior="shared"
    )(X)
    with torch.no_grad():
        assert_allclose(ev.probability[:, 1:], network(X), atol=1e-10)
    assert ev.weights.shape == (6, 42, 2)


def test_trained_again_and_not_finite() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4)))
    X = images()
    explainer = shafer.Explainer(network, X, components="locations")
    wrong = X.clone()
    wrong[3, 0, 2, 2] = float("nan")
    with pytest.raises(ValueError, match=r"X contains NaN, the first in row 3, index \[0, 2, 2\]"):
        explainer(wrong)
    with torch.no_grad():
        network[0][0].weight += 1.0
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_the_module_is_left_as_it_was() -> None:
    network = MapNetwork(lambda head, x: head(torch.relu(x).mean((2, 3)))).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    state = torch.get_rng_state()
    shafer.Explainer(network, images(), components="locations")(images())
    assert all(part.training for part in network.modules())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(part._forward_hooks for part in network.modules())
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("n", [1, 2, 11])
def test_any_number_of_rows(n: int) -> None:
    for name in ("channels last", "einsum", "functional map", "linear before the pool", "in place"):
        network = settled(IMAGE_NETWORKS[name]()).double()
        explainer = shafer.Explainer(network, images().double(), components="locations")
        X = images(n).double()
        wanted = centred(_logits(network, X))
        assert_allclose(explainer(X).weights.sum(1), wanted, atol=1e-10)
    for make in MASKED_NETWORKS.values():
        network = make().double().eval()
        explainer = shafer.Explainer(network, padded_ids(), components="tokens", batch_size=3)
        ids = padded_ids(n, 5)
        assert_allclose(explainer(ids).logits, centred(_logits(network, ids)), atol=1e-10)


class _Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(20, 8), nn.Linear(8, 3)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        tokens = self.embedding(input_ids)
        tokens = self.blocks(tokens, src_key_padding_mask=~attention_mask.bool())
        mask = attention_mask[..., None].to(tokens.dtype)
        return {"logits": self.head((tokens * mask).sum(1) / mask.sum(1))}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_encoder_with_an_attention_mask() -> None:
    network = _Encoder().double().eval()
    ids = padded_ids()
    X = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    ev = shafer.Explainer(network, X, components="tokens", prior="shared")(X)
    with torch.no_grad():
        logits = network(**X)["logits"]
    assert_allclose(ev.weights.sum(1), centred(logits), atol=1e-10)
    assert bool(((ev.weights == 0.0).all(-1) == (ids == 0)).all())


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*is deprecated")
def test_rows_that_cannot_be_read() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4)))
    explainer = shafer.Explainer(network, images(), components="locations")
    with pytest.raises(ValueError, match="at least one row"):
        explainer(images()[:0])
    with pytest.raises(ValueError, match="cannot take X, of shape"):
        explainer(images()[:, :1])
    with pytest.raises(shafer.UnsupportedModelError, match="before torch.jit.script"):
        shafer.Explainer(torch.jit.script(network), images(), components="locations")
    with pytest.raises(ValueError, match="embedding bag with offsets.*padded ids"):
        shafer.Explainer(
            BagNetwork("mean"), (torch.arange(9), torch.arange(3)), components="tokens"
        )


def test_a_part_added_in_training_mode() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Dropout(), nn.Linear(CHANNELS, 4)))
    explainer = shafer.Explainer(network, images(), components="locations")
    explainer(images())
    network[3] = nn.Dropout(0.9).train()
    with pytest.raises(ValueError, match="trained again"):
        explainer(images())


# Locations are shown where they lie in the image, or refused.


class _Bright(nn.Module):
    """Features of single pixels, and what happens to them before the head."""

    def __init__(self, end: Callable[[Tensor], Tensor], width: int, first: bool = False) -> None:
        super().__init__()
        self.features, self.head = nn.Conv2d(1, 6, 1), nn.Linear(width, 2)
        self.end, self.first = end, first

    def forward(self, x: Tensor) -> Tensor:
        if self.first:
            return self.head(self.features(self.end(x)).relu().mean((2, 3)))
        return self.head(self.end(self.features(x).relu()))


IMAGES = 0.01 * torch.rand(30, 1, 8, 10, generator=torch.Generator().manual_seed(0))
BRIGHT = torch.zeros(1, 1, 8, 10)
BRIGHT[0, 0, 1, 6] = 9.0


def _strongest(network: nn.Module, **options: object) -> tuple[GridLayout, tuple[int, int]]:
    network = network.eval()
    ev = shafer.Explainer(network, IMAGES, components="locations", prior="own", **options)(BRIGHT)
    with torch.no_grad():
        assert_allclose(ev.logits, centred(network(BRIGHT)), atol=1e-5)
    strength = ev.layout.spread(np.abs(ev.weights.numpy()).sum(-1))[0]
    return ev.layout, np.unravel_index(strength.argmax(), strength.shape)


@pytest.mark.parametrize(
    ("end", "width"),
    [
        (lambda h: h.mean((2, 3)), 6),
        (lambda h: h.flatten(1), 480),
        (lambda h: h.transpose(2, 3).mean((2, 3)), 6),
        (lambda h: h.transpose(2, 3).flatten(1), 480),
        (lambda h: h.permute(0, 3, 2, 1).flatten(1), 480),
        (lambda h: h.permute(0, 3, 1, 2).flatten(1), 480),
        (lambda h: h.permute(0, 2, 3, 1).flatten(1), 480),
        (lambda h: h.transpose(2, 3).relu().sqrt().mean((2, 3)), 6),
        (lambda h: h.flip(3).mean((2, 3)), 6),
        (lambda h: h.roll(2, 3).mean((2, 3)), 6),
        (lambda h: torch.rot90(h, 1, (2, 3)).mean((2, 3)), 6),
        (lambda h: h[:, :, :4].mean((2, 3)), 6),
        (lambda h: h[:, :, :6, 2:].mean((2, 3)), 6),
        (lambda h: functional.pad(h, (0, 4, 0, 4)).mean((2, 3)), 6),
        (lambda h: h.flatten(2).transpose(1, 2).mean(1), 6),
        (lambda h: h.flatten(2).transpose(1, 2).sqrt().mean(1), 6),
        (lambda h: h.flatten(2).transpose(1, 2)[:, 1:].mean(1), 6),
        (lambda h: torch.cat([h[:, :3], h[:, 3:]], 1).mean((2, 3)), 6),
    ],
)
def test_a_bright_pixel_is_where_it_is(end: Callable[[Tensor], Tensor], width: int) -> None:
    torch.manual_seed(0)
    layout, place = _strongest(_Bright(end, width))
    assert (layout.height, layout.width) == (8, 10)
    assert place == (1, 6)


def test_coarser_maps() -> None:
    layout, place = _strongest(_Bright(lambda h: h[:, :, ::2, ::2].mean((2, 3)), 6), check=False)
    assert (layout.height, layout.width) == (4, 5)
    layout, place = _strongest(_Bright(lambda h: functional.max_pool2d(h, 2).flatten(1), 120))
    assert (layout.height, layout.width, *place) == (4, 5, 0, 3)
    layout, place = _strongest(_Bright(lambda h: h.mean(2).flatten(1), 60))
    assert (layout.height, layout.width, *place) == (1, 10, 0, 6)
    layout, place = _strongest(_Bright(lambda h: h.mean(3).flatten(1), 48))
    assert (layout.height, layout.width, *place) == (8, 1, 1, 0)


@pytest.mark.parametrize(
    ("end", "width", "reason"),
    [
        (lambda h: h.flip(3).flatten(1), 480, r"moves them \(flip\)"),
        (lambda h: h.roll(2, 3).flatten(1), 480, r"moves them \(roll\)"),
        (lambda h: h.flip(2).sqrt().mean((2, 3)), 6, r"moves them \(flip\)"),
        (lambda h: h.flatten(2).sort(2).values.flatten(1), 480, r"moves them \(sort\)"),
        (lambda h: h[:, :, torch.arange(7, -1, -1)].flatten(1), 480, r"moves them \(index\)"),
        (lambda h: functional.pixel_unshuffle(h, 2).mean((2, 3)), 24, "cuts, joins or mixes"),
        (lambda h: h[:, :, 2:].sqrt().flatten(1), 360, "cuts, joins or mixes"),
    ],
)
def test_places_that_are_lost(end: Callable[[Tensor], Tensor], width: int, reason: str) -> None:
    network = _Bright(end, width).eval()
    with pytest.raises(shafer.UnsupportedModelError, match=f"{reason}.*grid=.*'units'"):
        shafer.Explainer(network, IMAGES, components="locations")


def test_the_image_itself_moved() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="moves them"):
        _strongest(_Bright(lambda x: x.flip(2), 6, first=True))
    layout, place = _strongest(_Bright(lambda x: x.transpose(2, 3), 6, first=True))
    assert (layout.height, layout.width, *place) == (8, 10, 1, 6)


def test_tokens_keep_their_order() -> None:
    ids = padded_ids()
    torch.manual_seed(0)
    plain = TokenNetwork(lambda head, e, m: head(e.mean(1))).eval()
    turned = TokenNetwork(lambda head, e, m: head(e.flip(1).mean(1))).eval()
    turned.load_state_dict(plain.state_dict())
    wanted = shafer.Explainer(plain, ids, components="tokens")(ids).weights
    assert_allclose(shafer.Explainer(turned, ids, components="tokens")(ids).weights, wanted)
    nonlinear = TokenNetwork(lambda head, e, m: head(e.flip(1).tanh().mean(1))).eval()
    with pytest.raises(shafer.UnsupportedModelError, match="moves them"):
        shafer.Explainer(nonlinear, ids, components="tokens")

    class Turned(BagNetwork):
        def forward(self, ids: Tensor) -> Tensor:
            return self.head(self.bag(ids.flip(1)))

    with pytest.raises(shafer.UnsupportedModelError, match="moves them"):
        shafer.Explainer(Turned("mean"), ids, components="tokens")


# Explainers of locations and tokens: saved, tempered, grouped, and as regions of an image.


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


@pytest.mark.parametrize("first", [nn.Identity(), nn.ReLU()])
def test_one_token_that_is_given(first: nn.Module) -> None:
    class Averaged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.head = first, nn.Linear(5, 4)

        def forward(self, x: Tensor) -> Any:
            return self.head(self.first(x).mean(1))

    network, rows = Averaged().eval(), torch.randn(6, 1, 5)
    ev = shafer.Explainer(network, rows, components="tokens")(rows)
    assert ev.component_names == ("token 0", "base rate")
    assert_allclose(ev.logits, centred(network(rows)).detach(), atol=1e-6)


def test_a_rescaled_head_rescales_the_logits() -> None:
    explainer = shafer.Explainer(_network(), X, components="locations", prior="shared")
    model = explainer.weighed_model.model
    terms = model.terms(model.encoded(X))
    plain, half = model.contributions(terms), model.rescaled(0.5).contributions(terms)
    assert_allclose(half, 0.5 * plain, rtol=1e-9)
    assert_allclose(model.rescaled(0.5, 2.0).centred()[1], 0.5 * model.centred()[1], atol=1e-9)


def test_tempering_and_calibration() -> None:
    y = np.array([0, 1, 2, 3, 0, 1])
    explainer = shafer.Explainer(_network(), X, components="locations", prior="shared")
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
