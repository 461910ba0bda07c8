"""``own_probabilities``: what the model itself computes, which the evidence is checked against."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest
import torch
import xgboost
from catboost import CatBoostClassifier
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

import shafer
from shafer.models import Contributions
from shafer.models.registry import own_probabilities

X, Y = load_iris(return_X_y=True)


def _own(model: Any) -> Any:
    own = own_probabilities(model, X)
    assert own is not None
    return own


def _boosters(n_classes: int) -> list[tuple[Any, Any]]:
    """Return bare boosters, each with the probabilities of its classifier wrapper."""
    y = np.minimum(Y, n_classes - 1)
    trees = xgboost.XGBClassifier(n_estimators=5).fit(X, y)
    light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y)
    return [
        (trees.get_booster(), trees.predict_proba(X)),
        (light.booster_, light.predict_proba(X)),
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters(n_classes: int) -> None:
    for booster, expected in _boosters(n_classes):
        assert _own(booster).dtype == np.float64
        assert_allclose(_own(booster), expected, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimators(n_classes: int) -> None:
    y = np.array(["a", "b", "c"])[np.minimum(Y, n_classes - 1)]
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        CatBoostClassifier(5, verbose=0, allow_writing_files=False),
    ):
        assert_allclose(_own(model.fit(X, y)), model.predict_proba(X))


class _Head(nn.Module):
    def __init__(self, n_outputs: int, end: Any) -> None:
        super().__init__()
        self.head, self.end = nn.Linear(4, n_outputs), end

    def forward(self, rows: Tensor) -> Tensor:
        end: Tensor = self.end(self.head(rows))
        return end


def _same(logits: Tensor) -> Tensor:
    return logits


@pytest.mark.parametrize("end", [_same, torch.sigmoid, nn.functional.logsigmoid])
def test_modules_of_one_logit(end: Any) -> None:
    network = _Head(1, end).train()
    logits = network.head(torch.tensor(X, dtype=torch.float32)).detach().numpy()[:, 0]
    p = expit(logits)
    assert_allclose(_own(network), np.stack([1 - p, p], axis=1), atol=1e-6)
    assert network.training


@pytest.mark.parametrize("end", [_same, nn.Softmax(1), nn.LogSoftmax(1)])
def test_modules_of_three_logits(end: Any) -> None:
    network = _Head(3, end)
    logits = network.head(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert_allclose(_own(network), softmax(logits, axis=1), atol=1e-6)


def test_models_without_probabilities() -> None:
    assert own_probabilities(shafer.LinearHead(np.ones(4), 0.0), X) is None
    assert own_probabilities((np.ones(4), 0.0), X) is None
    assert own_probabilities(Contributions(np.abs), X) is None
    assert own_probabilities(_Head(3, torch.exp), X) is None
