"""Typicality: ranks among background rows, of evidence and of one class."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import shafer
from shafer.evidence import Evidence, WeightProfile, typicality
from shafer.evidence.typicality import LEAST_SHRINKAGE, class_profile, shrinkage_intensity

# Typicality: a rank among the background rows, in every shape the evidence can have.


def _evidence(n: int, n_components: int, n_classes: int, seed: int = 0, scale: float = 1.0) -> Any:
    rng = np.random.default_rng(seed)
    weights = scale * rng.normal(size=(n, n_components, n_classes))
    return Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))


@pytest.fixture(scope="module")
def wine() -> tuple[Any, Any, Any]:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression().fit(X, y)
    return shafer.Explainer(model, X, prior="shared"), X, y


@pytest.mark.parametrize("shape", [(50, 4), (5, 40), (30, 30), (2, 3)])
def test_shrinkage_is_ledoit_and_wolfs(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).normal(size=shape) @ np.diag(1.0 + np.arange(shape[1]))
    x -= x.mean(axis=0)
    expected = ledoit_wolf(x, assume_centered=True)[1]
    assert_allclose(shrinkage_intensity(x), max(expected, LEAST_SHRINKAGE), rtol=1e-8)
    share = np.full(shape[0], 1.0 / shape[0])
    assert_allclose(shrinkage_intensity(x, share), shrinkage_intensity(x), rtol=1e-12)


def test_shrinkage_of_nothing() -> None:
    assert shrinkage_intensity(np.zeros((3, 2))) == LEAST_SHRINKAGE
    assert shrinkage_intensity(np.ones((4, 1)) * [[1], [-1], [1], [-1]]) == LEAST_SHRINKAGE


@pytest.mark.parametrize(("n", "n_components"), [(40, 3), (12, 12), (6, 20)])
def test_each_row_is_measured_by_the_others(n: int, n_components: int) -> None:
    """The rank-one change equals refitting mean and scatter without the row."""
    rng = np.random.default_rng(n)
    weights = rng.normal(size=(n, n_components, 2))
    weights[:, :, 1] = -weights[:, :, 0]
    weights[:, 0, 0] += 50.0  # all rows are assigned to class 0
    weights[:, 0, 1] -= 50.0
    profile = WeightProfile.fit(Evidence.from_weights(weights)).profiles[0]
    x = (weights[:, :, 0] - profile.mean) / profile.spread
    shrinkage = shrinkage_intensity(x)
    expected = []
    for i in range(n):
        others = np.delete(x, i, axis=0)
        scatter = (others - others.mean(axis=0)).T @ (others - others.mean(axis=0))
        covariance = (1 - shrinkage) * scatter / (n - 1) + shrinkage * np.eye(n_components)
        away = x[i] - others.mean(axis=0)
        expected.append(away @ np.linalg.solve(covariance, away))
    assert_allclose(profile.distances, np.sort(expected), rtol=1e-8)


def test_the_rank_is_the_share_of_rows_as_far_out(wine: Any) -> None:
    explainer, X, _ = wine
    background = explainer(X)
    profile = WeightProfile.fit(background)
    ev = explainer(X + 0.7 * np.random.default_rng(0).normal(size=X.shape))
    result, distance = profile.typicality(ev), profile.distances(ev)
    assigned = ev.logits.argmax(axis=1)
    for k, of_class in enumerate(profile.profiles):
        d = of_class.distances
        for t, far in zip(result[assigned == k], distance[assigned == k], strict=True):
            rank = (1 + (d >= far).sum()) / (len(d) + 1)
            if far <= d[-1]:
                assert rank <= t <= rank + 1 / (len(d) + 1) + 1e-12
            else:
                assert_allclose(t, 2 / (len(d) + 1) * (1 + d[-1]) / (1 + far))
    assert ((result > 0) & (result <= 1)).all()


def test_fresh_rows_are_as_usual_as_they_should_be() -> None:
    """As a p-value: of fresh rows from the same distribution, a tenth lie below a tenth."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(6, 6))
    pool = shafer.least_commitment(rng.normal(size=(3, 6)), np.zeros(3))
    background, fresh = (
        pool(rng.normal(size=(300, 6)) @ mixing),
        pool(rng.normal(size=(4000, 6)) @ mixing),
    )
    result = typicality(fresh, background)
    for level in (0.1, 0.3, 0.5, 0.8):
        assert abs((result <= level).mean() - level) < 0.05


