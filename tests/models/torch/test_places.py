"""Tokens and locations are proven by changing the input, or refused: odd modules of many kinds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn
from torch.nn import functional

import shafer
from map_networks import centred

# Each token of these texts is a component: changed alone, most of all, or within reach.
VOCABULARY, WIDTH, CLASSES, LENGTH = 30, 6, 3, 9


class Net(nn.Module):
    """Embeddings of ids, and what a test does with them."""

    def __init__(self, body: Callable[..., Tensor], width: int = WIDTH, **parts: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(width, CLASSES)
        self.body = body
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, ids: Tensor) -> Tensor:
        return self.body(self, ids)


class Tied(nn.Module):
    """The layer to the logits has the weights of the embedding, a class for each id."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.embedding(ids).tanh().mean(1))


def _texts(seed: int, n: int = 40, padded: bool = False) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, VOCABULARY, (n, LENGTH), generator=generator)
    if padded:
        lengths = torch.randint(3, LENGTH + 1, (n,), generator=generator)
        lengths[:4] = LENGTH
        ids[torch.arange(LENGTH) >= lengths[:, None]] = 0
    return ids


def _recurrent(kind: Any, both: bool = False) -> nn.Module:
    return kind(WIDTH, WIDTH // (2 if both else 1), batch_first=True, bidirectional=both)


def _attention() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, 2, 12, batch_first=True, dropout=0.0)


def _masked_mean(net: Any, ids: Tensor) -> Tensor:
    mask = (ids != 0)[..., None].float()
    return net.head((net.embedding(ids) * mask).sum(1) / mask.sum(1))


def _packed(net: Any, ids: Tensor) -> Tensor:
    lengths = (ids != 0).sum(1).clamp(min=1)
    found = nn.utils.rnn.pack_padded_sequence(
        net.embedding(ids), lengths.cpu(), batch_first=True, enforce_sorted=False
    )
    found = nn.utils.rnn.pad_packed_sequence(
        net.rnn(found)[0], batch_first=True, total_length=LENGTH
    )[0]
    return net.head(found.mean(1))


def _padding_mask(net: Any, ids: Tensor) -> Tensor:
    found = net.mixer(net.embedding(ids), src_key_padding_mask=ids == 0)
    mask = (ids != 0)[..., None].float()
    return net.head((found * mask).sum(1) / mask.sum(1))


def _attention_pool(net: Any, ids: Tensor) -> Tensor:
    found = net.embedding(ids)
    return net.head((torch.softmax(net.score(found), dim=1) * found).sum(1))


def _tied(net: Any, ids: Tensor) -> Tensor:
    return functional.linear(net.embedding(ids).tanh().mean(1), net.embedding.weight[:CLASSES])


def _two_embeddings(net: Any, ids: Tensor) -> Tensor:
    return net.head(torch.cat([net.embedding(ids), net.other(ids)], 2).mean(1))


def _conv(net: Any, found: Tensor) -> Tensor:
    return net.conv(found.mT).relu().mT


def _start(net: Any, found: Tensor) -> Tensor:
    return torch.cat([net.start.expand(len(found), 1, WIDTH), found], 1)


FLAT = WIDTH * LENGTH
_START = nn.Parameter(torch.ones(1, 1, WIDTH))
_POSITIONS = nn.Embedding(LENGTH, WIDTH)
_ORDER = torch.tensor([3, 1, 4, 0, 5, 8, 2, 6, 7])
_TURNED = torch.arange(LENGTH - 1, -1, -1)

