"""Locations are shown where they lie in the image, or refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn
from torch.nn import functional

import shafer
from map_networks import BagNetwork, TokenNetwork, centred, padded_ids
from shafer.evidence import GridLayout


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
