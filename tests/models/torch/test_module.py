"""Torch modules: the last layer as evidence, what a module takes, and the module unchanged."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import shafer
from shafer.models.torch.penalty import least_commitment_penalty
from torch_networks import network_of, trained

# Torch modules: the last layer as evidence, and the module left as it was.


@pytest.mark.parametrize("batch_size", [1, 7, 1024])
def test_probabilities_are_the_modules(iris: tuple[Tensor, Tensor], batch_size: int) -> None:
    X, y = iris
    network = trained(network_of(4, 3), X, y)
    ev = shafer.Explainer(network, X, batch_size=batch_size, prior="shared")(X)
    network.eval()
    with torch.no_grad():
        logits = network(X)
    assert_allclose(ev.probability.numpy(), logits.softmax(1).numpy(), atol=1e-5)
    assert_allclose(ev.logits.numpy(), (logits - logits.mean(1, keepdim=True)).numpy(), atol=1e-5)
    assert_allclose(ev.weights.sum(1).numpy(), ev.logits.numpy(), atol=1e-5)
    assert ev.weights.shape == (150, 8, 3)
    assert isinstance(ev.belief, Tensor)
    assert ev.component_names[0] == "unit 0"
    grouped = shafer.Explainer(
        network, X, {"even": range(0, 8, 2), "odd": range(1, 8, 2)}, prior="shared"
    )(X)
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
    ev = shafer.Explainer(network, X.double(), prior="shared")(X.double())
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
    ev = shafer.Explainer(layer, X, prior="shared")(X)
    with torch.no_grad():
        assert_allclose(ev.probability.numpy(), layer(X).softmax(1).numpy(), atol=1e-6)
    assert ev.component_names == ("x0", "x1", "x2", "x3")


def test_images_and_half_precision() -> None:
    X, _ = load_digits(return_X_y=True)
    images = torch.tensor(X.reshape(-1, 1, 8, 8), dtype=torch.float32)[:50]
    network = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 10)
    )
    ev = shafer.Explainer(network, images, prior="shared")(images)
    assert ev.weights.shape == (50, 16, 10)
    half = network.to(torch.bfloat16)
    coarse = shafer.Explainer(half, images.to(torch.bfloat16), prior="shared")(
        images.to(torch.bfloat16)
    )
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
        shafer.Explainer(network, X, layer="head", prior="shared")
    with pytest.raises(shafer.UnsupportedModelError, match="Name the last layer"):
        shafer.Explainer(network, X, layer="4", prior="shared")
    for batch_size in (0, 2.5, True):
        with pytest.raises(ValueError, match="batch_size must be a positive integer"):
            shafer.Explainer(network, X, batch_size=batch_size, prior="shared")
    assert shafer.Explainer(network, X, "source").component_names[:2] == ("unit 0", "unit 1")


# What a torch module takes: tensors, arrays, frames, several inputs; and clear errors.


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
        (lambda X: _with(X, (130, 2), np.nan), "contains NaN, the first in row 130, column 2; the"),
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


# Parameters of torch modules: without values, not finite, or trained again.


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


# The least-commitment penalty, as a number and in training.


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_penalty_is_the_sum_of_squared_weights(n_outputs: int, bias: bool) -> None:
    head = nn.Linear(5, n_outputs, bias=bias).double()
    features = torch.randn(12, 5, dtype=torch.float64) + 3.0
    ev = shafer.Explainer(head, features, prior="shared")(features)
    with torch.no_grad():
        penalty = least_commitment_penalty(head, features)
    assert_allclose(float(penalty), float((ev.weights**2).sum()), rtol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_penalty_gradient(n_outputs: int) -> None:
    head = nn.Linear(4, n_outputs).double()

    def penalty(weight: Tensor, bias: Tensor, features: Tensor) -> Tensor:
        moved = nn.Linear(4, n_outputs).double()
        del moved.weight, moved.bias  # plain tensors instead, so that gradients reach them
        moved.weight, moved.bias = weight, bias
        return least_commitment_penalty(moved, features)

    features = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    inputs = (head.weight.detach().requires_grad_(), head.bias.detach().requires_grad_(), features)
    assert torch.autograd.gradcheck(penalty, inputs)


def test_penalty_in_a_training_loop(iris: tuple[Tensor, Tensor]) -> None:
    X, y = iris

    def trained(strength: float) -> float:
        torch.manual_seed(1)
        body, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 3)
        optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.02)
        for _ in range(150):
            optimizer.zero_grad()
            features = body(X)
            loss = nn.functional.cross_entropy(head(features), y)
            penalty = least_commitment_penalty(head, features) / len(X)
            (loss + strength * penalty).backward()
            optimizer.step()
        return float(shafer.Explainer(nn.Sequential(body, head), X)(X).ignorance.mean())

    assert trained(0.1) > trained(0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_with_a_constant_column_is_the_penalty(n_classes: int) -> None:
    # On standardised features, the column √J makes ridge the least-commitment penalty.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(rng.random(60) < 0.7, np.digitize(X[:, 0], [-0.4, 0.8]), 0) % n_classes
    strength = 0.05  # of the penalty beside the summed log loss
    C = 1.0 / ((1.0 if n_classes == 2 else 2.0) * strength * len(X))
    ridge = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000)
    coef = ridge.fit(np.column_stack([X, np.full(60, 2.0)]), y).coef_
    head = nn.Linear(4, len(coef)).double()
    with torch.no_grad():
        head.weight.copy_(torch.tensor(coef[:, :4]))
        head.bias.copy_(torch.tensor(2.0 * coef[:, 4]))
    features = torch.tensor(X)
    logits = head(features)
    logits = torch.cat([-logits / 2, logits / 2], dim=1) if n_classes == 2 else logits
    loss = nn.functional.cross_entropy(logits, torch.tensor(y), reduction="sum")
    (loss + strength * least_commitment_penalty(head, features)).backward()
    for parameter in head.parameters():
        assert parameter.grad is not None
        assert_allclose(parameter.grad, 0.0, atol=1e-4)


def test_penalty_refuses_other_features() -> None:
    with pytest.raises(ValueError, match=r"features must have shape \(n, 4\)"):
        least_commitment_penalty(nn.Linear(4, 3), torch.zeros(2, 5))


# One explainer of a torch module in several threads, and heads that drop an axis.


ROWS = np.random.default_rng(0).normal(size=(1025, 4)).astype(np.float32)


class _Slow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3)

    def forward(self, rows: Tensor) -> Tensor:
        logits: Tensor = self.head(self.drop(torch.relu(self.first(rows))))
        time.sleep(0.002)  # so that threads meet inside
        return logits


def test_threads() -> None:
    network = _Slow().train()
    explainer = shafer.Explainer(network, ROWS[:50])
    expected = np.asarray(explainer(ROWS[:50]).probability)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: np.asarray(explainer(ROWS[:50]).probability), range(40)))
    for probability in found:
        assert_allclose(probability, expected)
    assert all(part.training for part in network.modules())


def test_calls_of_other_threads_are_not_recorded() -> None:
    network = _Slow().eval()
    explainer = shafer.Explainer(network, ROWS[:50])
    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(network, torch.tensor(ROWS[:7])) for _ in range(20)]
        for _ in range(5):
            assert explainer(ROWS[:50]).probability.shape == (50, 3)
        assert all(other.result().shape == (7, 3) for other in others)


class _Squeezed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, rows: Tensor) -> Tensor:
        logits: Tensor = self.head(rows).squeeze()
        return logits


@pytest.mark.parametrize("n", [1, 2, 1024, 1025])
def test_a_squeezed_logit(n: int) -> None:
    network = _Squeezed()
    ev = shafer.Explainer(network, ROWS[:1000])(ROWS[:n])
    with torch.no_grad():
        expected = torch.sigmoid(network.head(torch.tensor(ROWS[:n])))[:, 0]
    assert_allclose(np.asarray(ev.probability)[:, 1], expected, atol=1e-6)


# The network of Denœux 2019, §5.2: how its hidden units read.


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
    explainer = shafer.Explainer(network, X, classes=[1, 2, 3], prior="shared")
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