def test_few_rows_of_many_components_are_not_all_unusual() -> None:
    rng = np.random.default_rng(1)
    pool = shafer.least_commitment(rng.normal(size=(2, 80)), np.zeros(2))
    result = typicality(pool(rng.normal(size=(500, 80))), pool(rng.normal(size=(40, 80))))
    assert 0.3 < result.mean() < 0.7


def test_a_novelty_score_where_ignorance_is_none(wine: Any) -> None:
    explainer, X, _ = wine
    train, test = X[::2], X[1::2]
    noise = 3 * np.random.default_rng(0).normal(size=test.shape)
    labels = np.r_[np.zeros(len(test)), np.ones(len(noise))]
    both = explainer(np.r_[test, noise])
    assert roc_auc_score(labels, both.ignorance) < 0.2
    assert roc_auc_score(labels, -typicality(both, explainer(train))) > 0.98


def test_a_class_left_out_is_unusual() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    known = np.flatnonzero(y != 2)
    explainer = shafer.Explainer(
        LogisticRegression().fit(X[known[::2]], y[known[::2]]), X[known[::2]]
    )
    background = explainer(X[known[::2]])
    ours = typicality(explainer(X[known[1::2]]), background)
    others = typicality(explainer(X[y == 2]), background)
    labels = np.r_[np.zeros(len(ours)), np.ones(len(others))]
    assert roc_auc_score(labels, -np.r_[ours, others]) > 0.9


def test_far_out_remains_ordered(wine: Any) -> None:
    explainer, X, _ = wine
    background = explainer(X)
    steps = np.array([[s * (-1.0) ** j for j in range(13)] for s in (10, 100, 1e4, 1e8)])
    result = typicality(explainer(steps), background)
    assert (np.diff(result) < 0).all()
    assert (result > 0).all()


def test_a_constant_component_that_moves() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(50, 2)), np.full(50, 3.0)])
    pool = shafer.least_commitment([1.0, -2.0, 0.5], 0.1, X.mean(axis=0))
    still, moved = np.array([[0.1, 0.2, 3.0]]), np.array([[0.1, 0.2, 3.1]])
    profile = WeightProfile.fit(pool(X))
    assert profile.typicality(pool(still))[0] > 0.5
    assert profile.distances(pool(moved))[0] == np.inf
    assert profile.typicality(pool(moved))[0] == np.finfo(np.float64).tiny
    # Rounding is no movement.
    assert profile.typicality(pool(np.nextafter(still, 4.0)))[0] > 0.5


def test_a_component_constant_in_one_class_only_is_not_infinite() -> None:
    rng = np.random.default_rng(0)
    weights = np.zeros((40, 2, 2))
    weights[:, 0, 0] = np.where(np.arange(40) < 20, 3.0, -3.0)  # the same within each class
    weights[:, 1, 0] = rng.normal(size=40)
    weights[:, :, 1] = -weights[:, :, 0]
    profile = WeightProfile.fit(Evidence.from_weights(weights))
    near = weights[:1].copy()
    near[0, 0] += [0.5, -0.5]
    assert np.isfinite(profile.distances(Evidence.from_weights(near))).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_background(n: int) -> None:
    background = _evidence(n, 4, 3)
    ev = _evidence(20, 4, 3, seed=1)
    result = typicality(ev, background)
    assert ((result > 0) & (result <= 1)).all()


def test_a_class_without_rows_is_compared_with_all() -> None:
    pool = shafer.least_commitment(np.diag([1.0, 1.0, 1.0]), [0.0, 0.0, -30.0])
    X = np.random.default_rng(0).normal(size=(60, 3))
    background = pool(X)
    assert (background.logits.argmax(axis=1) != 2).all()
    profile = WeightProfile.fit(background)
    assert len(profile.profiles[2].distances) == 60
    assert typicality(pool([[0.0, 0.0, 40.0]]), profile)[0] < 0.01


def test_zero_and_equal_rows() -> None:
    background = Evidence.from_weights(np.zeros((5, 3, 2)))
    assert_array_equal(typicality(background, background), np.ones(5))
    other = Evidence.from_weights([[[1e-9, -1e-9], [0, 0], [0, 0]]])
    assert typicality(other, background)[0] == np.finfo(np.float64).tiny


@settings(max_examples=40)
@given(
    n=st.integers(1, 12),
    n_components=st.integers(1, 6),
    n_classes=st.integers(2, 5),
    scale=st.sampled_from([1e-12, 1.0, 1e4, 1e150]),
    seed=st.integers(0, 100),
)
def test_always_a_number_above_zero(
    n: int, n_components: int, n_classes: int, scale: float, seed: int
) -> None:
    background = _evidence(n, n_components, n_classes, seed, scale)
    for ev in (background, _evidence(9, n_components, n_classes, seed + 1, scale)):
        result = typicality(ev, background)
        assert result.shape == (len(ev),)
        assert ((result > 0) & (result <= 1)).all()


