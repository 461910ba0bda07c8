"""Intervals in the user's words, on evidence of models."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm, t
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.models import bootstrap_refits

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
MODEL = LogisticRegression(max_iter=5000).fit(X, NAMES[Y])
EXPLAINER = shafer.Explainer(MODEL, X, errors="laplace")


def test_half_widths_are_normal_quantiles() -> None:
    ev = EXPLAINER(X)
    for level in (0.5, 0.9, 0.99):
        lower, upper = ev.weight_interval(level)
        half = norm.ppf(0.5 + level / 2) * ev.weights_std
        np.testing.assert_allclose(upper, ev.weights + half)
        np.testing.assert_allclose(lower, ev.weights - half)
    lower, upper = ev.contrast_interval("virginica", "setosa")
    half = norm.ppf(0.95) * ev.contrast_std("virginica", "setosa")
    np.testing.assert_allclose(upper - lower, 2 * half)
    np.testing.assert_allclose((upper + lower) / 2, ev.contrast("virginica", "setosa"), atol=1e-12)


def test_few_refits_have_students_quantiles() -> None:
    refits = bootstrap_refits(MODEL, X, NAMES[Y], 4)
    ev = shafer.Explainer(MODEL, X, errors="bootstrap", refits=refits)(X[:3])
    lower, upper = ev.weight_interval(0.9)
    np.testing.assert_allclose(upper - lower, 2 * t.ppf(0.95, 3) * ev.weights_std)


def test_contrasts_use_the_covariance_of_the_classes() -> None:
    """Two classes: the weights are opposite, so the contrast has twice the standard error."""
    binary = LogisticRegression(max_iter=5000).fit(X, Y == 2)
    ev = shafer.Explainer(binary, X, errors="laplace")(X)
    np.testing.assert_allclose(ev.weights_std[..., 0], ev.weights_std[..., 1])
    np.testing.assert_allclose(ev.contrast_std(True, False), 2 * ev.weights_std[..., 1])
    several = EXPLAINER(X)
    independent = np.hypot(several.weights_std[..., 0], several.weights_std[..., 1])
    assert np.abs(several.contrast_std("setosa", "versicolor") / independent - 1).max() > 0.1
    np.testing.assert_allclose(several.contrast_std("setosa", "setosa"), 0.0, atol=1e-12)
    np.testing.assert_allclose(
        several.contrast_std("setosa", "virginica"), several.contrast_std("virginica", "setosa")
    )


def test_without_errors_the_message_tells_how_to_get_them() -> None:
    plain = shafer.Explainer(MODEL, X)(X)
    calls: list[Any] = [
        lambda ev: ev.weights_std,
        lambda ev: ev.weight_interval(),
        lambda ev: ev.contrast_std("setosa", "virginica"),
        lambda ev: ev.contrast_interval("setosa", "virginica"),
        lambda ev: ev.reasons(keep="clear"),
    ]
    for ev in (plain, EXPLAINER(X).components):
        for call in calls[: 5 if ev is plain else 4]:
            with pytest.raises(ValueError, match=r"errors='laplace'.*'bags'.*'bootstrap'"):
                call(ev)
    discounted = EXPLAINER(X).discounted(0.5)
    with pytest.raises(AttributeError, match=r"ev\.evidence\.weights_std"):
        discounted.weights_std  # noqa: B018 - the access is the test


@pytest.mark.parametrize("level", [0, 1, -0.5, 90, "0.9", None, True, np.nan])
def test_levels_that_make_no_sense(level: Any) -> None:
    ev = EXPLAINER(X[:2])
    with pytest.raises(ValueError, match="level must be between 0 and 1, such as 0.9; got"):
        ev.weight_interval(level)
    with pytest.raises(ValueError, match="level must be"):
        ev.contrast_interval("setosa", "virginica", level)


def test_unknown_classes() -> None:
    with pytest.raises(ValueError, match="Unknown class label"):
        EXPLAINER(X[:2]).contrast_std("setosa", 2)
    with pytest.raises(ValueError, match="b must be one class label"):
        EXPLAINER(X[:2]).contrast_interval("setosa", ["setosa", "virginica"])


def test_copies_keep_them() -> None:
    ev = EXPLAINER(X[:4])
    for again in (copy.copy(ev), copy.deepcopy(ev), pickle.loads(pickle.dumps(ev))):
        np.testing.assert_array_equal(again.weights_std, ev.weights_std)


def test_an_array_that_was_changed_is_noticed() -> None:
    mine = X[:4].copy()
    ev = EXPLAINER(mine)
    kept, grouped = ev.without([0]), ev.grouped("one")
    expected = EXPLAINER(X[:4])
    mine += 1.0
    with pytest.raises(ValueError, match="was changed in place"):
        ev.weights_std  # noqa: B018 - the access is the test
    np.testing.assert_allclose(kept.weights_std, expected.without([0]).weights_std)
    np.testing.assert_allclose(grouped.weights_std, expected.grouped("one").weights_std)
    mine = X[:4].copy()
    by_group = shafer.Explainer(MODEL, X, "one", errors="laplace")(mine)
    mine += 1.0
    np.testing.assert_allclose(by_group.weights_std, expected.grouped("one").weights_std)
    single = X[:4].astype(np.float32)
    ev = EXPLAINER(single)  # the weights have a copy in double precision
    expected = EXPLAINER(single.copy()).weights_std
    single += 1.0
    np.testing.assert_array_equal(ev.weights_std, expected)


def test_tensors_stay_tensors() -> None:
    torch.manual_seed(0)
    head = torch.nn.Linear(4, 3)
    rows = torch.tensor(X, dtype=torch.float32)
    ev = shafer.Explainer(head, rows, errors="laplace", precision=2.0)(rows[:5])
    assert isinstance(ev.weights_std, torch.Tensor)
    assert ev.weights_std.dtype == torch.float32
    lower, upper = ev.weight_interval()
    assert bool((lower < ev.weights).all())
    assert bool((upper > ev.weights).all())
    coef, intercept = (part.detach().numpy().astype(float) for part in head.parameters())
    model = LogisticRegression(C=0.5).fit(X, Y)
    model.coef_, model.intercept_ = coef, intercept
    same = shafer.Explainer(model, X, errors="laplace")(X[:5])
    np.testing.assert_allclose(ev.weights_std.numpy(), same.weights_std, rtol=1e-4)


def test_errors_too_large_for_the_precision() -> None:
    errors = EXPLAINER(X[:2]).errors
    source = shafer.Evidence.from_weights(np.zeros((2, 4, 3))).source
    ev = shafer.Evidence.from_source(source, NAMES, tuple("abcd"), errors=errors)
    huge = ev.tempered(1e200).tempered(1e200)
    with pytest.raises(ValueError, match="standard errors of the weights overflow float64"):
        huge.weights_std  # noqa: B018 - the access is the test


def test_reasons_have_intervals() -> None:
    ev = shafer.Explainer(MODEL, X, errors="laplace", prior="own")(X)
    table = ev.reasons(for_="virginica", top=4)
    lower, upper = ev.weight_interval(0.9)
    place = [ev.component_names.index(name) for name in table["component"]]
    np.testing.assert_allclose(table["lower"], lower[table["row"], place, 2])
    np.testing.assert_allclose(table["upper"], upper[table["row"], place, 2])
    clear = ev.reasons(for_="virginica", top=4, keep="clear")
    assert 0 < len(clear) < len(ev.reasons(for_="virginica", top=4, keep="positive"))
    assert clear["lower"].min() > 0
    assert len(clear) == int((lower[:, :-1, 2] > 0).sum())
    over = ev.reasons(for_="virginica", over="versicolor", top=4)
    low, _ = ev.contrast_interval("virginica", "versicolor", 0.9)
    place = [ev.component_names.index(name) for name in over["component"]]
    np.testing.assert_allclose(over["lower"], low[over["row"], place])
    assert "lower" not in shafer.Explainer(MODEL, X)(X).reasons().columns