# Changing token i changes component i alone.
ALONE: dict[str, Callable[[], nn.Module]] = {
    "mean": lambda: Net(lambda m, ids: m.head(m.embedding(ids).tanh().mean(1))),
    "flatten": lambda: Net(lambda m, ids: m.head(m.embedding(ids).flatten(1)), FLAT),
    "positions": lambda: Net(
        lambda m, ids: m.head((m.embedding(ids) + m.at.weight).tanh().mean(1)), at=_POSITIONS
    ),
    "masked mean": lambda: Net(_masked_mean),
    "flip before a mean": lambda: Net(lambda m, ids: m.head(m.embedding(ids).flip(1).mean(1))),
    "transposed and back": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids).transpose(1, 2).tanh().transpose(1, 2).mean(1))
    ),
    "transposed and flat": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids).transpose(1, 2).flatten(1)), FLAT
    ),
    "one by one": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.embedding(ids)).mean(1)), conv=nn.Conv1d(WIDTH, WIDTH, 1)
    ),
    "two embeddings": lambda: Net(
        _two_embeddings, 2 * WIDTH, other=nn.Embedding(VOCABULARY, WIDTH)
    ),
    "head at each token": lambda: Net(lambda m, ids: m.head(m.embedding(ids)).mean(1)),
    "bag": lambda: Net(
        lambda m, ids: m.head(m.bag(ids)), bag=nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean")
    ),
    "tied weights": Tied,
}
# Changing token i changes component i most, or moves with the token what it reaches.
MIXED: dict[str, Callable[[], Net]] = {
    "GRU": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[0].mean(1)), rnn=_recurrent(nn.GRU)
    ),
    "LSTM": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[0].mean(1)), rnn=_recurrent(nn.LSTM)
    ),
    "flat GRU": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[0].flatten(1)), FLAT, rnn=_recurrent(nn.GRU)
    ),
    "bidirectional GRU": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[0].mean(1)), rnn=_recurrent(nn.GRU, True)
    ),
    "bidirectional LSTM": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[0].mean(1)), rnn=_recurrent(nn.LSTM, True)
    ),
    "transformer": lambda: Net(
        lambda m, ids: m.head(m.mixer(m.embedding(ids)).mean(1)), mixer=_attention()
    ),
    "attention of three heads": lambda: Net(
        lambda m, ids: m.head(m.mixer(*[m.embedding(ids)] * 3)[0].mean(1)),
        mixer=nn.MultiheadAttention(WIDTH, 3, batch_first=True),
    ),
    "transformer with a padding mask": lambda: Net(_padding_mask, mixer=_attention()),
    "conv of the same length": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.embedding(ids)).mean(1)),
        conv=nn.Conv1d(WIDTH, WIDTH, 3, padding=1),
    ),
    "shorter conv": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.embedding(ids)).mean(1)), conv=nn.Conv1d(WIDTH, WIDTH, 3)
    ),
    "strided conv": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.embedding(ids)).mean(1)),
        conv=nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1),
    ),
    "dilated conv": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.embedding(ids)).mean(1)),
        conv=nn.Conv1d(WIDTH, WIDTH, 3, dilation=2, padding=2),
    ),
    "causal conv": lambda: Net(
        lambda m, ids: m.head(_conv(m, functional.pad(m.embedding(ids), (0, 0, 2, 0))).mean(1)),
        conv=nn.Conv1d(WIDTH, WIDTH, 3),
    ),
}
# Their components are other places, units, or sums over places: an error names the reason.
REFUSED: dict[str, Callable[[], Net]] = {
    "flip": lambda: Net(lambda m, ids: m.head(m.embedding(ids.flip(1)).flatten(1)), FLAT),
    "roll": lambda: Net(lambda m, ids: m.head(m.embedding(ids.roll(1, 1)).flatten(1)), FLAT),
    "roll before a nonlinear mean": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids.roll(1, 1)).tanh().mean(1))
    ),
    "sort": lambda: Net(lambda m, ids: m.head(m.embedding(ids.sort(1).values).flatten(1)), FLAT),
    "index": lambda: Net(lambda m, ids: m.head(m.embedding(ids[:, _TURNED]).flatten(1)), FLAT),
    "shuffled": lambda: Net(lambda m, ids: m.head(m.embedding(ids[:, _ORDER]).mean(1))),
    "gather": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids.gather(1, _ORDER.expand(len(ids), -1))).mean(1))
    ),
    "product with a permutation": lambda: Net(
        lambda m, ids: m.head((m.turn @ m.embedding(ids)).tanh().mean(1)),
        turn=nn.Parameter(torch.eye(LENGTH)[_ORDER]),
    ),
    "stacked by hand": lambda: Net(
        lambda m, ids: m.head(m.embedding(torch.stack([ids[:, i] for i in _ORDER], 1)).mean(1))
    ),
    "chosen one by one": lambda: Net(
        lambda m, ids: m.head(
            torch.stack([m.embedding(ids[:, i]).tanh() for i in _TURNED], 1).mean(1)
        )
    ),
    "shifted": lambda: Net(
        lambda m, ids: m.head(m.embedding(functional.pad(ids, (1, 0))[:, :-1]).tanh().mean(1))
    ),
    "start token": lambda: Net(
        lambda m, ids: m.head(_start(m, m.embedding(ids)).tanh().flatten(1)),
        FLAT + WIDTH,
        start=_START,
    ),
    "start token before attention": lambda: Net(
        lambda m, ids: m.head(m.mixer(_start(m, m.embedding(ids))).mean(1)),
        start=_START,
        mixer=_attention(),
    ),
    "cut at the start": lambda: Net(lambda m, ids: m.head(m.embedding(ids[:, 2:]).tanh().mean(1))),
    "cut at the end": lambda: Net(lambda m, ids: m.head(m.embedding(ids[:, :-2]).tanh().mean(1))),
    "flip before a GRU": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids.flip(1)))[0].mean(1)), rnn=_recurrent(nn.GRU)
    ),
    "flip before a bidirectional GRU": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids).flip(1))[0].mean(1)),
        rnn=_recurrent(nn.GRU, True),
    ),
    "roll before a transformer": lambda: Net(
        lambda m, ids: m.head(m.mixer(m.embedding(ids).roll(1, 1)).mean(1)), mixer=_attention()
    ),
    "shuffled before a transformer": lambda: Net(
        lambda m, ids: m.head(m.mixer(m.turn @ m.embedding(ids)).mean(1)),
        mixer=_attention(),
        turn=nn.Parameter(torch.eye(LENGTH)[_ORDER]),
    ),
    "shuffled before a conv": lambda: Net(
        lambda m, ids: m.head(_conv(m, m.turn @ m.embedding(ids)).mean(1)),
        conv=nn.Conv1d(WIDTH, WIDTH, 3, padding=1),
        turn=nn.Parameter(torch.eye(LENGTH)[_ORDER]),
    ),
    "both ways": lambda: Net(
        lambda m, ids: m.head((m.embedding(ids) + m.embedding(ids).flip(1)).tanh().mean(1))
    ),
    "packed GRU": lambda: Net(_packed, rnn=_recurrent(nn.GRU)),
    "packed bidirectional LSTM": lambda: Net(_packed, rnn=_recurrent(nn.LSTM, True)),
    "attention pool": lambda: Net(_attention_pool, score=nn.Linear(WIDTH, 1)),
    "conv over the units": lambda: Net(
        lambda m, ids: m.head(m.conv(m.embedding(ids)).tanh().mean(1)),
        conv=nn.Conv1d(LENGTH, 4, 1),
    ),
    "layer over all tokens": lambda: Net(
        lambda m, ids: m.head(
            m.wide(m.embedding(ids).flatten(1)).view(-1, LENGTH, WIDTH).tanh().mean(1)
        ),
        wide=nn.Linear(FLAT, FLAT),
    ),
    "tied weights without a head": lambda: Net(_tied),
    "two heads": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids).tanh().mean(1)) + m.other(m.embedding(ids).mean(1)),
        other=nn.Linear(WIDTH, CLASSES),
    ),
    "maximum": lambda: Net(lambda m, ids: m.head(m.embedding(ids).max(1).values)),
    "last state": lambda: Net(
        lambda m, ids: m.head(m.rnn(m.embedding(ids))[1][0]), rnn=_recurrent(nn.GRU)
    ),
    "first token after attention": lambda: Net(
        lambda m, ids: m.head(m.mixer(m.embedding(ids))[:, 0]), mixer=_attention()
    ),
    "first token asks all others": lambda: Net(
        lambda m, ids: m.head(
            m.asked(m.embedding(ids)[:, :1], m.embedding(ids), m.embedding(ids))[0].mean(1)
        ),
        asked=nn.MultiheadAttention(WIDTH, 1, batch_first=True),
    ),
    "batch and tokens exchanged": lambda: Net(
        lambda m, ids: m.head(m.embedding(ids).view(LENGTH, len(ids), WIDTH).tanh().mean(0))
    ),
}


