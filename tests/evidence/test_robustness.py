"""Losing components, and conflict between components."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from oracle import pooled_by_dempster
from shafer import belief
from shafer.decision.policy import LeastLoss
from shafer.evidence.robustness import MOST_COMBINED, loss_fragility

# Losing components, against all 2^G combinations of losses.


def brute_force(weights: Any, base: Any, chance: float) -> Any:
    """Try all combinations of losses, one row at a time."""
    found = []
    for row in weights:
        chosen = row.sum(axis=0).argmax()
        total = 0.0
        for gone in product([False, True], repeat=len(row)):
            left = np.where(np.array(gone)[:, None], base, row).sum(axis=0)
            falls = left[chosen] < left.max() - 1e-9
            total += falls * chance ** sum(gone) * (1 - chance) ** (len(row) - sum(gone))
        found.append(total)
    return np.array(found)


def random_weights(seed: int, n: int, n_components: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, n_components, n_classes))
    weights -= weights.mean(axis=2, keepdims=True)
    share = 0.1 * rng.normal(size=n_classes)
    return weights, np.tile(share - share.mean(), (n_components, 1))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, MOST_COMBINED), st.integers(2, 5), st.floats(0, 1))
def test_few_components_are_exact(seed: int, n_components: int, n_classes: int, q: float) -> None:
    weights, base = random_weights(seed, 4, n_components, n_classes)
    found = loss_fragility(weights, base, q)
    assert_allclose(found, brute_force(weights, base, q), atol=1e-9)


@pytest.mark.parametrize("q", [0.05, 0.2])
@pytest.mark.parametrize("n_classes", [2, 5, 40])
@pytest.mark.parametrize("n_components", [13, 64, 100, 300])
def test_many_components_are_close(n_components: int, n_classes: int, q: float) -> None:
    """A few strong components, as in most tables, and many weak ones: against Monte Carlo."""
    rng = np.random.default_rng(n_components + n_classes)
    size = rng.choice([0.3, 1.0, 3.0], size=(6, n_components, 1))
    weights = size * rng.normal(size=(6, n_components, n_classes))
    weights -= weights.mean(axis=2, keepdims=True)
    found = loss_fragility(weights, np.zeros(n_classes), q)
    total = weights.sum(axis=1)
    lost = rng.random((40_000, n_components)) < q
    left = total[:, None] - np.matmul(lost, weights)
    truth = (left.argmax(axis=2) != total.argmax(axis=1)[:, None]).mean(axis=1)
    assert np.abs(found - truth).mean() < 0.01
    assert np.abs(found - truth).max() < 0.025


def test_a_row_has_one_fragility_alone_and_in_a_batch() -> None:
    """Also where thousands of leads are never in danger, and are left out."""
    weights = np.random.default_rng(0).normal(size=(30, 90, 50))
    base = np.zeros(50)
    together = loss_fragility(weights, base, 0.1)
    alone = [loss_fragility(row[None], base, 0.1)[0] for row in weights]
    assert_allclose(alone, together, atol=1e-12)


@pytest.mark.parametrize("n_components", [3, 9, 20])
@pytest.mark.parametrize(
    "rule", [None, LeastLoss(((0.0, 2.0, 1.0), (1.0, 0.0, 3.0), (2.0, 1.0, 0.0)))]
)
def test_the_bits_of_a_fragility_do_not_depend_on_the_batch(n_components: int, rule: Any) -> None:
    weights, base = np.random.default_rng(0).normal(size=(200, n_components, 3)), np.zeros(3)
    together = loss_fragility(weights, base, 0.2, rule=rule)
    backwards = loss_fragility(weights[::-1], base, 0.2, rule=rule)[::-1]
    alone = [loss_fragility(row[None], base, 0.2, rule=rule)[0] for row in weights]
    assert_array_equal(backwards, together)
    assert_array_equal(alone, together)


@pytest.mark.parametrize("q", [0.0, 1.0])
@pytest.mark.parametrize("n_components", [3, 30])
def test_nothing_and_everything_lost(q: float, n_components: int) -> None:
    weights, base = random_weights(0, 50, n_components, 3)
    found = loss_fragility(weights, base, q)
    falls = weights.sum(axis=1).argmax(axis=1) != base.sum(axis=0).argmax()
    assert_array_equal(found, falls if q == 1.0 else np.zeros(50))


def test_evidence_of_a_model_keeps_the_base_rate() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=2000).fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    weights = to_array(ev.weights)
    base = to_array(shafer.Explainer(model, X)(X.mean(axis=0)[None, :]).weights)[0]
    assert_allclose(ev.fragility(0.3), brute_force(weights, base, 0.3), atol=1e-9)
    assert_allclose(ev[3:5].fragility(0.3), ev.fragility(0.3)[3:5])
    assert_allclose(ev.tempered(0.1).fragility(), ev.fragility(), atol=1e-9)
    own = shafer.Explainer(model, X, prior="own")(X)
    assert_allclose(own.fragility(), ev.fragility(), atol=1e-9)  # the base rate cannot be lost


def to_array(weights: Any) -> Any:
    return np.asarray(weights, dtype=np.float64)


def test_any_additive_model() -> None:
    X, y = load_iris(return_X_y=True)
    ev = shafer.Explainer(GaussianNB().fit(X, y), X)(X)
    found = ev.fragility()
    assert found.shape == (150,)
    assert ((found >= 0) & (found <= 1)).all()
    base = to_array(ev.source.base_shares())
    assert_allclose(found, brute_force(to_array(ev.weights), base, 0.2), atol=1e-9)


def test_more_conflict_is_more_fragile() -> None:
    agree = [[0.2, -0.2]] * 10
    fight = [[2.0, -2.0]] * 5 + [[-1.6, 1.6]] * 5
    ev = shafer.Evidence.from_weights([agree, fight])
    assert_allclose(ev.probability[0], ev.probability[1])
    calm, torn = ev.fragility()
    assert calm < 1e-6
    assert torn > 0.2


def test_libraries_components_and_chunks(monkeypatch: Any) -> None:
    weights, _ = random_weights(1, 40, 12, 3)
    ev = shafer.Evidence.from_weights(weights)
    found = ev.fragility()
    tensor = shafer.Evidence.from_weights(torch.tensor(weights, dtype=torch.float32)).fragility()
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.float32
    assert_allclose(tensor.numpy(), found, atol=1e-5)
    assert ev.components.fragility().shape == (40, 12)
    assert_array_equal(ev.components.fragility(), np.zeros((40, 12)))  # losing it is a tie
    monkeypatch.setattr("shafer.evidence.robustness._BLOCK", 100)
    assert_allclose(ev.fragility(), found, atol=1e-12)


def test_extreme_margins() -> None:
    ev = shafer.Evidence.from_weights([[[1e8, -1e8], [-1e-300, 1e-300]] * 6])
    assert np.isfinite(ev.fragility()).all()


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, "0.2", True, None])
def test_refusals(q: Any) -> None:
    ev = shafer.Evidence.from_weights([[[1.0, -1.0]]])
    with pytest.raises(ValueError, match="q must be a number from 0"):
        ev.fragility(q)


@pytest.mark.parametrize("missing", ["error", "vacuous", "conditional"])
def test_prior_does_not_matter(missing: str) -> None:
    """With 8 inputs, a base rate of its own would be a ninth component that cannot be lost."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 8))
    y = (X.sum(axis=1) + rng.logistic(size=200) > 2.0).astype(int)
    model = LogisticRegression().fit(X, y)
    rows = X[:20].copy()
    if missing != "error":
        rows[::2, 3] = np.nan
    shared, own = (
        shafer.Explainer(model, X, missing=missing, prior=prior)(rows)
        for prior in ("shared", "own")
    )
    assert_allclose(shared.base_rate, own.base_rate, atol=1e-12)
    assert_allclose(own.weights[:, -1], own.base_rate, atol=1e-12)
    assert_allclose(shared.fragility(), own.fragility(), atol=1e-12)