def test_units_of_the_weights_do_not_matter(wine: Any) -> None:
    explainer, X, _ = wine
    background, ev = explainer(X), explainer(X + 0.5)
    expected = typicality(ev, background)
    assert_allclose(typicality(ev.tempered(0.01), background.tempered(0.01)), expected, rtol=1e-6)
    assert_array_equal(typicality(ev.discounted(0.3), background), expected)
    halves = np.full(len(X), 0.5)  # weights scaled row by row come from a source of their own
    assert_allclose(
        typicality(ev.tempered(halves), background.tempered(halves)), expected, rtol=1e-6
    )


def test_sources_and_libraries_agree(wine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, X, _ = wine
    pool = explainer.pool
    rows = X[:50] + 0.3
    expected = typicality(pool(rows), pool(X))
    dense = Evidence.from_weights(pool(rows).weights), Evidence.from_weights(pool(X).weights)
    named = [Evidence.from_source(ev.source, pool.classes, pool.component_names) for ev in dense]
    assert_allclose(typicality(*named), expected, rtol=1e-7)
    assert_allclose(
        typicality(pool(sparse.csr_array(rows)), pool(sparse.csr_array(X))), expected, rtol=1e-7
    )
    head = [torch.tensor(a) for a in (pool.beta.T.copy(), pool.offset * 13, X, rows)]
    torch_pool = shafer.least_commitment(
        head[0], head[1] - head[2].mean(0) @ head[0].T, head[2].mean(0)
    )
    result = typicality(torch_pool(head[3]), torch_pool(head[2]))
    assert isinstance(result, torch.Tensor)
    assert_allclose(result.numpy(), expected, rtol=1e-6)
    monkeypatch.setattr(sys.modules[WeightProfile.__module__], "_BLOCK", 100)
    assert_allclose(typicality(*named), expected, rtol=1e-7)


def test_many_components_and_many_classes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3000))
    pool = shafer.least_commitment(rng.normal(size=(2, 3000)), np.zeros(2))
    result = typicality(pool(np.r_[X[:5], 3 * X[5:10]]), pool(X))
    assert (result[5:] < result[:5].min()).all()
    result = typicality(_evidence(10, 3, 1000, 1), _evidence(50, 3, 1000))
    assert ((result > 0) & (result <= 1)).all()


def test_refusals(wine: Any) -> None:
    explainer, X, _ = wine
    ev = explainer(X)
    with pytest.raises(ValueError, match="13 components and 3 classes of the background"):
        typicality(ev.without("x0"), ev)
    with pytest.raises(ValueError, match="same explainer"):
        typicality(_evidence(3, 13, 2), ev)
    with pytest.raises(ValueError, match="single components"):
        typicality(ev.components, ev)
    with pytest.raises(ValueError, match="single components"):
        WeightProfile.fit(ev.components)


@pytest.mark.parametrize("given", [None, np.zeros((3, 2))])
def test_rows_are_not_evidence(given: Any) -> None:
    ev = _evidence(9, 2, 3)
    for pair, name in (((ev, given), "background"), ((given, ev), "ev")):
        with pytest.raises(ValueError, match=f"^{name} must be evidence.*explainer.typicality"):
            typicality(*pair)


# The profile of one class: distances and ranks by their formulas.


def test_typicality_is_a_rank_with_a_tail() -> None:
    weights = np.random.default_rng(0).normal(size=(3, 1))
    profile = class_profile([weights], weights.var(axis=0), 2e-16)
    unit = replace(
        profile,
        mean=np.zeros(1),
        spread=np.ones(1),
        axes=np.ones((1, 1)),
        precision=np.ones(1),
        rest=0.0,
        distances=np.array([1.0, 4.0, 9.0]),
    )
    x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    assert_allclose(unit.distance(x), [0.0, 1.0, 4.0, 9.0, 16.0])
    # (1 + rows at least as far) / (n + 1), then 2 / (n + 1) · (1 + 9) / (1 + d).
    tail = 2.0 / 4.0 * 10.0 / 17.0
    assert_allclose(unit.typicality(x), [1.0, 1.0, 0.75, 0.5, tail])