def _made(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(3)
    return make().eval()


def _change(explainer: shafer.Explainer, ids: Tensor, token: int) -> np.ndarray:
    """Return how much each component changes with a token, on average."""
    other = ids.clone()
    other[:, token] = other[:, token] % (VOCABULARY - 1) + 1
    moved = explainer(other).weights - explainer(ids).weights
    return np.asarray(moved.abs().sum((0, 2)))[: explainer(ids).layout.n_components]


def _check_sums(net: nn.Module, explainer: shafer.Explainer, ids: Tensor) -> None:
    with torch.no_grad():
        logits = net(ids)
    assert_allclose(explainer(ids).weights.sum(1), centred(logits), atol=1e-5)
    assert_allclose(explainer(ids).probability, logits.softmax(1), atol=1e-5)


@pytest.mark.parametrize("name", ALONE)
def test_a_token_changes_its_own_component_alone(name: str) -> None:
    net, ids = _made(ALONE[name]), _texts(1)
    explainer = shafer.Explainer(net, _texts(0), components="tokens", prior="own")
    _check_sums(net, explainer, ids)
    for token in range(LENGTH):
        assert np.flatnonzero(_change(explainer, ids, token) > 1e-5).tolist() == [token]


@pytest.mark.parametrize("name", MIXED)
def test_a_token_changes_its_own_component_too(name: str) -> None:
    net, ids = _made(MIXED[name]), _texts(1)
    background = _texts(0, padded="padding" in name)
    explainer = shafer.Explainer(net, background, components="tokens", prior="own")
    _check_sums(net, explainer, ids)
    n = explainer(ids).layout.n_components
    for token in range(LENGTH):
        change = _change(explainer, ids, token)
        own = int((token + 0.5) * n / LENGTH)
        assert change[max(own - (n != LENGTH), 0) : own + 1 + (n != LENGTH)].max() > 1e-5
        if "GRU" in name or "LSTM" in name or "transformer" in name:
            assert change[own] > 0.3 * change.max()


@pytest.mark.parametrize("name", REFUSED)
def test_other_places_are_refused(name: str) -> None:
    background = _texts(0, padded="packed" in name)
    with pytest.raises(
        shafer.UnsupportedModelError, match=r"units|shafer\.LinearHead|only these are sums|layer="
    ):
        shafer.Explainer(_made(REFUSED[name]), background, components="tokens")


def test_the_error_names_a_place() -> None:
    with pytest.raises(
        shafer.UnsupportedModelError, match="place 0 changes component 3 most and not its own"
    ):
        shafer.Explainer(
            _made(REFUSED["product with a permutation"]), _texts(0), components="tokens"
        )


def test_padding_on_the_left() -> None:
    net = Net(lambda m, ids: m.head(m.embedding(ids).tanh().mean(1)))
    bag = Net(
        lambda m, ids: m.head(
            m.bag(ids[ids != 0], (ids != 0).sum(1).cumsum(0) - (ids != 0).sum(1))
        ),
        bag=nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean"),
    )
    ids = _texts(0, padded=True).flip(1)
    short = ids[(ids == 0).any(1)]
    assert shafer.Explainer(net.eval(), ids, components="tokens")(ids).layout.n_components == LENGTH
    with pytest.raises(shafer.UnsupportedModelError, match="in their places"):
        shafer.Explainer(bag.eval(), short, components="tokens")  # the bag drops the padding


# A batch of one is like any other.


@pytest.mark.parametrize("name", [*ALONE, *MIXED])
def test_a_batch_of_one(name: str) -> None:
    net = _made({**ALONE, **MIXED}[name])
    ids = _texts(1, 7, padded="padding" in name)
    explainer = shafer.Explainer(net, _texts(0), components="tokens")
    wanted = explainer(ids).weights
    for row in range(3):
        assert_allclose(explainer(ids[row : row + 1]).weights[0], wanted[row], atol=1e-6)
    by_three = shafer.Explainer(net, _texts(0), components="tokens", batch_size=3)
    assert_allclose(by_three(ids).weights, wanted, atol=1e-6)
    assert shafer.Explainer(net, ids[:1], components="tokens")(ids).weights.shape == wanted.shape


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])
def test_a_batch_of_one_after_loading(kind: Any, tmp_path: Path) -> None:
    make = MIXED[kind.__name__]
    explainer = shafer.Explainer(_made(make), _texts(0), components="tokens")
    explainer.save(tmp_path / "net.shafer")
    again = shafer.Explainer.load(tmp_path / "net.shafer", module=make())
    one = _texts(1)[:1]
    assert_allclose(again(one).weights, explainer(one).weights, atol=1e-6)
    assert_allclose(again(_texts(1)).weights, explainer(_texts(1)).weights, atol=1e-6)


