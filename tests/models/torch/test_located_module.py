"""Locations of images and tokens of texts as components: exact sums, one forward pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

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
from shafer.evidence import ChannelLayout, GridLayout, TokenLayout


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
    shared = shafer.Explainer(network, X, components="locations", location_means="shared")(X)
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
    ev = shafer.Explainer(network, X, components="channels")(X)
    units = shafer.Explainer(network, X)(X)
    assert isinstance(ev.layout, ChannelLayout)
    assert ev.component_names == tuple(f"channel {c}" for c in range(CHANNELS))
    by_unit = units.weights.reshape(6, CHANNELS, 42, 4).sum(2)
    assert_allclose(ev.weights, by_unit, atol=1e-10)
    with pytest.raises(shafer.UnsupportedModelError, match="Use components='units'"):
        shafer.Explainer(
            settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))), images(), components="channels"
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
    explainer = shafer.Explainer(network, images(), components="locations", batch_size=4)
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
    explainer = shafer.Explainer(network, small, components="locations")
    shared = shafer.Explainer(network, small, components="locations", location_means="shared")
    for prior_explainer in (explainer, shared):
        ev = prior_explainer(large)
        assert ev.layout.plain() == {"kind": "grid", "height": 9, "width": 10}
        assert ev.n_components == 90
        assert_allclose(ev.weights.sum(1), centred(_logits(network, large)), atol=1e-10)
    assert_allclose(explainer(large).weights, shared(large).weights, atol=1e-12)
    with pytest.raises(ValueError, match=r"several sizes, 6 × 7 and 9 × 10.*means='shared'"):
        shafer.Explainer(network, iter([small, large]), components="locations")
    both = shafer.Explainer(
        network, iter([small, large]), components="locations", location_means="shared"
    )
    assert_allclose(both(small).logits, shared(small).logits, atol=1e-12)
    named = shafer.Explainer(
        network, small, components="locations", names=[f"cell {i}" for i in range(42)]
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
    ev = shafer.Explainer(network, X.numpy(), components="locations", classes=["a", "b", "c"])(X)
    assert ev.layout.plain() == {"kind": "grid", "height": 8, "width": 8}
    assert_allclose(ev.weights.sum(1), centred(_logits(network, X)), atol=1e-10)
    assert ev.classes.tolist() == ["a", "b", "c"]
    units = shafer.Explainer(network, X)(X).weights
    if shape == (5, 8, 8, 3):
        assert_allclose(ev.weights, units.reshape(5, 64, 3, 3).sum(2), atol=1e-10)
    else:
        assert_allclose(ev.weights, units, atol=1e-10)


def test_maps_of_one_location() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 4))).double()
    X = images(5, 3, 3).double()
    ev = shafer.Explainer(network, X, components="locations")(X)
    assert ev.weights.shape == (5, 1, 4)
    assert_allclose(ev.weights[:, 0], centred(_logits(network, X)), atol=1e-10)
    one = ev[2]
    assert one.layout.n_components == 1


def test_one_logit() -> None:
    network = settled(_pooled(nn.Flatten(), nn.Linear(CHANNELS, 1), nn.Sigmoid())).double()
    X = images().double()
    ev = shafer.Explainer(network, X, components="locations", classes=["no", "yes"])(X)
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
    ev = shafer.Explainer(network, X, components="tokens")(X)
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
