"""What a torch module takes: tensors, arrays, frames, several inputs; and clear errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import sparse
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import shafer
from torch_networks import network_of


class _Odd(nn.Module):
    """Registers its layers in another order than it calls them, and takes two inputs."""

    def __init__(self, output: str = "tensor") -> None:
        super().__init__()
        self.last = nn.Linear(5, 3)
        self.first = nn.Linear(4, 5)
        self.output = output

    def forward(self, x: Tensor, scale: Tensor) -> Any:
        logits = self.last(self.first(x).relu() * scale)
        return {"tensor": logits, "tuple": (logits, x), "mapping": {"logits": logits}}[self.output]


@pytest.mark.parametrize("output", ["tensor", "tuple", "mapping"])
def test_inputs_and_outputs_of_other_shapes(iris: tuple[Tensor, Tensor], output: str) -> None:
    X, _ = iris
    network = _Odd(output)
    scale = torch.rand(150, 1)
    with torch.no_grad():
        wanted = network.last(network.first(X).relu() * scale).softmax(1).numpy()
    for inputs in ((X, scale), {"x": X, "scale": scale}):
        ev = shafer.Explainer(network, inputs, batch_size=40)(inputs)
        assert_allclose(ev.probability.numpy(), wanted, atol=1e-6)
    named = shafer.Explainer(network, (X, scale), layer="last")((X, scale))
    assert_allclose(named.probability.numpy(), wanted, atol=1e-6)
    found = shafer.Explainer(network, (X, scale), layer=network.last)((X, scale))
    assert_allclose(found.probability.numpy(), wanted, atol=1e-6)


def test_numbers_in_another_precision(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    whole = X.round()
    network = network_of(4, 3)
    wanted = shafer.Explainer(network, whole)(whole).belief
    for given in (whole.numpy().astype(np.int64), whole.long(), whole.double(), whole.half()):
        ev = shafer.Explainer(network, given, batch_size=40)(given)
        assert_allclose(ev.belief.numpy(), wanted.numpy(), atol=1e-6)
    # Numbers and booleans: pandas makes objects of them.
    frame = pd.DataFrame(whole.numpy()).assign(flag=whole[:, 3].numpy() > 1)
    rows = whole.clone()
    rows[:, 3] = (whole[:, 3] > 1).float()
    del frame[3]
    expected = shafer.Explainer(network, rows)(rows).belief.numpy()
    assert_allclose(shafer.Explainer(network, frame)(frame).belief.numpy(), expected, atol=1e-6)
    backwards = whole.numpy()[:, ::-1]  # negative strides
    assert len(shafer.Explainer(network, whole)(backwards)) == 150


def test_an_embedding_keeps_its_integers() -> None:
    tokens = np.random.default_rng(0).integers(0, 20, (30, 4))
    network = nn.Sequential(nn.Embedding(20, 4), nn.Flatten(), nn.Linear(16, 3))
    ev = shafer.Explainer(network, tokens)(tokens)
    with torch.no_grad():
        wanted = network(torch.tensor(tokens)).softmax(1)
    assert_allclose(ev.probability.numpy(), wanted.numpy(), atol=1e-6)
    with pytest.raises(ValueError, match=r"of shape \(n, 4\) and torch.float32: .*Long, Int"):
        shafer.Explainer(network, tokens.astype(float))


def test_inputs_without_columns(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network = _Odd()
    scale = np.linspace(0.5, 1.0, 150)

    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = network

        def forward(self, a: Tensor, b: Tensor) -> Any:
            return self.inner(torch.stack([a, b, a, b], 1), b[:, None])

    first = X[:, 0].numpy()
    ev = shafer.Explainer(Flat(), (first, scale), batch_size=40)((first, scale))
    assert len(ev) == 150  # arrays of one dimension are inputs here, not rows


def _with(X: Any, where: tuple[int, int], value: float) -> Any:
    changed = X.clone() if isinstance(X, Tensor) else X.copy()
    changed[where] = value
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: _with(X, (130, 2), np.nan), "contains NaN, the first in row 130, column 2, and"),
        (lambda X: _with(X, (3, 0), np.inf), "X contains infinity, the first in row 3, column 0"),
        (lambda X: _with(X.numpy(), (3, 0), np.nan), "X contains NaN, the first in row 3"),
        (
            lambda X: X * 4e37,
            "X is finite in row 0, but the features that Sequential computes are not: unit",
        ),
        (lambda X: X[:, 0], r"of shape \(n,\).*Pass a single row as X\[None\]"),
        (lambda X: X.numpy().astype(str), "X must hold real numbers; got an array of <U"),
        (lambda X: sparse.csr_array(X.numpy()), "takes dense arrays; got a sparse .*toarray"),
        (lambda X: (X, X), "input 0 of shape .* input 1 of shape .*takes 2 positional"),
        (lambda X: tuple(X.numpy()), "and 146 more: .*one array for each input"),
        (lambda X: np.float64(3.0), "X must hold rows; got a single value"),
    ],
)
def test_inputs_it_cannot_take(iris: tuple[Tensor, Tensor], change: Any, message: str) -> None:
    X, _ = iris
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    with torch.no_grad():
        network[0].weight.fill_(1.0)
    explainer = shafer.Explainer(network, X, batch_size=50)
    with pytest.raises(ValueError, match=message):
        explainer(change(X))


class _Filling(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return x.nan_to_num(nan=1.0)


def test_a_module_may_fill_gaps_itself(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    holed = _with(X, (3, 2), np.nan)
    network = nn.Sequential(_Filling(), nn.Linear(4, 3))
    ev = shafer.Explainer(network, holed)(holed)
    with torch.no_grad():
        assert_allclose(ev.probability.numpy(), network(holed).softmax(1).numpy(), atol=1e-6)


def test_one_row_is_no_table(iris: tuple[Tensor, Tensor]) -> None:
    network = network_of(4, 3)
    with pytest.raises(shafer.UnsupportedModelError, match=r"If X is a single row, pass X\[None\]"):
        shafer.Explainer(nn.Linear(4, 3), iris[0])(iris[0][0])
    assert len(shafer.Explainer(network, iris[0])(iris[0][0][None])) == 1


def test_inputs_that_do_not_belong_together(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network, scale = _Odd(), torch.rand(150, 1)
    explainer = shafer.Explainer(network, (X, scale))
    for short in ((X, scale[:1]), (X[:100], scale)):
        with pytest.raises(ValueError, match="the same number of rows; got 1[05]0 in 0, 1.* in 1"):
            explainer(short)
        with pytest.raises(ValueError, match="the same number of rows"):
            shafer.Explainer(network, short)
    with pytest.raises(ValueError, match="got 150 in 'x', 20 in 'scale'"):
        explainer({"x": X, "scale": scale[:20]})
    with pytest.raises(ValueError, match="2 Tensors.*inputs of a torch module, pass a tuple"):
        explainer([X, scale])
    with pytest.raises(ValueError, match="missing 1 required positional argument: 'scale'"):
        explainer(X)
    holed = _with(X, (149, 3), np.nan)
    with pytest.raises(ValueError, match="row 149, column 3 of input 'x'"):
        explainer({"x": holed, "scale": scale})


def test_columns_of_the_background(iris: tuple[Tensor, Tensor]) -> None:
    frame = pd.DataFrame(iris[0].numpy(), columns=list("abcd"))
    explainer = shafer.Explainer(network_of(4, 3), frame)
    assert len(explainer(frame)) == len(explainer(iris[0])) == 150
    assert torch.equal(explainer(frame[list("dcba")]).logits, explainer(frame).logits)
    with pytest.raises(ValueError, match="columns of the background.*got \\['a', 'b', 'c', 'z'\\]"):
        explainer(frame.rename(columns={"d": "z"}))


def test_a_loader_is_no_background(iris: tuple[Tensor, Tensor]) -> None:
    network = network_of(4, 3)
    loader = DataLoader(TensorDataset(*iris), batch_size=50)
    with pytest.raises(ValueError, match=r"DataLoader has no rows.*\(X for X, y in loader\)"):
        shafer.Explainer(network, loader)
    with pytest.raises(ValueError, match="a batch of the background is a list of 2 Tensors"):
        shafer.Explainer(network, iter(loader))
    explainer = shafer.Explainer(network, (X for X, y in loader))
    whole = shafer.Explainer(network, iris[0])
    assert_allclose(explainer(iris[0]).belief.numpy(), whole(iris[0]).belief.numpy(), atol=1e-6)