# Several inputs, signals and images.


class Pair(nn.Module):
    """Ids with a mask of their own."""

    def __init__(self, turned: bool) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.turned = turned

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        found = self.embedding(ids)
        if self.turned:
            found = torch.eye(LENGTH)[_TURNED] @ found
        weight = mask[..., None].float()
        return self.head((found.tanh() * weight).sum(1) / weight.sum(1))


def test_ids_with_a_mask() -> None:
    ids = _texts(0, padded=True)
    rows = (ids, (ids != 0).long())
    ev = shafer.Explainer(Pair(False).eval(), rows, components="tokens", prior="shared")(rows)
    silent = (ev.weights == 0.0).all(-1)
    assert torch.equal(silent, ids == 0)
    with pytest.raises(shafer.UnsupportedModelError, match="units"):
        shafer.Explainer(Pair(True).eval(), rows, components="tokens", prior="shared")


class Signal(nn.Module):
    """A signal (n, 2, T), and what happens to it before the head."""

    def __init__(self, change: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv1d(2, 5, 3, padding=1), nn.Linear(5, CLASSES)
        self.change = change

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.conv(self.change(x)).relu().mean(2))


@pytest.mark.parametrize("components", ["tokens", "locations"])
def test_signals(components: str) -> None:
    torch.manual_seed(0)
    X = torch.randn(20, 2, 12)
    ev = shafer.Explainer(Signal(lambda x: x).eval(), X, components=components)(X)
    assert ev.layout.n_components == 12
    turned = Signal(lambda x: x @ torch.eye(12).flip(0)).eval()
    with pytest.raises(shafer.UnsupportedModelError, match="units"):
        shafer.Explainer(turned, X, components=components)


