"""Torch modules: the last layer as evidence, and the module left as it was."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits
from torch import Tensor, nn

import shafer
from torch_networks import network_of, trained


@pytest.mark.parametrize("batch_size", [1, 7, 1024])
def test_probabilities_are_the_modules(iris: tuple[Tensor, Tensor], batch_size: int) -> None:
    X, y = iris
    network = trained(network_of(4, 3), X, y)
    ev = shafer.Explainer(network, X, batch_size=batch_size)(X)
    network.eval()
    with torch.no_grad():
        logits = network(X)
    assert_allclose(ev.probability.numpy(), logits.softmax(1).numpy(), atol=1e-5)
    assert_allclose(ev.logits.numpy(), (logits - logits.mean(1, keepdim=True)).numpy(), atol=1e-5)
    assert_allclose(ev.weights.sum(1).numpy(), ev.logits.numpy(), atol=1e-5)
    assert ev.weights.shape == (150, 8, 3)
    assert isinstance(ev.belief, Tensor)
    assert ev.component_names[0] == "unit 0"
    grouped = shafer.Explainer(network, X, {"even": range(0, 8, 2), "odd": range(1, 8, 2)})(X)
    assert grouped.component_names == ("even", "odd")
    assert_allclose(grouped.probability.numpy(), ev.probability.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("n_outputs", "last"),
    [
        (3, [nn.Softmax(1)]),
        (3, [nn.LogSoftmax(1)]),
        (3, [nn.Identity()]),
        (2, [nn.Softmax(1)]),
        (1, [nn.Sigmoid()]),
        (1, [nn.LogSigmoid()]),
        (1, [nn.Flatten(0)]),
        (1, [nn.Sigmoid(), nn.Flatten(0)]),
    ],
)
def test_what_may_follow_the_last_layer(
    iris: tuple[Tensor, Tensor], n_outputs: int, last: list[nn.Module]
) -> None:
    X, _ = iris
    network = network_of(4, n_outputs, *last).double()
    ev = shafer.Explainer(network, X.double())(X.double())
    network.eval()
    with torch.no_grad():
        logits = network[:7](X.double())
    wanted = logits.softmax(1) if n_outputs > 1 else torch.cat([-logits, logits], 1).sigmoid()
    assert_allclose(ev.probability.numpy(), wanted.numpy(), atol=1e-10)
    assert ev.weights.shape == (150, 8, max(n_outputs, 2))


def test_on_real_data_as_arrays_and_frames() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    network = trained(
        network_of(30, 2), torch.tensor(X, dtype=torch.float32), torch.tensor(y), epochs=60
    )
    ev = shafer.Explainer(network, X, classes=["malignant", "benign"])(X)
    assert ev.classes.tolist() == ["malignant", "benign"]
    assert (ev.decide("plausibility").numpy().argmax(1) == y).mean() > 0.95
    frame = pd.DataFrame(X)
    assert_allclose(shafer.Explainer(network, frame)(frame).belief, ev.belief, atol=1e-6)


def test_the_module_is_left_as_it_was(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network = network_of(4, 3)
    network.train()
    network[1].eval()  # a frozen batch normalisation in a training module
    network[0].weight.requires_grad_(False)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    modes = [part.training for part in network.modules()]
    state = torch.get_rng_state()
    shafer.Explainer(network, X, batch_size=64)(X)
    assert [part.training for part in network.modules()] == modes
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert [p.requires_grad for p in network.parameters()] == [False] + [True] * 7
    assert all(p.grad is None for p in network.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in network.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled()


def test_also_when_it_fails(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network = network_of(4, 3)
    explainer = shafer.Explainer(network, X)
    with pytest.raises(ValueError, match=r"Sequential cannot take X, of shape \(n, 2\).*shapes"):
        explainer(X[:, :2])
    assert network.training
    assert not any(part._forward_hooks for part in network.modules())


class _ByName(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Any:
        return self.last(input=x)


def test_a_layer_called_by_name(iris: tuple[Tensor, Tensor]) -> None:
    network = _ByName()
    ev = shafer.Explainer(network, iris[0])(iris[0])
    with torch.no_grad():
        assert_allclose(ev.probability.numpy(), network(iris[0]).softmax(1).numpy(), atol=1e-6)


def test_a_single_layer_has_features(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    layer = nn.Linear(4, 3, bias=False)
    ev = shafer.Explainer(layer, X)(X)
    with torch.no_grad():
        assert_allclose(ev.probability.numpy(), layer(X).softmax(1).numpy(), atol=1e-6)
    assert ev.component_names == ("x0", "x1", "x2", "x3")


def test_images_and_half_precision() -> None:
    X, _ = load_digits(return_X_y=True)
    images = torch.tensor(X.reshape(-1, 1, 8, 8), dtype=torch.float32)[:50]
    network = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 10)
    )
    ev = shafer.Explainer(network, images)(images)
    assert ev.weights.shape == (50, 16, 10)
    half = network.to(torch.bfloat16)
    coarse = shafer.Explainer(half, images.to(torch.bfloat16))(images.to(torch.bfloat16))
    assert coarse.belief.dtype == torch.float32
    assert_allclose(coarse.probability.numpy(), ev.probability.numpy(), atol=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_cuda_device(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network = network_of(4, 3)
    here = shafer.Explainer(network, X)(X)
    there = shafer.Explainer(network.cuda(), X, batch_size=64)(X)  # rows follow the module
    assert there.belief.device.type == "cuda"
    assert_allclose(there.belief.cpu().numpy(), here.belief.numpy(), atol=1e-5)


def test_it_travels(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    explainer = shafer.Explainer(network_of(4, 3), X)
    again = pickle.loads(pickle.dumps(explainer))
    assert torch.equal(again(X).belief, explainer(X).belief)


class _Doubled(nn.Module):
    def __init__(self, *, twice: bool) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.twice = twice

    def forward(self, x: Tensor) -> Any:
        return self.layer(self.layer(x)) if self.twice else 2 * self.layer(x)


class _Wrapper(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return {"scores": x}


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Sequential(nn.Linear(4, 3), _Wrapper()), "returns dict, without logits"),
        (nn.Sequential(nn.Linear(4, 3), nn.Tanh()), "is not that of its last nn.Linear"),
        (nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3)), "is not that of its last nn.Linear"),
        (_Doubled(twice=False), "is not that of its last nn.Linear.*layer="),
        (_Doubled(twice=True), "called 2 times in one forward pass"),
        (nn.Sequential(nn.Linear(4, 3), nn.Sigmoid()), "a sigmoid to each of 3 outputs"),
        (nn.Sequential(nn.Unflatten(1, (2, 2)), nn.Linear(2, 3)), "one row of features"),
        (nn.Sequential(nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 1)), "calls no nn.Linear"),
    ],
)
def test_refused(iris: tuple[Tensor, Tensor], network: nn.Module, message: str) -> None:
    with pytest.raises(shafer.UnsupportedModelError, match=message):
        shafer.Explainer(network, iris[0])


def test_wrong_options(iris: tuple[Tensor, Tensor]) -> None:
    X, _ = iris
    network = network_of(4, 3)
    with pytest.raises(ValueError, match=r"one of \['0', '4', '6'\]; got 'head'"):
        shafer.Explainer(network, X, layer="head")
    with pytest.raises(shafer.UnsupportedModelError, match="Name the last layer"):
        shafer.Explainer(network, X, layer="4")
    for batch_size in (0, 2.5, True):
        with pytest.raises(ValueError, match="batch_size must be a positive integer"):
            shafer.Explainer(network, X, batch_size=batch_size)
    with pytest.raises(shafer.UnsupportedModelError, match="that were made from columns"):
        shafer.Explainer(network, X, "source")