def test_factors_of_any_size_do_not_matter() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 12, 4))
    ev, huge = (shafer.Evidence.from_weights(weights * size) for size in (1.0, 1e290))
    assert_allclose(huge.fragility(), ev.fragility(), rtol=1e-9)


# Conflict between the components, without the conflict that each has by itself.


ELEMENT = st.one_of(
    st.sampled_from([0.0, 0.5, -0.5, 3.0, -3.0]), st.integers(-4096, 4096).map(lambda i: i / 1024)
)
WEIGHTS = st.tuples(st.integers(1, 5), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, (2, *shape), elements=ELEMENT)
)


def by_brute_force(weights):
    """Combine the normalised mass functions of the components, and return what lands on ∅."""
    single = [pooled_by_dempster(component[None, :]) for component in weights]
    together = functools.reduce(belief.conjunctive, single)
    return float(together.masses[0])


@given(WEIGHTS)
def test_it_is_the_conflict_of_the_normalised_components(weights):
    ev = shafer.Evidence.from_weights(weights)
    expected = [by_brute_force(row) for row in weights]
    np.testing.assert_allclose(ev.disagreement, expected, rtol=0, atol=1e-12)


@given(WEIGHTS)
def test_the_conflict_is_its_product_with_the_components_own(weights):
    ev = shafer.Evidence.from_weights(weights)
    own = np.prod(1.0 - ev.components.conflict, axis=1)
    np.testing.assert_allclose(
        1.0 - ev.conflict, own[:, ...].reshape(-1) * (1.0 - ev.disagreement), atol=1e-12
    )


