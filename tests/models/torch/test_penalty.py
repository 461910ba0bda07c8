"""The least-commitment penalty, as a number and in training."""

from __future__ import annotations

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

import shafer
from shafer.models.torch.penalty import least_commitment_penalty


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_penalty_is_the_sum_of_squared_weights(n_outputs: int, bias: bool) -> None:
    head = nn.Linear(5, n_outputs, bias=bias).double()
    features = torch.randn(12, 5, dtype=torch.float64) + 3.0
    ev = shafer.Explainer(head, features)(features)
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


def test_penalty_refuses_other_features() -> None:
    with pytest.raises(ValueError, match=r"features must have shape \(n, 4\)"):
        least_commitment_penalty(nn.Linear(4, 3), torch.zeros(2, 5))
