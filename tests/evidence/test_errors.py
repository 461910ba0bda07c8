"""Errors of weights, their intervals, and the words for them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm, t
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.errors import (
    ComponentSums,
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
    class_contrasts,
)
from shafer.evidence.sources import DenseWeights
from shafer.evidence.words import below_belief_words
from shafer.models import bootstrap_refits

# Every kind of errors, against the covariance of all weights of a row written out in full.


N, J, K = 5, 4, 3


@dataclass
class Case:
    """Errors, and the covariance of the weights of each row, (n, G, K, G, K)."""

    errors: WeightErrors
    covariance: Any


def _sums(groups: Any, share: float, own: bool) -> ComponentSums:
    return ComponentSums.of_groups(groups, J, share, own=own)


def linear(seed: int, groups: Any, own: bool, library: Any = np.asarray) -> Case:
    rng = np.random.default_rng(seed)
    size = (K - 1) * (J + 1)
    root = rng.normal(size=(size, size))
    covariance = (root @ root.T).reshape(K - 1, J + 1, K - 1, J + 1)
    X, centre = rng.normal(size=(N, J)), rng.normal(size=J)
    sums = _sums(groups, 0.0 if own else 1 / len(groups), own)
    factor = np.linspace(0.2, 1.5, N)
    errors = LinearErrors(library(X), centre, covariance, sums, factor)
    C, A = class_contrasts(K), sums.matrix.toarray()
    values = np.column_stack([X - centre, np.ones(N)])
    by_term = np.einsum("ka,ajbl,mb->jklm", C, covariance, C)
    full = np.einsum("gj,ij,jklm,il,hl->igkhm", A, values, by_term, values, A)
    return Case(errors, full * (factor**2)[:, None, None, None, None])


def table(seed: int, groups: Any, own: bool) -> Case:
    rng = np.random.default_rng(seed)
    lines, n_draws = 9, 6
    tables = rng.normal(size=(n_draws, lines, K))
    tables -= tables.mean(axis=2, keepdims=True)
    index = rng.integers(0, lines, size=(N, J + 1))
    shares = rng.dirichlet(np.ones(n_draws))
    factor = np.linspace(0.2, 1.5, N)
    sums = _sums(groups, 0.0, own)
    errors = TableErrors(index, tables, shares, sums, factor)
    draws = np.einsum("gj,rijk->rigk", sums.matrix.toarray(), tables[:, index])
    return Case(errors, _covariance(draws * factor[:, None, None], shares))


def sampled(seed: int, groups: Any, own: bool) -> Case:
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(7, N, len(groups) + own, K))
    errors = SampledErrors(tuple(map(DenseWeights, draws)))
    return Case(errors, _covariance(draws, np.full(7, 1 / 7)) * 7 / 6)


def _covariance(draws: Any, shares: Any) -> Any:
    """Of draws (R, n, G, K)."""
    away = draws - np.einsum("r,rigk->igk", shares, draws)
    return np.einsum("r,rigk,rihm->igkhm", shares, away, away)


SINGLE = [[j] for j in range(J)]
GROUPED = [[0, 2], [1, 3]]
KINDS: dict[str, Callable[..., Case]] = {
    "linear": linear,
    "sparse": lambda *given, **more: linear(*given, **more, library=sparse.csr_array),
    "tensor": lambda *given, **more: linear(*given, **more, library=torch.tensor),
    "table": table,
    "sampled": sampled,
}


def check(errors: WeightErrors, covariance: Any, seed: int = 0) -> None:
    """Compare standard deviations of weights, contrasts and other combinations."""
    n, n_components = covariance.shape[:2]
    assert errors.shape == (n, n_components, K)
    asked = np.vstack([np.eye(K), [1, -1, 0], np.random.default_rng(seed).normal(size=K)])
    squared = np.einsum("mk,igkgl,ml->igm", asked, covariance, asked)
    np.testing.assert_allclose(errors.std_of(asked), np.sqrt(squared), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("groups", [SINGLE, GROUPED])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_against_the_full_covariance(kind: str, groups: Any, own: bool) -> None:
    case = KINDS[kind](0, groups, own)
    errors, full = case.errors, case.covariance
    check(errors, full)
    rows = [4, 0, 0, 2]
    check(errors.rows(rows), full[rows])
    check(errors.keep([1]), full[:, [1]][:, :, :, [1]])
    check(errors.keep([1, 0]), full[:, [1, 0]][:, :, :, [1, 0]])
    everything = list(range(full.shape[1]))
    joined = errors.grouped([everything])
    check(joined, full.sum(axis=(1, 3))[:, None, :, None, :])
    first, rest = [0], everything[1:]
    parts = [full[:, a][:, :, :, b].sum(axis=(1, 3)) for a in (rest, first) for b in (rest, first)]
    twice = np.stack(parts, axis=1).reshape(N, 2, 2, K, K).transpose(0, 1, 3, 2, 4)
    check(errors.grouped([rest, first]), twice)
    check(errors.grouped([rest, first]).grouped([[0, 1]]), full.sum(axis=(1, 3))[:, None, :, None])
    check(errors.scaled(0.3), full * 0.09)
    factors = np.array([0.0, 1.0, 0.5, 2.0, 1.0])
    check(errors.scaled(factors), full * (factors**2)[:, None, None, None, None])
    check(
        errors.scaled(factors).rows(rows).keep([1]),
        (full * (factors**2)[:, None, None, None, None])[rows][:, [1]][:, :, :, [1]],
    )


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(KINDS)), own=st.booleans())
@settings(max_examples=60, deadline=None)
def test_random_errors(seed: int, kind: str, own: bool) -> None:
    case = KINDS[kind](seed, GROUPED if seed % 2 else SINGLE, own)
    check(case.errors, case.covariance, seed)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_rows(kind: str) -> None:
    errors = KINDS[kind](0, SINGLE, own=False).errors.rows([])
    assert errors.shape == (0, J, K)
    assert errors.std_of(np.eye(K)).shape == (0, J, K)


@pytest.mark.parametrize("kind", ["table", "sampled"])
def test_few_draws_have_students_quantiles(kind: str) -> None:
    draws = {"table": 6, "sampled": 7}[kind]
    assert KINDS[kind](0, SINGLE, own=False).errors.degrees_of_freedom == draws - 1
    assert linear(0, SINGLE, own=False).errors.degrees_of_freedom == np.inf


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_features_of_any_size(size: float) -> None:
    """Squares of the features would overflow or vanish."""
    errors = linear(0, SINGLE, own=True).errors
    assert isinstance(errors, LinearErrors)
    features = errors.features - errors.centre
    far = LinearErrors(
        features * size, errors.centre * 0, errors.covariance, errors.sums, errors.factor
    )
    near = errors.std_of(np.eye(K))[:, :-1]
    np.testing.assert_allclose(far.std_of(np.eye(K))[:, :-1], near * size, rtol=1e-10)


def test_rounding_does_not_make_a_variance_negative() -> None:
    """A singular covariance: in one direction nothing is uncertain."""
    along = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    covariance = np.zeros((K - 1, J + 1, K - 1, J + 1))
    covariance[0, :, 0, :] = np.outer(along, along) * (1 / 3)
    sums = ComponentSums.of_groups([[0, 1], [2], [3]], J)
    X = np.full((3, J), [[0.1], [0.7], [1e8]])
    errors = LinearErrors(X, np.zeros(J), covariance, sums, np.ones(3))
    std = errors.std_of(np.eye(K))
    assert np.isfinite(std).all()
    assert std[:2, 0].max() < 1e-8


@pytest.mark.parametrize("n", [3, 5000])
def test_blocks_of_rows_agree(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from shafer.evidence import errors as weight_errors

    rows = np.arange(n) % N
    cases = [KINDS[kind](1, GROUPED, own=False).errors.rows(rows) for kind in sorted(KINDS)]
    whole = [errors.std_of(np.eye(K)) for errors in cases]
    monkeypatch.setattr(weight_errors, "_BLOCK", 100)
    for errors, expected in zip(cases, whole, strict=True):
        np.testing.assert_allclose(errors.std_of(np.eye(K)), expected, rtol=1e-12)


def test_evidence_carries_them_through_everything() -> None:
    """Grouped, without, tempered, rows: as the weights, so the errors."""
    case = linear(3, SINGLE, own=False)
    pool = shafer.least_commitment(np.ones((K, J)), np.zeros(K), names=list("abcd"))
    ev = pool(np.random.default_rng(0).normal(size=(N, J)))
    ev = shafer.Evidence.from_source(ev.source, ev.classes, ev.component_names, errors=case.errors)
    np.testing.assert_allclose(ev[[3, 1]].weights_std, ev.weights_std[[3, 1]])
    np.testing.assert_allclose(ev.without(["b"]).weights_std, ev.weights_std[:, [0, 2, 3]])
    np.testing.assert_allclose(ev.tempered(0.5).weights_std, ev.weights_std / 2)
    by_row = np.linspace(0, 1, N)
    np.testing.assert_allclose(
        ev.tempered(by_row).weights_std, ev.weights_std * by_row[:, None, None]
    )
    np.testing.assert_allclose(
        ev.grouped({"ab": ["a", "b"]}).weights_std[:, 1:], ev.weights_std[:, 2:]
    )
    assert ev.with_index(range(N)).errors is case.errors
    assert ev.discounted(0.5).evidence.errors is case.errors
    assert ev.components.errors is None


# Intervals in the user's words, on evidence of models.


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
            with pytest.raises(ValueError, match=r"errors='sandwich'.*'bags'.*'bootstrap'"):
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
    with pytest.raises(ValueError, match="over must be one class label"):
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
    table = ev.reasons(class_="virginica", top=4, units="weight")
    lower, upper = ev.weight_interval(0.9)
    place = [ev.component_names.index(name) for name in table["component"]]
    np.testing.assert_allclose(table["lower"], lower[table["row"], place, 2])
    np.testing.assert_allclose(table["upper"], upper[table["row"], place, 2])
    clear = ev.reasons(class_="virginica", top=4, keep="clear", units="weight")
    assert (
        0 < len(clear) < len(ev.reasons(class_="virginica", top=4, keep="positive", units="weight"))
    )
    assert clear["lower"].min() > 0
    assert len(clear) == int((lower[:, :-1, 2] > 0).sum())
    over = ev.reasons(class_="virginica", over="versicolor", top=4)
    low, _ = ev.contrast_interval("virginica", "versicolor", 0.9)
    place = [ev.component_names.index(name) for name in over["component"]]
    np.testing.assert_allclose(over["lower"], low[over["row"], place])
    assert "lower" not in shafer.Explainer(MODEL, X)(X).reasons().columns


# Interval words.


def test_words() -> None:
    """m({1}) = m({2, 3}) = 1/2: all plausibilities are 1/2, so p = 1/3 and the belief is 1/2."""
    words = below_belief_words(1 / 3, 1 / 2)
    assert words.startswith("p is 0.167 below the belief: ")
    assert below_belief_words(0.5, 0.5 + 4e-4).startswith("p is less than 0.001 below the belief")
    assert below_belief_words(0.5, 0.5 + 6e-4).startswith("p is 0.001 below the belief")
    for belief in (0.5, 0.5 + 1e-12, 0.4, 0.0):
        assert below_belief_words(0.5, belief) == ""


@given(
    n_classes=st.integers(2, 8),
    scale=st.sampled_from([1e-6, 0.1, 1.0, 10.0, 1e3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_probability_is_never_above_its_plausibility(
    n_classes: int, scale: float, seed: int
) -> None:
    """So the words need one direction only; and none for two classes."""
    weights = np.random.default_rng(seed).normal(size=(20, 4, n_classes)) * scale
    weights -= weights.mean(axis=2, keepdims=True)
    ev = shafer.Evidence.from_weights(weights)
    assert np.all(ev.probability <= ev.plausibility + 1e-12)
    if n_classes == 2:
        assert np.all(ev.belief <= ev.probability + 1e-12)
    below = [bool(below_belief_words(float(p), float(b)))
             for p, b in zip(ev.probability.ravel(), ev.belief.ravel(), strict=True)]  # fmt: skip
    assert below == (ev.belief - ev.probability > 1e-9).ravel().tolist()


def test_the_explanation_is_the_difference() -> None:
    """With mass on several classes counted once, by pignistic shares, no probability is below."""
    weights = np.random.default_rng(0).normal(size=(200, 4, 5))
    weights -= weights.mean(axis=2, keepdims=True)
    ev = shafer.Evidence.from_weights(weights)
    assert np.any(ev.probability < ev.belief - 1e-3)
    assert np.all(ev.pignistic >= ev.belief - 1e-12)
    sizes = np.array([bin(column).count("1") for column in range(2**5)])
    counted = ev.masses() @ sizes  # each set once for each of its classes
    np.testing.assert_allclose(ev.plausibility / counted[:, None], ev.probability, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_notebooks_say_why(n_classes: int) -> None:
    weights = np.zeros((1, 2, n_classes))
    weights[0, 0] = -2.0
    weights[0, 0, 0] = 2.0 * (n_classes - 1)
    weights[0, 1] = -weights[0, 0] * 0.9
    ev = shafer.Evidence.from_weights(weights)
    outside = bool(np.any(ev.belief - ev.probability > 1e-9))
    assert outside == (n_classes == 3)
    assert ("below the belief" in ev.discounted(1.0)._repr_html_()) == outside