@settings(max_examples=200)
@given(
    st.tuples(st.integers(1, 6), st.integers(2, 7)).flatmap(
        lambda shape: arrays(
            float, (3, *shape), elements=st.floats(-1e12, 1e12, allow_subnormal=True)
        )
    ),
    st.floats(-15, 0),
)
def test_hostile_weights(weights, exponent):
    ev = shafer.Evidence.from_weights(weights * 10.0**exponent)
    assert np.isfinite(ev.weight_of_disagreement).all()
    assert (ev.weight_of_disagreement >= 0.0).all()
    assert ((ev.disagreement >= 0.0) & (ev.disagreement <= 1.0)).all()


@given(arrays(float, (3, 4), elements=st.floats(-30.0, 30.0)))
def test_for_two_classes_it_is_the_conflict(logits):
    ev = shafer.Evidence.from_weights(np.stack([logits, -logits], axis=-1))
    np.testing.assert_allclose(ev.disagreement, ev.conflict, rtol=0, atol=1e-13)


@pytest.mark.parametrize("first", [1e-9, 0.5, 3.0, 800.0])
@pytest.mark.parametrize("second", [1e-9, 0.5, 3.0, 800.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_own_conflict_of_two_classes_in_closed_form(first, second, sign):
    """The short form for K = 2 agrees with the general one, which a third class brings in."""
    two = shafer.Evidence.from_weights([[[sign * first, sign * second]]]).components
    weights = np.array([[[sign * first, sign * second]]])
    ours = shafer._kernels.own_weights_of_conflict(weights)
    np.testing.assert_allclose(ours[0], two.weight_of_conflict[0], rtol=1e-12)


def test_a_single_component_cannot_disagree():
    ev = shafer.Evidence.from_weights([[[2.0, 1.0, -3.0]]])
    assert ev.conflict[0] > 0.3
    assert ev.disagreement[0] == 0.0


def test_three_components_that_agree():
    """All for the same class over each other class: conflict, but hardly any disagreement."""
    weights = np.tile([1.0, 0.6, -1.6], (6, 1))[None]
    ev = shafer.Evidence.from_weights(weights)
    assert ev.disagreement[0] < ev.conflict[0]
    assert ev.grouped("one").disagreement[0] == 0.0


def test_many_rows_in_blocks():
    weights = np.random.default_rng(0).normal(size=(40_000, 10, 3))
    ev = shafer.Evidence.from_weights(weights)
    some = [0, 17, 39_999]
    np.testing.assert_allclose(
        ev.disagreement[some], [by_brute_force(weights[i]) for i in some], atol=1e-12
    )


def test_tensors():
    torch = pytest.importorskip("torch")
    weights = np.random.default_rng(0).normal(size=(5, 3, 4))
    ev = shafer.Evidence.from_weights(torch.tensor(weights))
    assert isinstance(ev.disagreement, torch.Tensor)
    expected = shafer.Evidence.from_weights(weights).disagreement
    np.testing.assert_allclose(ev.disagreement.numpy(), expected, atol=1e-14)


def test_no_rows():
    ev = shafer.Evidence.from_weights(np.ones((2, 3, 3)))[[]]
    assert ev.disagreement.shape == (0,)
