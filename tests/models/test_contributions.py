"""The user's own contributions, and the background means in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

import shafer
from shafer.evidence import RunningMean
from shafer.models import Contributions
from shafer.rows import background


@pytest.fixture
def X() -> Any:
    return np.random.default_rng(0).normal(size=(700, 3))


def _waves(X: Any) -> Any:
    return np.stack([np.sin(X), np.cos(X), X], axis=-1)


def test_a_function_of_three_classes(X: Any) -> None:
    model = Contributions(_waves, [0.1, -0.2, 0.3], classes=["s", "c", "l"], names=["a", "b", "c"])
    ev = shafer.Explainer(model, X)(X)
    logits = _waves(X).sum(axis=1) + np.array([0.1, -0.2, 0.3])
    assert_allclose(ev.probability, softmax(logits, axis=1))
    assert ev.component_names == ("a", "b", "c")
    assert ev.classes.tolist() == ["s", "c", "l"]
    pair = shafer.Explainer(model, X, {"first two": ["a", "b"]})(X)
    assert pair.component_names == ("first two", "c")
    assert_allclose(pair.probability, ev.probability, rtol=1e-10)


def test_log_odds_of_two_classes(X: Any) -> None:
    ev = shafer.Explainer(Contributions(np.sin, 0.5), X)(X)
    assert_allclose(ev.probability[:, 1], expit(np.sin(X).sum(axis=1) + 0.5), rtol=1e-10)
    assert ev.weights.shape == (700, 3, 2)
    lists = shafer.Explainer(Contributions(lambda rows: [[0.1, 0.2]] * len(rows)), X)(X)
    assert_allclose(lists.logits[:, 1], 0.15)


def test_tensors_stay_tensors() -> None:
    X = torch.randn(30, 2, dtype=torch.float64)
    model = Contributions(lambda rows: torch.stack([rows.sin(), rows.cos()], dim=-1), [0.0, 1.0])
    weight = np.arange(30.0)
    ev = shafer.Explainer(model, X, sample_weight=weight)(X)
    assert isinstance(ev.belief, torch.Tensor)
    logits = torch.stack([X.sin(), X.cos()], dim=-1).sum(1) + torch.tensor([0.0, 1.0])
    assert_allclose(ev.probability.numpy(), logits.softmax(1).numpy(), rtol=1e-10)


def test_means_in_blocks_are_the_means(X: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def watched(rows: Any) -> Any:
        sizes.append(len(rows))
        return _waves(rows)

    monkeypatch.setattr(background, "_BLOCK", 90 * 9)
    means = RunningMean()
    background.add_contributions(means, watched, X, None)
    assert sizes == [256, 90, 90, 90, 90, 84]
    assert_allclose(means.mean, _waves(X).mean(axis=0), atol=1e-14)
    weight = np.random.default_rng(1).random(700)
    weight[250:440] = 0.0  # a block without any weight
    means = RunningMean()
    background.add_contributions(means, watched, X, weight)
    assert_allclose(means.mean, np.average(_waves(X), axis=0, weights=weight), atol=1e-14)


def test_wrong_contributions(X: Any) -> None:
    for function, message in (
        (lambda rows: rows[:, 0], "contributions.* must have"),
        (lambda rows: np.full((len(rows), 2, 3), np.nan), "contributions.* must be finite"),
        (lambda rows: np.array([["a", "b"]] * len(rows)), "must hold real numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            shafer.Explainer(Contributions(function), X)
    with pytest.raises(ValueError, match="at least one row"):
        shafer.Explainer(Contributions(_waves), X[:0])
    with pytest.raises(ValueError, match="700 rows; got 3"):
        shafer.Explainer(Contributions(_waves), X, sample_weight=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="intercept must have one value for each of the 3 classes"):
        shafer.Explainer(Contributions(_waves, [1.0, 2.0]), X)