def test_without_correlations_distances_are_sums_of_squares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules[class_profile.__module__], "_MOST_CORRELATED", 2)
    weights = np.random.default_rng(1).normal(size=(40, 3)) * [1.0, 2.0, 3.0]
    profile = class_profile([weights], weights.var(axis=0), 2e-16)
    standard = (weights - weights.mean(axis=0)) / profile.spread
    assert_allclose(profile.distance(weights), (standard**2).sum(axis=1))
    assert_allclose(profile.spread, weights.std(axis=0))
    others = (40 / 39) ** 2 * np.sort((standard**2).sum(axis=1))
    assert_allclose(profile.distances, others)


def test_shrinkage_does_not_depend_on_the_unit() -> None:
    x = np.random.default_rng(2).normal(size=(30, 4)) * [1.0, 2.0, 3.0, 4.0]
    x = x - x.mean(axis=0)
    expected = shrinkage_intensity(x)
    assert 0.01 < expected < 0.9
    for unit in (1e-6, 1e-3, 1e3):
        assert shrinkage_intensity(unit * x) == pytest.approx(expected)


def test_the_spread_borrows_one_row_of_the_overall_variance() -> None:
    weights = np.random.default_rng(2).normal(size=(4, 2))
    profile = class_profile([weights], np.array([9.0, 25.0]), 2e-16)
    squares = ((weights - weights.mean(axis=0)) ** 2).sum(axis=0)
    borrowed = np.array([9.0, 25.0])
    assert_allclose(profile.spread, np.sqrt((squares + borrowed) / 5.0))


@pytest.mark.parametrize("n", [5, 8, 9, 40])
def test_distances_are_those_of_the_shrunk_correlations(n: int) -> None:
    """With fewer rows than components, some directions have no variance but the shrinkage."""
    rng = np.random.default_rng(n)
    weights = rng.normal(size=(n, 8)) @ rng.normal(size=(8, 8))
    profile = class_profile([weights], weights.var(axis=0), 2e-16)
    x = (weights - profile.mean) / profile.spread
    shrinkage = shrinkage_intensity(x)
    assert 0.01 < shrinkage < 0.99
    covariance = (1.0 - shrinkage) * x.T @ x / (n - 1) + shrinkage * np.eye(8)
    new = rng.normal(size=(20, 8))
    z = (new - profile.mean) / profile.spread
    expected = (z * np.linalg.solve(covariance, z.T).T).sum(axis=1)
    assert_allclose(profile.distance(new), expected)


def of_weights(first: Any, second: Any) -> Evidence:
    weights = np.stack([np.column_stack([first, second])] * 2, axis=-1)
    weights[..., 1] *= -1.0
    weights[:, 0] += [50.0, -50.0]  # all rows are assigned to class 0
    return Evidence.from_weights(weights)


@pytest.mark.parametrize("ties", [False, True])
def test_of_many_rows_some_distances_are_kept(ties: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks between two of them are off by at most 0.1 %, and in the tail by 1 % of their size."""
    rng = np.random.default_rng(3)
    background = rng.normal(size=(2, 30_000))
    background = background.round() if ties else background
    new = of_weights(*(2.0 * rng.normal(size=(2, 3000))))
    found = WeightProfile.fit(of_weights(*background))
    profile = found.profiles[0]
    assert profile.ranks is not None
    assert len(profile.distances) < (100 if ties else 2305)
    typicality = found.typicality(new)
    monkeypatch.setattr(sys.modules["shafer.evidence.typicality"], "_ALL_ROWS", 10**6)
    every = WeightProfile.fit(of_weights(*background))
    assert len(every.profiles[0].distances) == 30_000
    exact = every.typicality(new)
    if ties:
        np.testing.assert_array_equal(typicality, exact)
    else:
        assert (np.abs(typicality - exact) <= np.minimum(0.001, 0.01 * exact)).all()
        far = exact < 200 / 30_000
        np.testing.assert_array_equal(typicality[far], exact[far])
        assert far.sum() > 100


@pytest.mark.parametrize(
    "forged", [{"ranks": np.array([0.5, 0.5])}, {"distances": np.array([2.0, 1.0])}]
)
def test_forged_ranks(forged: dict[str, Any]) -> None:
    of_class = WeightProfile.fit(of_weights(*np.random.default_rng(0).normal(size=(2, 9))))
    given = {"distances": np.array([1.0, 2.0]), "ranks": np.array([0.9, 0.1])}
    replace(of_class.profiles[0], **given)
    with pytest.raises(ValueError, match="ranks must go down"):
        replace(of_class.profiles[0], **{**given, **forged})