class Image(nn.Module):
    """Images whose map is changed without any operation that moves it by name."""

    def __init__(self, change: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(2, 5, 3, padding=1), nn.Linear(5, CLASSES)
        self.change = change

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.change(self.conv(x).relu()).tanh().mean((2, 3)))


IMAGE_CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "mirrored": lambda h: h @ torch.eye(6).flip(0),
    "upside down": lambda h: torch.eye(6).flip(0) @ h,
    "shifted": lambda h: h @ torch.eye(6).roll(3, 0),
    "exchanged": lambda h: h @ torch.eye(6)[[4, 1, 2, 3, 0, 5]],
}


@pytest.mark.parametrize("name", IMAGE_CHANGES)
def test_images_that_are_moved_by_products(name: str) -> None:
    torch.manual_seed(0)
    X = torch.rand(20, 2, 6, 6)
    net = Image(IMAGE_CHANGES[name]).eval()
    with pytest.raises(shafer.UnsupportedModelError, match="units"):
        shafer.Explainer(net, X, components="locations", grid=(6, 6))


def test_images_that_stay() -> None:
    torch.manual_seed(0)
    X = torch.rand(20, 2, 6, 6)
    for change in (lambda h: h, lambda h: h @ torch.eye(6)):
        ev = shafer.Explainer(Image(change).eval(), X, components="locations", grid=(6, 6))(X)
        assert (ev.layout.height, ev.layout.width) == (6, 6)


def test_channels_of_a_mirrored_map() -> None:
    class Mirror(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map, self.head = nn.Conv2d(2, 5, 1), nn.Linear(5 * 6 * 10, CLASSES)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(torch.relu(self.map(x.flip(-1))).flatten(1))

    with pytest.raises(shafer.UnsupportedModelError, match=r"moves them \(flip\)"):
        shafer.Explainer(Mirror().eval(), torch.rand(20, 2, 6, 10), components="channels")
